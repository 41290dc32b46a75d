"""What is made wrong in ``gpt2_backward``: other calls than the right ones, carried out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from grader.cases import Case
from grader.faults import Fault, alone
from reference.A2.faults.arrays import Outputs
from reference.A2.faults.machine import Machine
from reference.A2.oracle import Call, expected_calls

Calls = list[Call]
Change = Callable[[Calls], Calls]
Sizes = Mapping[str, int]

OWN = "memory of its own"
COPY = "memcpy"  # no operator: a copy that stands in place of residual_backward
LAYER_CALLS = 10
BEFORE_LAYERS = 3


def gpt2_backward(case: Case, change: Change | None = None, dloss: Callable[[Sizes], float] | None = None) -> Outputs:
    """The sixteen gradients after the right calls, changed, with ``dloss`` in grads_acts.losses for 1/(B*T)."""
    machine = Machine(case)
    sizes = machine.sizes
    first = dloss(sizes) if dloss else 1.0 / (sizes["B"] * sizes["T"])
    machine.memories["grads_acts"]["losses"][...] = first
    calls = expected_calls(case.params)
    for call in change(calls) if change else calls:
        if call["function"] == COPY:
            count = int(call["args"]["N"])
            machine.pointer(str(call["args"]["to"]), count)[:] = machine.pointer(str(call["args"]["from"]), count)
        else:
            machine.call(call)
    grads = machine.memories["grads"]
    return {f"d{name}": grads[name].copy() for name in grads.shapes}


# ---- changes -----------------------------------------------------------------------------------------------


def _base(value: str | int) -> str:
    """The name of a tensor without its layer."""
    return re.sub(r"\[.*", "", str(value))


def _first(call: Call) -> str:
    """The first argument of a call, without its layer."""
    return _base(next(iter(call["args"].values())))


def _edited(function: str, into: str, edit: Callable[[Call], Mapping[str, str | int] | None]) -> Change:
    """Gives other arguments to the calls of a function whose first argument is ``into`` (empty: any).

    Where the edit gives None, the call is left out.
    """

    def change(calls: Calls) -> Calls:
        found: Calls = []
        for call in calls:
            if call["function"] == function and into in ("", _first(call)):
                arguments = edit(call)
                if arguments is not None:
                    found.append({"function": function, "args": {**call["args"], **arguments}})
            else:
                found.append(call)
        return found

    return change


def _left_out(function: str, into: str) -> Change:
    return _edited(function, into, lambda call: None)


def _set(function: str, into: str, **arguments: str | int) -> Change:
    return _edited(function, into, lambda call: arguments)


def _named(function: str, into: str, **names: tuple[str, str]) -> Change:
    """Replaces a part of the names of some arguments."""

    def edit(call: Call) -> dict[str, str | int]:
        return {argument: str(call["args"][argument]).replace(old, new) for argument, (old, new) in names.items()}

    return _edited(function, into, edit)


def _swapped(function: str, into: str, one: str, other: str) -> Change:
    return _edited(function, into, lambda call: {one: call["args"][other], other: call["args"][one]})


def _of_first_layer(group: str) -> Change:
    """Every tensor of a group is that of layer 0; what a layer starts from is not chosen by the layer."""

    def first(value: str | int) -> str | int:
        text = str(value)
        own = text.startswith(f"{group}.") and "residual3" not in text
        return re.sub(r"l=\d+", "l=0", text) if own else value

    def change(calls: Calls) -> Calls:
        return [{**call, "args": {name: first(value) for name, value in call["args"].items()}} for call in calls]

    return change


def _layers(calls: Calls) -> list[Calls]:
    """The calls of each layer, from the last layer to the first."""
    return [calls[i : i + LAYER_CALLS] for i in range(BEFORE_LAYERS, len(calls) - 1, LAYER_CALLS)]


def _layers_forward(calls: Calls) -> Calls:
    forward = [call for layer in reversed(_layers(calls)) for call in layer]
    return [*calls[:BEFORE_LAYERS], *forward, calls[-1]]


def _without_first_layer(calls: Calls) -> Calls:
    return [*calls[: -LAYER_CALLS - 1], calls[-1]]


def _residual_copied(branch: str) -> Change:
    """A residual's gradient is copied into its branch, and does not go on around it."""

    def change(calls: Calls) -> Calls:
        return [_copy(call) if _base(call["args"].get("dinp2", "")) == branch else call for call in calls]

    return change


def _copy(call: Call) -> Call:
    args = call["args"]
    return {"function": COPY, "args": {"to": args["dinp2"], "from": args["dout"], "N": args["N"]}}


def _residual_early(calls: Calls) -> Calls:
    """The residual around the attention is passed on right after the MLP's first matmul."""
    early = [call for layer in _layers(calls) for call in (*layer[:2], layer[5], *layer[2:5], *layer[6:])]
    return [*calls[:BEFORE_LAYERS], *early, calls[-1]]


def _source_of_wrong_layer(argument: str) -> Change:
    """What a layer starts from, or its gradient, is taken to be the layer's own output."""

    def change(calls: Calls) -> Calls:
        changed = list(calls)
        for i, layer in enumerate(_layers(calls)):
            at = re.search(r"\[.*", str(layer[-1]["args"]["weight"]))
            start, group = BEFORE_LAYERS + i * LAYER_CALLS, "acts" if argument == "inp" else "grads_acts"
            name = f"{group}.residual3{at[0] if at else ''}"
            wrong = {5: "dinp1", 9: "dinp"} if argument == "dinp" else {9: "inp"}
            for offset, own in wrong.items():
                call = layer[offset]
                changed[start + offset] = {**call, "args": {**call["args"], own: name}}
        return changed

    return change


def _norms_swapped(calls: Calls) -> Calls:
    """The parameters of ln1 and ln2, and their gradients, change places."""
    swap = {"ln1": "ln2", "ln2": "ln1"}

    def name(value: str | int) -> str | int:
        return re.sub(r"\.(ln[12])(?=[wb])", lambda found: "." + swap[found[1]], str(value))

    own = ("dweight", "dbias", "weight")
    return [
        {**c, "args": {n: name(v) if n in own else v for n, v in c["args"].items()}}
        if c["function"] == "layernorm_backward"
        else c
        for c in calls
    ]


# ---- the mistakes ------------------------------------------------------------------------------------------

CE, MM, LN, ATT, GELU, RES, ENC = (
    *("crossentropy_softmax_backward", "matmul_backward", "layernorm_backward", "attention_backward"),
    *("gelu_backward", "residual_backward", "encoder_backward"),
)
CLASSIFIER, LN1, LN2 = "grads_acts.lnf", "grads_acts.ln1", "grads_acts.ln2"

MIRROR = "read gpt2_forward from its last line to its first: each call has its backward, on the same tensors"
LAYER = "which layer do the pointers of the loop's body belong to?"
STREAM = "the residual stream: what enters layer l is the residual3 of layer l - 1, or encoded"
SHARED = "a sum passes its gradient on to both of its inputs"
MEAN = "the loss is the mean of B * T losses: what is its derivative with respect to each?"
SIZES = "compare the sizes with those of the forward's call"


def _classifier_v(calls: Calls) -> Calls:
    """The classifier's matmul is as wide as the vocabulary without its padding."""
    V = calls[0]["args"]["V"]
    return _set(MM, CLASSIFIER, OC=V)(calls)


def _norm_into(norm: str, changed: Mapping[str, tuple[str, str]]) -> Change:
    """Changes the calls of one of a layer's two LayerNorms, which are told apart by their dout."""

    def edit(call: Call) -> dict[str, str | int]:
        if _base(call["args"]["dout"]) != norm:
            return {}
        return {argument: str(call["args"][argument]).replace(*parts) for argument, parts in changed.items()}

    return _edited(LN, "", edit)


CHANGED: dict[str, tuple[Change, str, str]] = {
    "layers-forward": (_layers_forward, "the layers are gone through from the first to the last", MIRROR),
    "first-layer-left-out": (_without_first_layer, "the loop over the layers ends before layer 0", MIRROR),
    "dresidual-of-wrong-layer": (
        _source_of_wrong_layer("dinp"),
        "the gradient of what a layer starts from goes to the layer's own residual3 in place of the one below",
        STREAM,
    ),
    "residual-of-wrong-layer": (
        _source_of_wrong_layer("inp"),
        "the input of a layer's first LayerNorm is taken to be the layer's own residual3, not the one below",
        STREAM,
    ),
    "second-residual-dropped": (
        _residual_copied("grads_acts.fcproj"),
        "the residual around the MLP gets no gradient; only the branch does",
        SHARED,
    ),
    "first-residual-dropped": (
        _residual_copied("grads_acts.attproj"),
        "the residual around the attention gets no gradient; only the branch does",
        SHARED,
    ),
    "residual-too-early": (
        _residual_early,
        "the residual around the attention is passed on before the second LayerNorm has added its share",
        MIRROR,
    ),
    "ln1-and-ln2-swapped": (_norms_swapped, "the parameters of a layer's two LayerNorms are swapped", MIRROR),
    "ln1-gradients-into-ln2": (
        _norm_into(LN1, {"dweight": ("ln1", "ln2"), "dbias": ("ln1", "ln2")}),
        "the gradients of the first LayerNorm's weight and bias go into those of the second",
        MIRROR,
    ),
    "statistics-of-ln1": (
        _norm_into(LN2, {"mean": ("ln2", "ln1"), "rstd": ("ln2", "ln1")}),
        "the second LayerNorm gets the mean and rstd of the first",
        MIRROR,
    ),
    "classifier-dwte-missing": (
        _set(MM, CLASSIFIER, dweight=OWN),
        "the classifier's share of dwte is lost",
        "wte is used at both ends of the model",
    ),
    "classifier-v": (
        _classifier_v,
        "the classifier's matmul gets V in place of Vp as the width of its rows",
        SIZES,
    ),
    "weights-of-first-layer": (_of_first_layer("params"), "every layer uses the weights of layer 0", LAYER),
    "gradients-of-first-layer": (
        _of_first_layer("grads"),
        "the gradients of all layers' parameters go into those of layer 0",
        LAYER,
    ),
    "activations-of-first-layer": (_of_first_layer("acts"), "every layer uses the activations of layer 0", LAYER),
    "encoder-missing": (_left_out(ENC, ""), "encoder_backward is not called", MIRROR),
    "encoder-targets": (
        _set(ENC, "", inp="targets"),
        "encoder_backward gets the targets in place of the inputs",
        MIRROR,
    ),
    "crossentropy-inputs": (
        _set(CE, "", targets="inputs"),
        "crossentropy_softmax_backward gets the inputs in place of the targets",
        MIRROR,
    ),
    "crossentropy-logits": (
        _named(CE, "", probs=("probs", "logits")),
        "crossentropy_softmax_backward gets the logits in place of the probabilities",
        MIRROR,
    ),
    "gelu-given-its-output": (
        _named(GELU, "", inp=("fch", "fch_gelu")),
        "gelu_backward gets the GELU's output in place of its input",
        MIRROR,
    ),
    "gelu-size": (
        _edited(GELU, "", lambda call: {"N": int(call["args"]["N"]) // 4}),
        "gelu_backward gets B*T*C elements in place of B*T*4C",
        SIZES,
    ),
    "qkv-width": (
        _set(MM, LN1, OC=3),
        "the matmul of Q, K and V gets 3 as its output's width in place of 3C",
        SIZES,
    ),
    "preatt-for-att": (
        _named(ATT, "", att=("att", "preatt")),
        "attention_backward gets the scores in place of the weights",
        MIRROR,
    ),
    "b-and-t-swapped": (_swapped(ATT, "", "B", "T"), "attention_backward gets B and T swapped", SIZES),
    "lnf-given-its-output": (
        _edited(LN, "", lambda call: {"inp": "acts.lnf"} if "lnf" in str(call["args"]["dout"]) else {}),
        "the final LayerNorm's backward gets its output in place of its input",
        MIRROR,
    ),
    "qkvb-missing": (_set(MM, LN1, dbias="NULL"), "the bias of Q, K and V gets no gradient", MIRROR),
    "fcb-missing": (_set(MM, LN2, dbias="NULL"), "the bias of the MLP's first matmul gets no gradient", MIRROR),
    "fcprojb-missing": (
        _set(MM, "grads_acts.fch_gelu", dbias="NULL"),
        "the bias of the MLP's second matmul gets no gradient",
        MIRROR,
    ),
    "attprojb-missing": (
        _set(MM, "grads_acts.atty", dbias="NULL"),
        "the bias of the attention's projection gets no gradient",
        MIRROR,
    ),
}

BEGUN: dict[str, tuple[Callable[[Sizes], float], str, str]] = {
    "dlosses-one": (lambda s: 1.0, "grads_acts.losses begins with 1 in place of 1/(B*T)", MEAN),
    "dlosses-one-by-t": (lambda s: 1.0 / s["T"], "grads_acts.losses begins with 1/T in place of 1/(B*T)", MEAN),
    "dlosses-one-by-b": (lambda s: 1.0 / s["B"], "grads_acts.losses begins with 1/B in place of 1/(B*T)", MEAN),
    "dlosses-integer-division": (
        lambda s: float(1 // (s["B"] * s["T"])),
        "grads_acts.losses begins with 1 / (B * T) in whole numbers, which is 0",
        MEAN,
    ),
    "dlosses-not-set": (lambda s: 0.0, "grads_acts.losses is not set: nothing begins the gradient", MEAN),
}


def _fault(name: str, says: str, hint: str, formula: Callable[[Case], Outputs]) -> Fault:
    return Fault(f"backward-{name}", "gpt2_backward", "gpt2_backward", says, hint, alone(formula))


FAULTS = [
    *(_fault(name, says, hint, partial(gpt2_backward, change=how)) for name, (how, says, hint) in CHANGED.items()),
    *(_fault(name, says, hint, partial(gpt2_backward, dloss=how)) for name, (how, says, hint) in BEGUN.items()),
]
