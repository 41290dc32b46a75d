"""What llm.c's ``test_gpt2`` prints, from tensors that were handed back; the judging side's, torch-free.

The limits printed against are the handout's: 1e-2 on logits and losses, 2e-2 on each gradient element.
NaN is not within them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grader.cases import NUMBERS, Array

Tensors = Mapping[str, Array]

LOSS_LIMIT = 1e-2
GRADIENT_LIMIT = 2e-2
SHOWN = 5
ORDER = [
    "dwte",
    "dwpe",
    "dln1w",
    "dln1b",
    "dqkvw",
    "dqkvb",
    "dattprojw",
    "dattprojb",
    "dln2w",
    "dln2b",
    "dfcw",
    "dfcb",
    "dfcprojw",
    "dfcprojb",
    "dlnfw",
    "dlnfb",
]


def _head(params: Mapping[str, int | float], parameters: int) -> list[str]:
    names = {
        "max_seq_len": "maxT",
        "vocab_size": "V",
        "padded_vocab_size": "Vp",
        "num_layers": "L",
        "num_heads": "NH",
        "channels": "C",
    }
    lines = ["[GPT-2]", *(f"{name}: {int(params[key])}" for name, key in names.items())]
    return [
        *lines,
        f"num_parameters: {parameters}",
        "[State]",
        f"batch_size: {int(params['B'])}",
        f"seq_len: {int(params['T'])}",
    ]


def _fits(got: Array | None, expected: Array) -> bool:
    """Whether numbers of that shape were handed back: it may be of any shape and type."""
    return got is not None and got.shape == expected.shape and got.dtype.kind in NUMBERS


def _logits(got: Array | None, expected: Array, padded: int) -> tuple[list[str], bool]:
    if got is None or not _fits(got, expected):
        return ["NOT OK (LOGITS), max_diff = nan"], False
    mine, right = got.astype(np.float64).reshape(-1), expected.astype(np.float64).reshape(-1)
    vocabulary = expected.shape[-1]
    first = [i for i in range(min(right.size, 10)) if i // vocabulary * padded + i % vocabulary < 10]
    lines = [f"{right[i]:.6f}, {mine[i]:.6f}" for i in first]
    difference = np.abs(right - mine)
    within = difference < LOSS_LIMIT
    ok = bool(within.all())
    if not ok:
        index = int(np.argmax(~within))
        lines.append(f"MISMATCH AT INDEX {index // vocabulary},{index % vocabulary}: {right[index]:f} {mine[index]:f}")
    return [*lines, f"{'' if ok else 'NOT '}OK (LOGITS), max_diff = {difference.max():e}"], ok


def _tensor(name: str, got: Array | None, expected: Array) -> tuple[list[str], bool]:
    if got is None or not _fits(got, expected):
        return [name, "TENSOR NOT OK, maxdiff = nan"], False
    mine, right = got.astype(np.float64).reshape(-1), expected.astype(np.float64).reshape(-1)
    difference = np.abs(mine - right)
    within = difference <= GRADIENT_LIMIT
    lines = [f"{'OK' if within[i] else 'NOT OK'} {mine[i]:f} {right[i]:f}" for i in range(min(SHOWN, mine.size))]
    ok = bool(within.all())
    return [name, *lines, f"TENSOR {'OK' if ok else 'NOT OK'}, maxdiff = {difference.max():e}"], ok


def _loss(got: Tensors, expected: Tensors) -> tuple[list[str], bool]:
    right = float(expected["loss"].reshape(-1)[0])
    mine = float(got["loss"].reshape(-1)[0]) if _fits(got["loss"], expected["loss"]) else float("nan")
    ok = abs(mine - right) < LOSS_LIMIT
    return [f"LOSS {'OK' if ok else 'MISMATCH'}: {mine:f} {right:f}"], ok


def _steps(got: Array | None, expected: Array) -> tuple[list[str], bool]:
    losses = np.array([]) if got is None or got.dtype.kind not in NUMBERS else got.astype(np.float64).reshape(-1)
    lines, good = [], losses.size == expected.size
    for step, (mine, right) in enumerate(zip(losses, expected.reshape(-1), strict=False)):
        ok = bool(abs(float(right) - mine) < LOSS_LIMIT)
        good = good and ok
        lines.append(f"step {step}: loss {mine:f} OK = {int(ok)}")
    return lines, good


def render(params: Mapping[str, int | float], got: Tensors, expected: Tensors) -> str:
    """The transcript.

    Args:
        params: the case's scalars (V, Vp, maxT, L, NH, C, B, T).
        got: ``logits`` [B, T, V], ``loss`` [1], ``losses`` [10] and the gradients that were handed back.
        expected: the same, as they should be.

    Returns:
        The lines of ``test_gpt2``, times left out: they differ from run to run.
    """
    parts = [_logits(got.get("logits"), expected["logits"], int(params["Vp"]))]
    if "loss" in got:
        parts.append(_loss(got, expected))
    parts += [_tensor(name, got.get(name), expected[name]) for name in ORDER]
    parts.append(_steps(got.get("losses"), expected["losses"]))
    lines = _head(params, sum(int(expected[name].size) for name in ORDER))
    for text, _ in parts:
        lines += text
    okay = all(ok for _, ok in parts) and "loss" in got
    return "\n".join([*lines, f"overall okay: {int(okay)}"]) + "\n"
