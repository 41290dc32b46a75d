"""What is made wrong in ``attention_backward``; the sentences stand in ``attention_known``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from grader.cases import Case
from grader.faults import Switches, family
from reference.A2.faults.arrays import Float, Given, Int, Outputs
from reference.A2.faults.attention_known import KNOWN, RARE

Mask = NDArray[np.bool_]
PARTS = ("q", "k", "v")


def attention_backward(case: Case, on: Switches) -> Outputs:
    """dinp [B, T, 3C], dpreatt and datt [B, NH, T, T]; with no switch turned they are right.

    The stages are those of C: each passes on the total of its buffer.
    """
    return _Attention(Given(case), on).outputs()


@cache
def _lower(T: int, diagonal: int = 0) -> Mask:
    """The causal mask [T, T]."""
    return np.tril(np.ones((T, T), dtype=bool), diagonal)


class _Attention:
    """The buffers, and where in them the parts lie. Tensors of some sequences are [S, NH, T, …]."""

    def __init__(self, x: Given, on: Switches) -> None:
        self.on = on
        self.B, self.T, self.C, self.NH = x("B", "T", "C", "NH")
        self.HS = self.C // self.NH
        self.inp, self.dout, self.att = x.inp.reshape(-1), x.dout, x.att
        self.dinp, self.dpreatt, self.datt = x.dinp.reshape(-1), x.dpreatt, x.datt
        if "dinp-overwritten" in on:
            self.dinp[:] = 0.0

    def outputs(self) -> Outputs:
        if "first-b-only" in self.on:
            for b in range(self.B):
                self._sequences(np.array([b]), np.array([0]))
        else:
            self._sequences(np.arange(self.B), np.arange(self.B))
        shape = (self.B, self.T, 3 * self.C)
        return {"dinp": self.dinp.reshape(shape), "dpreatt": self.dpreatt, "datt": self.datt}

    # -- where things lie ---------------------------------------------------------------------------------

    def _at(self, b: Int, part: str, read: bool) -> Int:
        """The flat indices [S, NH, T, HS] of Q, K or V in inp (``read``) or of their gradients in dinp."""
        stride = self.NH if "head-stride" in self.on else self.HS
        row = (b[:, None] * self.T + np.arange(self.T)) * 3 * self.C
        head = PARTS.index(self._slot(part, read)) * self.C + np.arange(self.NH) * stride
        flat = row[:, None, :, None] + head[:, None, None] + np.arange(self.HS)
        return np.asarray(np.minimum(flat, self.inp.size - 1), dtype=np.int64)

    def _slot(self, part: str, read: bool) -> str:
        """Which third is taken for ``part``."""
        d = "" if read else "d"
        for first, second in (("q", "k"), ("k", "v"), ("q", "v")):
            if f"{d}{first}-and-{d}{second}-swapped" in self.on and part in (first, second):
                return second if part == first else first
        return part

    def _mask(self, stage: str) -> Mask:
        """Which t2 the loop of a stage sees from which t, [T, T]."""
        seen = _lower(self.T, -1 if f"strict-{stage}" in self.on else self.T if f"full-{stage}" in self.on else 0)
        if "last-position-left-out" in self.on:
            seen = seen & (np.arange(self.T) < self.T - 1)[:, None]
        return seen

    def _add(self, b: Int, part: str, grad: Float, last: Callable[[], Float]) -> None:
        """Adds grad [S, NH, T, HS] to a part of dinp; ``last``: what is left where each addition is `=`."""
        if f"d{part}-missing" in self.on:
            return
        at = self._at(b, part, read=False)
        if f"d{part}-assigned" in self.on:
            left = last()
            kept = ~np.isnan(left)
            self.dinp[at[kept]] = left[kept]
        elif "head-stride" in self.on:  # the heads overlap
            np.add.at(self.dinp, at, grad)
        else:
            self.dinp[at] += grad

    # -- the stages ---------------------------------------------------------------------------------------

    def _sequences(self, b: Int, rows: Int) -> None:
        """All stages for the sequences b, whose weights are taken from these rows of att, datt and dpreatt."""
        share = self.att[rows]
        self.datt[rows] = datt = self._values(b, share, self.datt[rows])
        self.dpreatt[rows] = dpreatt = self._softmax(share, datt, self.dpreatt[rows])
        self._scores(b, dpreatt)

    def _heads_of_dout(self, b: Int) -> Float:
        """dout of the sequences, [S, NH, T, HS]."""
        heads: Float = self.dout[b].reshape(len(b), self.T, self.NH, self.HS).transpose(0, 2, 1, 3)
        return np.repeat(heads[:, :1], self.NH, 1) if "head-stride-of-dout" in self.on else heads

    def _values(self, b: Int, share: Float, datt: Float) -> Float:
        """From dout to dV and datt, which is returned."""
        dy, v, seen = self._heads_of_dout(b), self.inp[self._at(b, "v", read=True)], self._mask("values")
        weights = share * seen
        dv = weights.sum(-1)[..., None] * dy if "dv-at-t" in self.on else weights.swapaxes(-1, -2) @ dy
        self._add(b, "v", dv, lambda: _last(weights, dy, seen))
        dot = dy @ v.swapaxes(-1, -2)
        if "v-at-t" in self.on:
            dot = np.repeat((dy * v).sum(-1)[..., None], self.T, -1)
        seen = seen | self._mask("datt") if "full-datt" in self.on else seen
        return np.where(seen, dot if "datt-assigned" in self.on else datt + dot, datt)

    def _softmax(self, share: Float, datt: Float, dpreatt: Float) -> Float:
        """From datt to dpreatt."""
        on, seen = self.on, self._mask("softmax")
        terms = datt / np.arange(1, self.T + 1)[:, None] if "softmax-mean-unweighted" in on else share * datt
        mean = (terms * self._mask("mean")).sum(-1, keepdims=True)
        inside = datt if "softmax-without-sum" in on else datt - mean
        if "softmax-diagonal" in on:
            inside = (1.0 - share) * datt
        change = inside if "softmax-without-att" in on else share * inside
        change = datt if "softmax-left-out" in on else change
        change = change * (self._scale() if "scale-in-dpreatt" in on else 1.0)
        dpreatt = np.where(seen, change if "dpreatt-assigned" in on else dpreatt + change, dpreatt)
        return np.where(_lower(self.T), dpreatt, 0.0) if "masked-dpreatt" in on else dpreatt

    def _scale(self) -> float:
        if "scale-of-c" in self.on:
            return float(self.C**-0.5)
        if "scale-without-root" in self.on:
            return 1.0 / self.HS
        return float(self.HS**0.5 if "scale-upside-down" in self.on else self.HS**-0.5)

    def _scores(self, b: Int, dpreatt: Float) -> None:
        """From dpreatt to dQ and dK."""
        on, seen = self.on, self._mask("scores")
        q, k = (self.inp[self._at(b, part, read=True)] for part in "qk")
        scale = 1.0 if "no-scale" in on else self._scale() ** (2 if "scale-twice" in on else 1)
        for_dq, for_dk = ((1.0 if f"d{p}-not-scaled" in on else scale) * dpreatt * seen for p in "qk")
        dq, dk = for_dq @ k, for_dk.swapaxes(-1, -2) @ q
        if "k-at-t" in on:
            dq = for_dq.sum(-1)[..., None] * k
        if "q-at-t2" in on:
            dk = for_dk.sum(-2)[..., None] * q
        if "dk-at-t" in on:
            dk = for_dk.sum(-1)[..., None] * q
        if "dq-at-t2" in on:
            dq = for_dq.sum(-2)[..., None] * k
        self._add(b, "q", dq, lambda: _last(for_dq.swapaxes(-1, -2), k, seen.T))
        self._add(b, "k", dk, lambda: _last(for_dk, q, seen))


def _last(weights: Float, values: Float, seen: Mask) -> Float:
    """For each s, weights[.., t, s] * values[.., t, :] of the last t that sees it, [.., T, HS]; NaN where none does."""
    T = seen.shape[0]
    last = T - 1 - np.argmax(seen[::-1], axis=0)  # [s]
    found: Float = weights[..., last, np.arange(T)][..., None] * values[..., last, :]
    found[..., ~seen.any(0), :] = np.nan
    return found


FAULTS = family("attention_backward", "attention_backward", "attention", attention_backward, KNOWN, RARE)
