"""Calls a student's functions in the execution model, a process for each case, and hands back what is seen."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from assignments.common.probe_io import Job, Report, Tensor, in_own_process, read_tensors, write_tensors
from assignments.HW2.kernels.build import FUNCTIONS, PROGRAM, SOURCE

FLOATS, INTS, FLOAT, INT = range(4)
WALL_FOR_CPU = 10.0  # a machine that does other things, too: seconds on the clock for one of the processor's
MOST_BYTES = 256 << 10  # of findings that are read
ENDED = {0: "ok", 75: "ok", 76: "ok", 124: "timed_out"}  # 75: the model has told why it could not go on
_HEX = re.compile(r"^0x[0-9a-f]+$")

Found = dict[str, Any]


def packed(tensors: dict[str, Tensor]) -> bytes:
    """The calls as the program reads them; see ``main.cpp``. Names are
    ``<call>.<function>.<position>.<kind>.<name>``, of kind ``array`` or ``scalar``."""
    blob = b""
    for (_, function), names in groupby(sorted(tensors), key=lambda name: tuple(name.split(".")[:2])):
        arguments = [_argument(name, tensors[name]) for name in names]
        blob += struct.pack("<ii", FUNCTIONS.index(function), len(arguments)) + b"".join(arguments)
    return blob


def _argument(key: str, tensor: Tensor) -> bytes:
    *_, kind, name = key.split(".")
    real, text = tensor.dtype == "F32", name.encode()
    number = (FLOATS if real else INTS) if kind == "array" else (FLOAT if real else INT)
    return struct.pack("<iii", number, tensor.count, len(text)) + text + bytes(tensor.data)


def probe_kernels(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """Makes a case's calls; the tensors are the arrays that were written, by call."""
    tensors = read_tensors(case["inputs"])
    base = os.path.splitext(case["out"])[0]
    calls, findings, output = (f"{base}.{kind}" for kind in ("calls", "findings", "output"))
    with open(calls, "wb") as file:
        file.write(packed(tensors))
    seconds = float(job.limits["case_s"])
    command = [os.path.join(job.build, PROGRAM), calls, findings, output, f"{seconds:g}"]

    def work(report: Report) -> None:
        report.send(returned=subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode)

    ending = in_own_process(work, seconds * WALL_FOR_CPU)
    found = placed(_read(findings), command[0])
    status, code = ending.status, ending.merged().get("returned")
    if ending.status == "ok" and isinstance(code, int):
        status = "crashed" if code < 0 else ENDED.get(code, "exited")
        code = -code if code < 0 else code
    _hand_back(case["out"], output, tensors)
    for path in (calls, findings, output):
        if os.path.lexists(path):
            os.remove(path)
    return {"status": status, "code": code, "findings": found}


def _hand_back(target: str, output: str, tensors: dict[str, Tensor]) -> None:
    """The arrays that the program wrote, as far as it came."""
    written: dict[str, Tensor] = {}
    with open(output, "rb") if os.path.isfile(output) else open(os.devnull, "rb") as file:
        for name in sorted(tensors):
            call, _, position, *_ = name.split(".")
            if int(position) == 0:
                data = file.read(4 * tensors[name].count)
                if len(data) < 4 * tensors[name].count:
                    break
                written[call] = Tensor("F32", [tensors[name].count], data)
    write_tensors(target, written)


def _read(path: str) -> list[Found]:
    found: list[Found] = []
    try:
        with open(path, "rb") as file:
            lines = file.read(MOST_BYTES).splitlines()
    except OSError:
        return found
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            found.append(entry)
    return found


def placed(found: list[Found], program: str) -> list[Found]:
    """The findings with the lines of the student's file in place of addresses of the program."""
    # the address that a call returns to belongs to what follows it
    wanted = {int(f[key]) - 1 for f in found for key in ("pc", "other_pc") if isinstance(f.get(key), int)}
    lines = _lines(program, sorted(wanted))
    for finding in found:
        for key, line in (("pc", "line"), ("other_pc", "other_line")):
            pc = finding.pop(key, None)
            if isinstance(pc, int) and pc - 1 in lines:
                finding[line] = lines[pc - 1]
    return found


def _lines(program: str, addresses: list[int]) -> dict[int, int]:
    """The line of the student's file that an instruction belongs to, by address."""
    tool = shutil.which("addr2line")
    if tool is None or not addresses:
        return {}
    command = [tool, "-e", program, "-a", "-i", *(f"{address:#x}" for address in addresses)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return dict(_in_the_file(done.stdout.splitlines()))


def _in_the_file(lines: Iterable[str]) -> Iterable[tuple[int, int]]:
    """Of each address the innermost line that is the student's: what is called from there may be ours."""
    address, known = 0, True
    for line in lines:
        if _HEX.match(line):
            address, known = int(line, 16), False
        elif not known and (match := re.search(rf"{re.escape(SOURCE)}:(\d+)", line)):
            known = True
            yield address, int(match[1])
