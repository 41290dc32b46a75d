"""The mistakes of ``attention_backward`` in words: what turns a switch → what comes out when …, and a hint."""

from __future__ import annotations

from reference.A2.faults.arrays import ADDS

MASK = "position t attends to itself and to what is before it: t2 = t takes part, t2 > t does not"
SCALE = "the scores are q . k / sqrt(HS): how often does that factor come on the way back, and from where to where?"
SUM = "all scores of a row act on each weight of it: what does that do to the derivative of the softmax?"
THIRDS = "a position of inp holds Q, K and V one after the other, C numbers each; dinp is laid out alike"
DOT = "score[t, t2] = q[t] . k[t2]: derive it by each of the two"
VALUES = "out[t] is the sum over t2 of att[t, t2] * v[t2]: derive it by att and by v"
HEADS = "a head is HS = C / NH numbers wide, in inp, in dinp and in dout"
BUFFERS = "att, datt and dpreatt are [B, NH, T, T]"

KNOWN = {
    "dq-assigned": ("dQ is set (`=`) in the loop over t2: only the share of t2 = t is left", ADDS),
    "dk-assigned": ("dK is set (`=`) at each t: only the share of the last t is left", ADDS),
    "dv-assigned": ("dV is set (`=`) at each t: only the share of the last t is left", ADDS),
    "dinp-overwritten": ("dinp is cleared first: what was in it before is lost", ADDS),
    "datt-assigned": ("datt is set (`=`) where it should be added to (`+=`)", ADDS),
    "dpreatt-assigned": ("dpreatt is set (`=`) where it should be added to (`+=`)", ADDS),
    "strict-everywhere=strict-values+strict-mean+strict-softmax+strict-scores": (
        "all loops over t2 run `t2 < t` in place of `t2 <= t`",
        MASK,
    ),
    "strict-values": ("the loop over t2 from dout to datt and dV runs `t2 < t` in place of `t2 <= t`", MASK),
    "strict-mean": ("the loop over t2 that sums att * datt runs `t2 < t` in place of `t2 <= t`", MASK),
    "strict-softmax": ("the loop over t2 of the softmax, into dpreatt, runs `t2 < t` in place of `t2 <= t`", MASK),
    "strict-both-softmax=strict-mean+strict-softmax": (
        "both loops over t2 of the softmax, from datt to dpreatt, run `t2 < t` in place of `t2 <= t`",
        MASK,
    ),
    "strict-scores": ("the loop over t2 from dpreatt to dQ and dK runs `t2 < t` in place of `t2 <= t`", MASK),
    "no-scale": ("the factor 1/sqrt(HS) is missing in dQ and dK", SCALE),
    "scale-twice": ("the factor 1/sqrt(HS) is applied twice on the way to dQ and dK", SCALE),
    "scale-in-dpreatt": (
        "the factor 1/sqrt(HS) is applied in dpreatt already, and again on the way to dQ and dK",
        SCALE,
    ),
    "scale-in-dpreatt-alone=scale-in-dpreatt+no-scale": (
        "the factor 1/sqrt(HS) is applied in dpreatt in place of on the way to dQ and dK",
        SCALE,
    ),
    "scale-on-dq-only=dk-not-scaled": ("dK lacks the factor 1/sqrt(HS), which dQ has", SCALE),
    "scale-on-dk-only=dq-not-scaled": ("dQ lacks the factor 1/sqrt(HS), which dK has", SCALE),
    "scale-of-c": ("the factor is 1/sqrt(C) in place of 1/sqrt(HS)", SCALE),
    "scale-without-root": ("the factor is 1/HS in place of 1/sqrt(HS)", SCALE),
    "scale-upside-down": ("the factor is sqrt(HS) in place of 1/sqrt(HS)", SCALE),
    "dq-missing": ("nothing is added to dQ", DOT),
    "dk-missing": ("nothing is added to dK", DOT),
    "dv-missing": ("nothing is added to dV", VALUES),
    "dq-and-dk-missing=dq-missing+dk-missing": ("nothing is added to dQ, nor to dK", DOT),
    "softmax-without-sum": ("the softmax's derivative lacks the sum over the row: dpreatt is att * datt", SUM),
    "softmax-diagonal": (
        "the softmax's derivative is its diagonal alone: dpreatt is att * (1 - att) * datt",
        SUM,
    ),
    "softmax-mean-unweighted": (
        "what is subtracted in the softmax's derivative is the plain mean of datt, not the sum of att * datt",
        SUM,
    ),
    "softmax-without-att": ("the softmax's derivative lacks the factor att in front of (datt - sum)", SUM),
    "softmax-left-out": ("datt is handed on to dpreatt without the softmax's derivative", SUM),
    "q-and-k-swapped": ("Q and K are read from each other's place: dQ is summed from q, dK from k", THIRDS),
    "k-and-v-swapped": ("K and V are read from each other's place", THIRDS),
    "q-and-v-swapped": ("Q and V are read from each other's place", THIRDS),
    "dq-and-dk-swapped": ("dQ and dK are written to each other's place", THIRDS),
    "dk-and-dv-swapped": ("dK and dV are written to each other's place", THIRDS),
    "dq-and-dv-swapped": ("dQ and dV are written to each other's place", THIRDS),
    "k-at-t": ("dQ is summed from k at t in place of k at t2", DOT),
    "q-at-t2": ("dK is summed from q at t2 in place of q at t", DOT),
    "dk-at-t": ("dK is added at t in place of t2", DOT),
    "dq-at-t2": ("dQ is added at t2 in place of t", DOT),
    "dv-at-t": ("dV is added at t in place of t2", VALUES),
    "v-at-t": ("datt is the product of dout with v at t in place of v at t2", VALUES),
    "head-stride": ("the heads of inp and dinp are taken to begin NH apart in place of HS", HEADS),
    "head-stride-of-dout": ("all heads read the part of dout that belongs to the first", HEADS),
    "masked-datt=full-datt": ("datt is written behind the mask too, where t2 > t", MASK),
    "masked-dpreatt": ("dpreatt is set to zero behind the mask, where t2 > t", MASK),
    "masked-everywhere=full-values+full-mean+full-softmax+full-scores": (
        "no loop over t2 knows of the mask: all run up to T",
        MASK,
    ),
    "masked-scores=full-scores": ("the loop over t2 from dpreatt to dQ and dK runs up to T", MASK),
    "first-b-only": ("att, datt and dpreatt are indexed by the head alone, without b", BUFFERS),
    "last-position-left-out": ("the loop over t ends one position early", "compare its bound with the forward's"),
}

# Made alone, or beside a mistake in another part of the tensors.
RARE = [
    *("strict-both-softmax", "masked-everywhere", "masked-scores", "scale-of-c", "scale-without-root"),
    *("scale-upside-down", "scale-in-dpreatt-alone", "dq-and-dk-missing", "softmax-without-att", "softmax-left-out"),
    *("q-and-k-swapped", "k-and-v-swapped", "q-and-v-swapped", "dq-and-dk-swapped", "dk-and-dv-swapped"),
    *("dq-and-dv-swapped", "k-at-t", "q-at-t2", "dk-at-t", "dq-at-t2", "dv-at-t", "v-at-t", "head-stride"),
    *("head-stride-of-dout", "first-b-only", "last-position-left-out", "strict-everywhere"),
]
