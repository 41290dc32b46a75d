"""The cases: the same for a seed, right in shape, and shaped so that mistakes show."""

from __future__ import annotations

import numpy as np
import pytest

from grader.cases import Case
from reference.A2 import cases

PUBLIC = cases.build(2026)
PRIVATE = cases.build(2**200 + 17, "secret")
EVERY = [
    pytest.param(case, id=f"{kind}-{case.id}") for kind, s in (("public", PUBLIC), ("secret", PRIVATE)) for case in s
]
MAX_BYTES = 20_000
FIXTURES_MAX_BYTES = 1_500_000


def _of(check: str, among: list[Case]) -> list[Case]:
    return [case for case in among if case.check == check]


def _equal(one: Case, other: Case) -> bool:
    same = one.params == other.params and list(one.inputs) == list(other.inputs)
    return same and all(np.array_equal(one.inputs[name], other.inputs[name]) for name in one.inputs)


def test_same_seed_gives_the_same_cases() -> None:
    assert all(_equal(*pair) for pair in zip(PUBLIC, cases.build(2026), strict=True))
    assert all(_equal(*pair) for pair in zip(PRIVATE, cases.build(2**200 + 17, "secret"), strict=True))


def test_other_seed_gives_other_values_and_public_shapes_stay() -> None:
    for one, other in zip(PUBLIC, cases.build(2027), strict=True):
        assert one.params == other.params
        assert not _equal(one, other)


def test_a_private_set_has_other_shapes() -> None:
    changed = [one.params != other.params for one, other in zip(PUBLIC, PRIVATE, strict=True)]
    assert sum(changed) > len(changed) / 2


def test_a_case_does_not_depend_on_the_others() -> None:
    recipe = cases.RECIPES[-5]
    assert _equal(recipe.case(2026, "public"), PUBLIC[-5])


def test_names_are_unique() -> None:
    assert len({case.id for case in PUBLIC}) == len(PUBLIC)


@pytest.mark.parametrize("case", EVERY)
def test_tensors_are_float32_or_int32_and_finite(case: Case) -> None:
    for value in case.inputs.values():
        assert value.dtype in (np.float32, np.int32)
        assert value.flags.c_contiguous
        assert np.isfinite(value).all()


def test_the_public_tensors_are_small() -> None:
    sizes = [value.nbytes for case in PUBLIC for value in case.inputs.values()]
    assert max(sizes) <= MAX_BYTES
    assert sum(sizes) <= FIXTURES_MAX_BYTES / 3


@pytest.mark.parametrize("seed", range(20))
def test_drawn_sizes_keep_their_relations(seed: int) -> None:
    for case in cases.build(seed, "secret"):
        p = {name: int(value) for name, value in case.params.items() if name.isupper() or name in ("Vp", "maxT")}
        assert p.get("C", 0) % p.get("NH", 1) == 0
        assert p.get("T", 0) <= p.get("maxT", p.get("T", 0))
        assert p.get("V", 0) <= p.get("Vp", p.get("V", 0))
        assert case.check != "encoder_backward" or p["T"] <= p["V"] or p["T"] == 1
        assert case.check != "layernorm_backward" or p["C"] >= 3


def test_hyperparameters_are_floats_of_c() -> None:
    for case in _of("gpt2_update", PUBLIC) + _of("ten_steps", PUBLIC):
        assert all(
            float(np.float32(case.params[name])) == case.params[name] for name in ("lr", "beta1", "beta2", "eps")
        )


@pytest.mark.parametrize("case", _of("encoder_backward", PUBLIC + PRIVATE), ids=lambda case: case.id)
def test_tokens_repeat_and_stay_within_both_tables(case: Case) -> None:
    tokens = case.inputs["inp"]
    assert tokens.min() >= 0
    assert tokens.max() < min(case.params["V"], case.params["maxT"])
    assert tokens.size == 1 or len(np.unique(tokens)) < tokens.size
    assert tokens[0, 0] == tokens[-1, -1]


def test_padded_probabilities_are_not_zero() -> None:
    for case in _of("crossentropy_softmax_backward", PUBLIC + PRIVATE):
        V = int(case.params["V"])
        probs = case.inputs["probs"]
        assert np.allclose(probs[..., :V].sum(-1), 1.0, atol=1e-6)
        assert case.name == "zero-padding" or bool(np.all(probs[..., V:].astype("f8") >= 0.1))


def test_some_matmul_has_no_bias() -> None:
    assert {"dbias" in case.inputs for case in _of("matmul_backward", PUBLIC)} == {True, False}


@pytest.mark.parametrize("case", _of("attention_backward", PUBLIC + PRIVATE), ids=lambda case: case.id)
def test_attention_prefill_is_visible_behind_the_mask_alone(case: Case) -> None:
    T = int(case.params["T"])
    seen = np.tril(np.ones((T, T), dtype=bool))
    for name in ("datt", "dpreatt"):
        assert case.inputs[name][..., ~seen].all()
        assert case.inputs[name][..., seen].any() == (case.name == "accumulate")
    assert not case.inputs["att"][..., ~seen].any()


def test_accumulate_prefill_reaches_no_later_stage() -> None:
    for case in (c for c in PUBLIC + PRIVATE if c.id == "attention_backward/accumulate"):
        B, T, C, NH = (int(case.params[name]) for name in ("B", "T", "C", "NH"))
        seen = np.tril(np.ones((T, T)))
        x = {name: case.inputs[name].astype(np.float64) for name in ("inp", "att", "datt", "dpreatt")}
        query, key, _ = np.moveaxis(x["inp"].reshape(B, T, 3, NH, C // NH), 2, 0)
        own_datt, own_dpreatt = x["datt"] * seen, x["dpreatt"] * seen
        through_softmax = x["att"] * (own_datt - (x["att"] * own_datt).sum(-1, keepdims=True))
        assert np.abs(through_softmax).max() < 1e-6
        assert np.abs(np.einsum("bhts,bshi->bthi", own_dpreatt, key)).max() < 1e-12
        assert np.abs(np.einsum("bhts,bthi->bshi", own_dpreatt, query)).max() < 1e-12


def test_gelu_reaches_both_tails() -> None:
    inputs = np.concatenate([case.inputs["inp"] for case in _of("gelu_backward", PUBLIC)])
    assert inputs.min() == -100.0
    assert inputs.max() == 100.0


def test_update_gradients_span_eight_decades() -> None:
    for case in _of("gpt2_update", PUBLIC + PRIVATE):
        grads = case.inputs["grads"]
        assert grads.shape == (cases.UPDATE_STEPS, case.inputs["params"].size)
        sizes = np.abs(grads[grads != 0])
        assert sizes.max() > 0.5
        assert sizes.min() < 2e-8
        assert (grads == 0).any()
        assert (np.abs(grads[:, -1]) >= 0.5).all()
