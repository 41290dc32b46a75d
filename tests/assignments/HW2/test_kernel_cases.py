"""The cases of kernels: what they expect is PyTorch's, and a result is right only where it is."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from assignments.HW2 import kernel_cases
from assignments.HW2.kernel_cases import KERNELS, KernelCase, Laid, wrong

CASES = {case.id: case for case in kernel_cases.cases()}


def test_each_kernel_has_cases_of_all_sizes() -> None:
    assert len(CASES) == len(kernel_cases.cases())
    assert set(Counter(case.launcher for case in CASES.values())) == set(KERNELS)
    for launcher in KERNELS:
        sizes = [case.work for case in CASES.values() if case.launcher == launcher]
        assert min(sizes) == 1
        assert max(sizes) >= 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_expected_is_what_pytorch_says(case: KernelCase) -> None:
    import torch

    a = torch.from_numpy(case.a.array)
    b = torch.from_numpy(case.b.array) if case.b is not None else torch.zeros(())
    right = {
        "neg": lambda: -a,
        "id": lambda: a,
        "lt": lambda: (a < b).double(),
        "eq": lambda: (a == b).double(),
        "is_close": lambda: ((a - b).abs() < kernel_cases.CLOSE).double(),
        "relu_back": lambda: torch.where(a > 0, b, 0.0),
        "log": lambda: torch.log(a + kernel_cases.EPS),
        "log_back": lambda: b / (a + kernel_cases.EPS),
        "inv": lambda: a.reciprocal(),
        "inv_back": lambda: -b * a.reciprocal().square(),
        "max": lambda: torch.maximum(a, b),
    }
    start = torch.tensor(case.start, dtype=torch.float64)
    reduced = {
        "add": lambda: a.sum(case.dim, keepdim=True) + start,
        "mul": lambda: a.prod(case.dim, keepdim=True) * start,
        "max": lambda: torch.maximum(a.amax(case.dim, keepdim=True), start),
    }
    if case.launcher == "MatrixMultiply":
        found = a @ b
    elif case.launcher == "tensorReduce":
        found = reduced[case.function]()
    elif case.function in right:
        found = right[case.function]()
    elif case.launcher == "tensorZip":
        found = getattr(torch, case.function)(a, b)
    else:
        found = getattr(torch, case.function)(a)
    np.testing.assert_allclose(found.expand(case.out_shape).numpy(), case.expected, rtol=1e-12, atol=1e-12)


def test_float32_is_near_enough_and_another_result_is_not() -> None:
    for name, case in CASES.items():
        right = case.expected.astype(np.float32)
        assert wrong(case, right) == "", name
        assert wrong(case, np.zeros_like(right)), name
        other = right.reshape(-1).copy()
        other[-1] = -other[-1] - np.float32(1)
        if not np.isnan(right.reshape(-1)[-1]):
            assert "1 of" in wrong(case, other), name


EXACT = ("reduce-million-to-one", "reduce-million-0", "reduce-view-1", "matmul-long", "matmul-view-both")


@pytest.mark.parametrize("name", EXACT)
def test_sums_are_exact_in_any_order(name: str) -> None:
    case = CASES[name]
    rng = np.random.default_rng(0)
    a = case.a.array.astype(np.float32)
    if case.b is None:
        order = rng.permutation(a.shape[case.dim])
        found = np.add.reduce(a.take(order, case.dim), axis=case.dim, keepdims=True)
    else:
        order = rng.permutation(a.shape[-1])
        found = a[..., order] @ case.b.array.astype(np.float32)[..., order, :]
    np.testing.assert_array_equal(found, case.expected)


def test_nan_must_be_where_it_is_expected_and_nowhere_else() -> None:
    case = CASES["zip-nan-add"]
    got = case.expected.copy()
    assert wrong(case, got) == ""
    assert wrong(case, np.nan_to_num(got))
    assert wrong(case, np.full_like(got, np.nan))


def test_a_result_that_is_missing_or_infinite_is_wrong() -> None:
    case = CASES["map-view-reversed"]
    assert wrong(case, None) == "it gives no result"
    assert wrong(case, np.zeros(3)) == "it gives no result"
    assert wrong(case, np.full(case.out_shape, np.inf))


def test_a_view_has_its_elements_where_the_strides_say() -> None:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    laid = Laid.of(array, (2, 0, 1))
    assert laid.strides == (3, 1, 6)
    np.testing.assert_array_equal(laid.array, array)
