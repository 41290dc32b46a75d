"""Probes of the functions that need a whole model: zeroing, backward, update, ten steps."""

from __future__ import annotations

import ctypes
import math
import os
from array import array
from collections.abc import Iterable
from typing import Any

from assignments.A2.native.buffers import Fault, GuardedBuffer, Region, marked
from assignments.A2.native.calls import named_calls
from assignments.A2.native.library import undefined_called
from assignments.A2.native.model import (
    ACTIVATION_GRADIENTS,
    FIRST_MOMENT,
    GRADIENTS,
    PARAMETERS,
    SECOND_MOMENT,
    Model,
)
from assignments.A2.native.names import OPERATORS
from assignments.common.probe_io import (
    ITEM_SIZE,
    Ending,
    Job,
    Report,
    Tensor,
    append_line,
    floats,
    in_own_process,
    write_tensors,
)

ZEROED = {"grads": GRADIENTS, "grads_acts": ACTIVATION_GRADIENTS}
ONE, ZERO = b"\x00\x00\x80?", bytes(4)  # as float32; gradient buffers hold ones before they are zeroed


def _status(ending: Ending) -> dict[str, Any]:
    merged = ending.merged()
    regions = [Region(*region) for region in merged.get("regions", [])]
    status = {**merged, "status": ending.status, "code": ending.code}
    fault = Fault.from_report(merged)
    if fault is not None:
        nearest = sorted(regions, key=lambda region: abs(fault.address - region.end))
        described = (region.describe(fault.address) for region in nearest)
        status["detail"] = fault.sentence(next((text for text in described if text), None))
    if "stage" in merged and ending.status != "ok":
        status["detail"] = f"in {merged['stage']}: {status.get('detail', _ended(ending))}"
    return status


def _ended(ending: Ending) -> str:
    if (told := undefined_called(ending)) is not None:
        return told
    if ending.status == "exited":
        return f"the program stopped with exit code {ending.code}"
    return "it did not end in time" if ending.status == "timed_out" else f"signal {ending.code}"


# -- gpt2_zero_grad ---------------------------------------------------------------------------------------


def probe_zero_grad(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """``gpt2_zero_grad`` before allocation (it must come back) and over both buffers to their ends."""
    if case["id"].endswith("/unallocated"):
        return _zero_unallocated(job, case)

    def work(report: Report) -> None:
        model = Model(job, case, report)
        model.forward()
        buffers = [_prefilled(model, name, group) for name, group in ZEROED.items()]
        report.send(stage="gpt2_zero_grad", regions=[buffer.region for buffer in buffers])
        with marked(buffers):
            model.zero_grad()
        report.send(untouched=not any(b.changed() for b in buffers))
        write_tensors(case["out"], {b.name: _head(b, model.count(ZEROED[b.name])) for b in buffers})

    return _status(in_own_process(work, job.limits["case_s"]))


def _prefilled(model: Model, name: str, group: int, value: bytes = ONE) -> GuardedBuffer:
    """A gradient buffer full of a value, given to the model."""
    count = model.own_count(group)
    buffer = GuardedBuffer(name, Tensor("F32", [count], value * count))
    _set_gradients(model, group, buffer.address)
    return buffer


def _set_gradients(model: Model, group: int, address: int) -> None:
    sizes = [math.prod(shape) for shape in model.shapes[group].values()]
    array = (ctypes.c_size_t * len(sizes))(*sizes)
    model.library.tg_set_gradients(model.pointer, group, address, array, len(sizes))


def _head(buffer: GuardedBuffer, count: int) -> Tensor:
    """The first elements: those that the interface has."""
    return Tensor("F32", [count], buffer.data()[: 4 * count])


def _zero_unallocated(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    def work(report: Report) -> None:
        model = Model(job, case, report)
        report.send(stage="gpt2_zero_grad before the gradients are allocated")
        model.zero_grad()
        model.forward()  # from here on the activations have a size, their gradients no memory
        model.zero_grad()
        report.send(untouched=True)

    status = _status(in_own_process(work, job.limits["case_s"]))
    if status["status"] == "ok":
        write_tensors(case["out"], {"survived": floats([1.0])})
    return status


# -- gpt2_backward ----------------------------------------------------------------------------------------


def probe_wiring(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """``gpt2_backward`` over our operators, with the record of the calls that it makes."""

    def work(report: Report) -> None:
        operators, model = _forward_over_ours(job, case, report)
        report.send(stage="gpt2_backward")
        ctypes.c_int.in_dll(operators, "tg_recording").value = 1
        signal = model.library.tg_guarded_backward(model.pointer)
        report.send(calls=named_calls(operators, model), signal=signal)
        if signal:
            os._exit(71)
        _hand_back_gradients(case, model, report)

    status = _status(in_own_process(work, job.limits["case_s"]))
    if status.get("signal"):
        status.update(status="crashed", code=status["signal"])
    return {**status, **_beyond_the_gradients(job, case)} if status["status"] == "ok" else status


def _forward_over_ours(job: Job, case: dict[str, Any], report: Report) -> tuple[ctypes.CDLL, Model]:
    """Our operators, in the place of the student's from now on, and a model after its forward pass."""
    operators = ctypes.CDLL(os.path.join(job.support["operators"], OPERATORS), mode=ctypes.RTLD_GLOBAL)
    model = Model(job, case, report)
    clear = ctypes.c_void_p.in_dll(operators, "tg_clear")
    clear.value = ctypes.cast(model.library.tg_clear_gradients, ctypes.c_void_p).value
    report.send(stage="gpt2_forward")
    model.forward()
    return operators, model


def _beyond_the_gradients(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """The status of a ``gpt2_backward`` that has an operator go beyond the gradients' buffers; empty if it does not.

    Called on buffers that we allocate, each before a guard page: sizes that are too large show there, while the
    student's own buffers may lie next to memory of which nothing is seen. Whatever else befalls it there, such as
    a buffer that it would rather have allocated itself, does not count.
    """

    def work(report: Report) -> None:
        _, model = _forward_over_ours(job, case, report)
        buffers = [_prefilled(model, name, group, ZERO) for name, group in ZEROED.items()]
        report.send(stage="gpt2_backward", regions=[buffer.region for buffer in buffers])
        with marked(buffers):
            model.backward()

    ending = in_own_process(work, job.limits["case_s"])
    status, fault = _status(ending), Fault.from_report(ending.merged())
    regions = [Region(*region) for region in status.get("regions", [])]
    seen = fault is not None and any(region.describe(fault.address) for region in regions)
    return status if seen else {}


def _hand_back_gradients(case: dict[str, Any], model: Model, report: Report) -> None:
    report.send(untouched=model.memory(GRADIENTS) is None)
    write_tensors(case["out"], {**model.gradients(), "loss": floats([model.loss]), "logits": model.logits()})


def probe_adds(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """``gpt2_backward`` a second time, on buffers of which some hold what the first time left in them, the others zero.

    For an operator that cannot be called alone: in a first pass all buffers are zero, and setting them is as good as
    adding to them. ``holds`` names its results. Of those with layers, the first layer's alone hold something: the pass
    comes to it last, so that nothing else is changed by it. A tensor of ``times`` is then so many times what it was,
    and is handed back divided by that: what is right of one pass is right of it. Beside these, what the buffers hold:
    ``first`` and, in the end, ``again``.
    """

    def work(report: Report) -> None:
        _, model = _forward_over_ours(job, case, report)
        report.send(stage="gpt2_backward")
        model.backward()
        held = [(place, ctypes.string_at(*place)) for place in map(model.first_layer, job.options["holds"].split())]
        model.library.tg_clear_gradients(model.pointer)
        for (address, size), data in held:
            ctypes.memmove(address, data, size)
        report.send(stage="gpt2_backward, called again")
        model.backward()
        found, times = model.gradients(), job.options["times"].split()
        tensors = {
            name: _divided(found[name], model.first_layer(f"grads.{name[1:]}")[1], float(by))
            for name, by in zip(times[::2], times[1::2], strict=True)
        }
        tensors["first"] = _floats(data for _, data in held)
        tensors["again"] = _floats(ctypes.string_at(*place) for place, _ in held)
        write_tensors(case["out"], tensors)

    return _status(in_own_process(work, job.limits["case_s"]))


def _floats(pieces: Iterable[bytes]) -> Tensor:
    """One tensor of pieces of memory, one behind the other."""
    data = b"".join(pieces)
    return Tensor("F32", [len(data) // ITEM_SIZE["F32"]], data)


def _divided(tensor: Tensor, size: int, by: float) -> Tensor:
    """The tensor with its first bytes, so many of them, divided as float32."""
    values = array("f", bytes(tensor.data))
    for i in range(size // values.itemsize):
        values[i] /= by
    return Tensor(tensor.dtype, tensor.shape, values.tobytes())


def probe_no_targets(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """``gpt2_backward`` after a forward pass without targets: it must stop with an error."""

    def work(report: Report) -> None:
        model = Model(job, case, report)
        model.forward(targets=False)
        report.send(stage="gpt2_backward without targets")
        model.backward()
        report.send(untouched=model.memory(GRADIENTS) is None)

    ending = in_own_process(work, job.limits["case_s"])
    status = _status(ending)
    stopped = ending.status == "exited" and ending.code != 0
    if stopped and ending.merged().get("stage"):
        status.update(status="ok", untouched=False)
    if status["status"] == "ok":
        write_tensors(case["out"], {"stopped": floats([1.0 if stopped else 0.0])})
    return status


# -- gpt2_update ------------------------------------------------------------------------------------------


def probe_update(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """``gpt2_update`` alone, on gradients that we set: parameters, m and v after every step."""

    def work(report: Report) -> None:
        model = Model(job, case, report)
        count = model.count(GRADIENTS)
        grads = bytes(model.tensors["grads"].data)
        steps = len(grads) // (4 * count)
        own = model.own_count(GRADIENTS)
        buffer = GuardedBuffer("grads", Tensor("F32", [own], bytes(4 * own)))
        _set_gradients(model, GRADIENTS, buffer.address)
        kept: dict[str, list[bytes]] = {"params": [], "m": [], "v": []}
        report.send(stage="gpt2_update", regions=[buffer.region])
        for step in range(steps):
            ctypes.memmove(buffer.address, grads[4 * count * step : 4 * count * (step + 1)], 4 * count)
            with marked([buffer]):
                model.update(step + 1)
            _keep(model, kept, count)
        untouched = all(piece == bytes(model.tensors["params"].data) for piece in kept["params"])
        report.send(untouched=untouched and not kept["m"] and not kept["v"])
        found = {name: b"".join(pieces) for name, pieces in kept.items() if len(pieces) == steps}
        write_tensors(case["out"], {n: Tensor("F32", [steps, count], data) for n, data in found.items()})

    return _status(in_own_process(work, job.limits["case_s"]))


def _keep(model: Model, kept: dict[str, list[bytes]], count: int) -> None:
    for name, group in (("params", PARAMETERS), ("m", FIRST_MOMENT), ("v", SECOND_MOMENT)):
        address = model.memory(group)
        if address is not None:
            kept[name].append(bytes(model.view(address, [count]).data))


# -- the whole program ------------------------------------------------------------------------------------


def probe_ten_steps(job: Job, case: dict[str, Any]) -> dict[str, Any]:
    """Ten steps of the student's program, nothing interposed: losses, first logits and gradients."""

    def work(report: Report) -> None:
        report.send(stage="gpt2_build_from_checkpoint")
        model = Model(job, case, report)
        losses: list[float] = []
        tensors: dict[str, Tensor] = {}
        for step in range(int(model.params["steps"])):
            _one_step(model, report, step, tensors)
            losses.append(model.loss)
            append_line(os.path.join(job.out, "progress.jsonl"), {"step": step + 1})
            if model.memory(GRADIENTS) is None:
                report.send(untouched=True)
                break
        tensors["losses"] = floats(losses)
        write_tensors(case["out"], tensors)

    return _status(in_own_process(work, job.limits["case_s"]))


def _one_step(model: Model, report: Report, step: int, tensors: dict[str, Tensor]) -> None:
    for stage, run in (("gpt2_forward", model.forward), ("gpt2_zero_grad", model.zero_grad)):
        report.send(stage=f"{stage} (step {step})")
        run()
    report.send(stage=f"gpt2_backward (step {step})")
    model.backward()
    if step == 0:
        found = {n: Tensor(t.dtype, t.shape, bytes(t.data)) for n, t in model.gradients().items()}
        tensors.update({**found, "loss": floats([model.loss]), "logits": model.logits()})
    if model.memory(GRADIENTS) is None:
        return
    report.send(stage=f"gpt2_update (step {step})")
    model.update(step + 1)
