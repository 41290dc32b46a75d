"""The oracle against finite differences, a second implementation, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.cases import Case
from reference.A2 import cases, oracle
from reference.A2.oracle import Call
from tests.reference.A2 import naive

Float = NDArray[np.float64]
Tensors = Mapping[str, NDArray[Any]]

PUBLIC = cases.build(2026)
PRIVATE = cases.build(3, "secret")
BY_ID = {case.id: case for case in PUBLIC}
FUNCTIONS = [case for case in PUBLIC + PRIVATE if case.check in naive.OPERATORS]
UPDATES = [case for case in PUBLIC + PRIVATE if case.check == "gpt2_update"]
MODELS = [case for case in PUBLIC + PRIVATE if case.check == "gpt2_backward"]
DEEP = BY_ID["gpt2_backward/deep"]

AGREE = 1e-6  # float32 means, probabilities and attention weights are given to one side alone
HONEST = 5e-6  # what float32 may be off by
SHOWS = 5e-3  # the least that any mistake with the operators must be off by
SHOWS_IN_UPDATE = 3e-3
SHOWS_IN_MODEL = 1e-2
STEP = 1e-5


def _error(got: Tensors, expected: Mapping[str, Float]) -> float:
    """The largest error of a tensor, relative to its largest element."""
    return max(_relative(got[name], value) for name, value in expected.items())


def _relative(got: NDArray[Any], expected: Float) -> float:
    error = float(np.nan_to_num(np.abs(got - expected), nan=np.inf).max())
    return error / max(float(np.abs(expected).max()), 1e-12)


# --- the functions


@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case.id)
def test_oracle_agrees_with_a_second_implementation(case: Case) -> None:
    assert _error(naive.probe(case), oracle.expected(case)) < AGREE


@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case.id)
def test_honest_float32_is_close(case: Case) -> None:
    assert _error(naive.probe(case, kind="f4"), oracle.expected(case)) < HONEST


@pytest.mark.parametrize(("check", "fault"), [(c, fault) for c, faults in naive.FAULTS.items() for fault in faults])
@pytest.mark.parametrize("among", [PUBLIC, PRIVATE], ids=["public", "secret"])
def test_known_mistakes_show(check: str, fault: str, among: list[Case]) -> None:
    own = [case for case in among if case.check == check]
    assert max(_error(naive.probe(case, fault), oracle.expected(case)) for case in own) > SHOWS


@pytest.mark.parametrize("check", naive.OPERATORS)
def test_an_output_overwritten_or_left_alone_shows(check: str) -> None:
    own = [case for case in PUBLIC if case.check == check]
    for name in oracle.expected(own[0]):
        having = [case for case in own if name in case.inputs]
        assert max(_relative(*_overwritten(case, name)) for case in having) > SHOWS
        assert max(_relative(case.inputs[name], oracle.expected(case)[name]) for case in having) > SHOWS


def _overwritten(case: Case, name: str) -> tuple[Float, Float]:
    """What ``=`` in place of ``+=`` leaves where the function writes, and what is right."""
    expected = oracle.expected(case)[name]
    seen = np.tril(np.ones(expected.shape[-2:])) if name in ("datt", "dpreatt") else 1.0
    return expected - case.inputs[name].astype(np.float64) * seen, expected


def test_nothing_behind_the_mask_the_padding_or_the_used_rows_changes() -> None:
    attention, padded = BY_ID["attention_backward/tails"], BY_ID["crossentropy_softmax_backward/tails"]
    behind = ~np.tril(np.ones((11, 11), dtype=bool))
    for name in ("datt", "dpreatt"):
        assert np.array_equal(oracle.expected(attention)[name][..., behind], attention.inputs[name][..., behind])
    V = int(padded.params["V"])
    assert np.array_equal(oracle.expected(padded)["dlogits"][..., V:], padded.inputs["dlogits"][..., V:])
    encoder = BY_ID["encoder_backward/small"]
    T = int(encoder.params["T"])
    assert np.array_equal(oracle.expected(encoder)["dwpe"][T:], encoder.inputs["dwpe"][T:])


# --- finite differences: for each function, d(sum(dout * forward)) by each input


def _attention(x: dict[str, Any], case: Case) -> Float:
    return naive.attention(x["inp"], int(case.params["NH"]))[0]


def _encoder(x: dict[str, Any], case: Case) -> Float:
    out: Float = x["dwte"][case.inputs["inp"]] + x["dwpe"][: x["dout"].shape[1]]
    return out


def _matmul(x: dict[str, Any], case: Case) -> Float:
    out: Float = x["inp"] @ x["weight"].T + x["dbias"]
    return out


def _crossentropy(x: dict[str, Any], case: Case) -> Float:
    V = int(case.params["V"])
    return naive.crossentropy(np.log(x["probs"][..., :V]) + x["dlogits"][..., :V], x["targets"])


def _layernorm(x: dict[str, Any], case: Case) -> Float:
    return naive.layernorm(x["inp"], x["weight"], x["dbias"])[0]


FORWARDS: dict[str, tuple[Callable[[dict[str, Any], Case], Float], dict[str, str]]] = {
    "encoder_backward": (_encoder, {"dwte": "dwte", "dwpe": "dwpe"}),
    "layernorm_backward": (_layernorm, {"dinp": "inp", "dweight": "weight", "dbias": "dbias"}),
    "matmul_backward": (_matmul, {"dinp": "inp", "dweight": "weight", "dbias": "dbias"}),
    "attention_backward": (_attention, {"dinp": "inp"}),
    "gelu_backward": (lambda x, case: naive.gelu(x["inp"]), {"dinp": "inp"}),
    "residual_backward": (lambda x, case: x["dinp1"] + x["dinp2"], {"dinp1": "dinp1", "dinp2": "dinp2"}),
    "crossentropy_softmax_backward": (_crossentropy, {"dlogits": "dlogits"}),
}


@pytest.mark.parametrize("check", FORWARDS)
def test_gradients_are_those_of_finite_differences(check: str) -> None:
    forward, leaves = FORWARDS[check]
    case = BY_ID[f"{check}/core" if check == "gelu_backward" else f"{check}/small"]
    for output, leaf in leaves.items():
        x: dict[str, Any] = naive.wide(case)
        if check == "crossentropy_softmax_backward":
            x["dlogits"][:] = 0.0
        prefill = case.inputs[output].astype(np.float64)
        assert _relative(prefill + _differences(forward, x, leaf, case), oracle.expected(case)[output]) < 1e-6


def _differences(forward: Callable[[dict[str, Any], Case], Float], x: dict[str, Any], leaf: str, case: Case) -> Float:
    """The central differences of the output, weighed by what flows in, by each element of a leaf."""
    cotangent = x["dlosses"] if "dlosses" in x else x["dout"]
    gradient = np.zeros(x[leaf].shape)
    for index in np.ndindex(gradient.shape):
        middle = x[leaf][index]
        ends = []
        for end in (middle + STEP, middle - STEP):
            x[leaf][index] = end
            ends.append(forward(x, case))
        x[leaf][index] = middle
        gradient[index] = (cotangent * (ends[0] - ends[1])).sum() / (2 * STEP)
    return gradient


# --- AdamW


@pytest.mark.parametrize("case", UPDATES, ids=lambda case: case.id)
def test_update_agrees_with_the_formula(case: Case) -> None:
    assert _error(naive.adamw(case), oracle.expected(case)) < 1e-12


@pytest.mark.parametrize("fault", naive.ADAMW_FAULTS)
def test_known_mistakes_in_the_update_show(fault: str) -> None:
    assert max(_error(naive.adamw(case, fault), oracle.expected(case)) for case in UPDATES[:2]) > SHOWS_IN_UPDATE
    assert max(_error(naive.adamw(case, fault), oracle.expected(case)) for case in UPDATES[2:]) > SHOWS_IN_UPDATE


# --- the model: the right calls, made by the second implementation, give the oracle's gradients


class _Model:
    """llm.c's buffers by name, for running a list of calls."""

    def __init__(self, case: Case) -> None:
        x: dict[str, Any] = naive.wide(case)
        self.V, NH = int(case.params["V"]), int(case.params["NH"])
        self.tokens = {"inputs": x.pop("inputs"), "targets": x.pop("targets")}
        acts = naive.forward(x, self.tokens["inputs"], self.tokens["targets"], NH, self.V)
        self.groups = {"params": x, "acts": acts}
        self.groups["grads"] = {name: np.zeros_like(value) for name, value in x.items()}
        self.groups["grads_acts"] = {name: np.zeros_like(value) for name, value in acts.items()}
        self.groups["grads_acts"]["losses"] += 1.0 / acts["losses"].size

    def pointer(self, name: str) -> NDArray[Any] | None:
        """The buffer, or the layer of it, that a pointer's name stands for."""
        if name in ("NULL", *self.tokens):
            return self.tokens.get(name)
        group, tensor = name.split(".")
        base, _, layer = tensor.rstrip("]").partition("[l=")
        buffer: NDArray[Any] = self.groups[group][base]
        return buffer[int(layer)] if layer else buffer

    def run(self, calls: list[Call]) -> dict[str, NDArray[Any]]:
        """Makes the calls; returns the gradients of the parameters."""
        for call in calls:
            args: dict[str, Any] = {n: self.pointer(v) for n, v in call["args"].items() if isinstance(v, str)}
            if call["function"] == "crossentropy_softmax_backward":
                args["V"] = self.V
            naive.OPERATORS[call["function"]](**args)
        return {f"d{name}": value for name, value in self.groups["grads"].items()}


def _gradients(case: Case) -> dict[str, Float]:
    return {name: value for name, value in oracle.expected(case).items() if name not in ("loss", "logits")}


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.id)
def test_the_calls_give_the_gradients(case: Case) -> None:
    assert _error(_Model(case).run(oracle.expected_calls(case.params)), _gradients(case)) < 1e-9


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.id)
def test_loss_and_logits_are_those_of_the_second_implementation(case: Case) -> None:
    acts, expected = _Model(case).groups["acts"], oracle.expected(case)
    assert np.isclose(acts["losses"].mean(), expected["loss"][0], rtol=1e-12)
    assert np.allclose(acts["logits"][..., : int(case.params["V"])], expected["logits"], rtol=1e-10)


def test_model_gradient_is_the_slope_of_its_loss() -> None:
    x: dict[str, Any] = naive.wide(DEEP)
    tokens, params = (x.pop("inputs"), x.pop("targets")), DEEP.params
    slopes = _gradients(DEEP)
    rng = np.random.default_rng(0)
    for name in x:
        direction = rng.standard_normal(x[name].shape)
        ends = []
        for sign in (1, -1):
            moved = {**x, name: x[name] + sign * STEP * direction}
            ends.append(naive.forward(moved, *tokens, int(params["NH"]), int(params["V"]))["losses"].mean())
        assert np.isclose(
            (ends[0] - ends[1]) / (2 * STEP), (slopes[f"d{name}"] * direction).sum(), rtol=1e-5, atol=1e-9
        )


CALLS = oracle.expected_calls(DEEP.params)


@pytest.mark.parametrize("left_out", range(len(CALLS)))
def test_leaving_out_a_call_shows(left_out: int) -> None:
    got = _Model(DEEP).run(CALLS[:left_out] + CALLS[left_out + 1 :])
    assert _error(got, _gradients(DEEP)) > SHOWS_IN_MODEL


def _with(index: int, **args: str) -> list[Call]:
    """The right calls, with arguments of one of them replaced."""
    call = CALLS[index]
    return [
        *CALLS[:index],
        {"function": call["function"], "args": {**call["args"], **args}},
        *CALLS[index + 1 :],
    ]


def _layers_forward() -> list[Call]:
    per_layer = (len(CALLS) - 4) // int(DEEP.params["L"])
    layers = [CALLS[3 + i : 3 + i + per_layer] for i in range(0, len(CALLS) - 4, per_layer)]
    return CALLS[:3] + [call for layer in reversed(layers) for call in layer] + CALLS[-1:]


WIRINGS = {
    "layers forward": _layers_forward(),
    "residual of the wrong layer": _with(3 + 9, dinp="grads_acts.residual3[l=2]"),
    "second branch dropped": _with(3, dinp1="grads_acts.attproj[l=0]"),
    "ln1 for ln2": _with(3 + 4, weight="params.ln1w[l=2]", dweight="grads.ln1w[l=2]", dbias="grads.ln1b[l=2]"),
    "weights of another layer": _with(3 + 3, weight="params.fcw[l=1]"),
    "classifier without dwte": _with(1, dweight="params.wte"),
    "attention on the wrong weights": _with(3 + 7, att="acts.preatt[l=2]"),
    "gelu by its output": _with(3 + 2, inp="acts.fch_gelu[l=2]"),
    "ln1's statistics for ln2": _with(3 + 4, mean="acts.ln1_mean[l=2]"),
}


@pytest.mark.parametrize("wiring", WIRINGS)
def test_wrong_wiring_shows(wiring: str) -> None:
    assert _error(_Model(DEEP).run(WIRINGS[wiring]), _gradients(DEEP)) > SHOWS_IN_MODEL


def test_padded_rows_of_the_classifier_get_no_gradient() -> None:
    assert not _gradients(DEEP)["dwte"][int(DEEP.params["V"]) :].any()
    assert DEEP.inputs["wte"][int(DEEP.params["V"]) :].all()


# --- the rest


def test_losses_of_ten_steps_fall_by_far_more_than_the_official_limit() -> None:
    for among in (PUBLIC, PRIVATE):
        case = next(case for case in among if case.check == "ten_steps")
        losses = oracle.expected(case)["losses"]
        assert losses.shape == (10,)
        assert (np.diff(losses) < -0.02).all()


def test_first_of_ten_steps_is_a_backward_pass() -> None:
    expected = oracle.expected(BY_ID["ten_steps/tiny"])
    assert expected["loss"][0] == expected["losses"][0]
    again = oracle.gpt2_backward(BY_ID["ten_steps/tiny"])
    assert np.array_equal(expected["dwte"], again["dwte"].numpy())


def test_memory_sizes_are_those_of_the_structs() -> None:
    case = BY_ID["zero_grad/allocated"]
    expected, model = oracle.expected(case), _Model(case).groups
    assert expected["grads"].size == sum(value.size for value in model["params"].values())
    assert expected["grads_acts"].size == sum(value.size for value in model["acts"].values())
    assert oracle.expected(BY_ID["zero_grad/unallocated"]) == {"survived": np.ones(1)}
    assert oracle.expected(BY_ID["no_targets/small"]) == {"stopped": np.ones(1)}


@pytest.mark.parametrize("case", PUBLIC, ids=lambda case: case.id)
def test_outputs_are_finite_float64_and_inputs_untouched(case: Case) -> None:
    before = {name: value.copy() for name, value in case.inputs.items()}
    for value in oracle.expected(case).values():
        assert value.dtype == np.float64
        assert np.isfinite(value).all()
    assert all(np.array_equal(before[name], case.inputs[name]) for name in before)
