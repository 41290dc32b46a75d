"""What is made wrong in ``encoder_backward``."""

from __future__ import annotations

import numpy as np

from grader.cases import Case
from grader.faults import Switches, family
from reference.A2.faults.arrays import ADDS, Float, Given, Int, Outputs


def encoder_backward(case: Case, on: Switches) -> Outputs:
    """dwte [V, C] and dwpe [maxT, C]; with no switch turned they are right."""
    x = Given(case)
    tokens = x.ints("inp")  # [B, T]
    positions = np.broadcast_to(np.arange(tokens.shape[1]), tokens.shape)
    own = tokens[:1].repeat(len(tokens), 0) if "token-of-first-row" in on else tokens
    dwte = _rows(x, on, "dwte", positions if "dwte-by-position" in on else own)
    sequences = np.broadcast_to(np.arange(len(tokens))[:, None], tokens.shape)
    places = tokens if "dwpe-by-token" in on else sequences if "dwpe-by-sequence" in on else positions
    dwpe = _rows(x, on, "dwpe", places)
    return {"dwte": dwte, "dwpe": dwpe}


def _rows(x: Given, on: Switches, name: str, rows: Int) -> Float:
    """The gradient buffer ``name`` after dout [B, T, C] has gone to these rows [B, T] of it."""
    buffer: Float = getattr(x, name)
    if f"{name}-missing" in on:
        return buffer
    B, T, C = x("B", "T", "C")
    bt = np.arange(B * T - 1 if "last-position-left-out" in on else B * T)
    bt = bt[bt < T] if f"{name}-of-one-b" in on else bt
    at, dout = rows.reshape(-1)[bt], x.dout.reshape(-1, C)[bt]
    if f"{name}-averaged" in on:
        dout = dout / B
    if f"{name}-assigned" in on:
        buffer[at] = dout  # of several to one row, the last stays
    else:
        np.add.at(buffer, at, dout)
    return buffer


FAULTS = family(
    "encoder_backward",
    "encoder_backward",
    "encoder",
    encoder_backward,
    {
        "dwte-assigned": ("dwte is set (`=`) where it should be added to (`+=`)", ADDS),
        "dwpe-assigned": ("dwpe is set (`=`) where it should be added to (`+=`)", ADDS),
        "dwpe-by-token": (
            "the row of dwpe is chosen by the token in place of the position",
            "which of the two tables does encoder_forward index by what?",
        ),
        "dwpe-by-sequence": (
            "the row of dwpe is chosen by b, the sequence's place in the batch, in place of the position",
            "a position counts from the start of its own sequence",
        ),
        "dwte-by-position": (
            "the row of dwte is chosen by the position in place of the token",
            "which of the two tables does encoder_forward index by what?",
        ),
        "dwpe-of-one-b": (
            "dwpe gets the gradients of the first sequence of the batch alone",
            "every sequence of the batch uses the same positions",
        ),
        "dwte-of-one-b": (
            "dwte gets the gradients of the first sequence of the batch alone",
            "how far does the loop over b go?",
        ),
        "dwpe-averaged": (
            "dwpe gets the mean over the batch in place of the sum",
            "what is used several times gets the sum of the gradients of its uses",
        ),
        "dwte-averaged": (
            "what is added to dwte is divided by B",
            "what is used several times gets the sum of the gradients of its uses",
        ),
        "dwte-missing": ("nothing is added to dwte", "out is a sum of two terms: each gets the gradient"),
        "dwpe-missing": ("nothing is added to dwpe", "out is a sum of two terms: each gets the gradient"),
        "token-of-first-row": (
            "the tokens of the first sequence are taken for those of every sequence",
            "inp has a row for each b: does its index have a b in it?",
        ),
        "last-position-left-out": (
            "the loop over the positions ends one early: the last position of the last sequence is left out",
            "compare the bound of the loop with that of encoder_forward",
        ),
    },
)
