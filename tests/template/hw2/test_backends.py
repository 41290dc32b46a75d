"""The NumPy backend gives what the plain loops give, and the right one answers."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

MAPS = ["neg", "sigmoid", "relu", "log", "exp", "tanh", "id", "inv"]
ZIPS = ["add", "mul", "lt", "eq", "is_close", "relu_back", "log_back", "inv_back", "pow_scalar"]
SHAPES = [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((1,), (2, 3)), ((2, 3, 4), (3, 1)), ((), (2,))]


@pytest.fixture
def backends(mt: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """Plain loops and NumPy."""
    monkeypatch.setenv("MINITORCH_BACKEND", "simple")
    return mt.TensorBackend(mt.SimpleOps), mt.TensorBackend(mt.NumpyOps)


def positive(shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform(0.1, 2.0, shape).astype(np.float32)


def laid_out(mt: Any, array: np.ndarray[Any, Any], permuted: bool, backend: Any) -> Any:
    """A tensor of the array, either row-major or as a permuted view."""
    if not permuted:
        return mt.tensor_from_numpy(array, backend=backend)
    order = tuple(range(array.ndim))[::-1]
    return mt.tensor_from_numpy(array.transpose(order), backend=backend).permute(*order)


def check_same(results: list[Any]) -> None:
    simple, numpy = results
    assert numpy.shape == simple.shape
    assert numpy._tensor.array.dtype == np.float32
    assert numpy._tensor.is_contiguous()
    np.testing.assert_allclose(numpy.to_numpy(), simple.to_numpy(), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("name", MAPS)
def test_maps(mt: Any, backends: tuple[Any, Any], name: str, permuted: bool) -> None:
    array = positive((2, 3, 4), 0)
    if name not in ("log", "inv"):
        array = array - 1
    check_same([getattr(b, f"{name}_map")(laid_out(mt, array, permuted, b)) for b in backends])


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", ZIPS)
def test_zips(
    mt: Any,
    backends: tuple[Any, Any],
    name: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    permuted: bool,
) -> None:
    a, b = positive(shapes[0], 1), positive(shapes[1], 2)
    check_same([getattr(f, f"{name}_zip")(laid_out(mt, a, permuted, f), laid_out(mt, b, False, f)) for f in backends])


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("name", ["add", "mul", "max"])
def test_reduces(mt: Any, backends: tuple[Any, Any], name: str, dim: int, permuted: bool) -> None:
    array = positive((2, 3, 4), 3) - 1
    check_same([getattr(f, f"{name}_reduce")(laid_out(mt, array, permuted, f), dim) for f in backends])


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize(
    "shapes", [((3, 4), (4, 2)), ((2, 3, 4), (4, 2)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2))]
)
def test_matmul(
    mt: Any, backends: tuple[Any, Any], shapes: tuple[tuple[int, ...], tuple[int, ...]], permuted: bool
) -> None:
    a, b = positive(shapes[0], 4), positive(shapes[1], 5)
    results = [f.matrix_multiply(laid_out(mt, a, permuted, f), laid_out(mt, b, permuted, f)) for f in backends]
    check_same(results)
    np.testing.assert_allclose(results[0].to_numpy(), a @ b, rtol=1e-5)


@pytest.mark.parametrize("name", ["sigmoid", "relu", "exp", "tanh", "log", "inv", "neg", "id"])
def test_nan_passes_through_maps(mt: Any, backends: tuple[Any, Any], name: str) -> None:
    for f in backends:
        assert np.isnan(getattr(f, f"{name}_map")(mt.tensor([float("nan")], backend=f)).item())


def test_nan_passes_through_the_maximum(mt: Any, backends: tuple[Any, Any]) -> None:
    for f in backends:
        for values in ([1.0, float("nan"), 3.0], [float("nan"), 1.0], [1.0, float("nan")]):
            assert np.isnan(f.max_reduce(mt.tensor(values, backend=f), 0).item())


def test_an_unknown_function_runs_element_by_element(mt: Any, backends: tuple[Any, Any]) -> None:
    x = mt.tensor([[1.0, 2.0]])
    assert mt.NumpyOps.map(lambda v: 3 * v)(x).to_numpy().tolist() == [[3.0, 6.0]]
    assert mt.NumpyOps.zip(lambda v, w: v - w)(x, x).to_numpy().tolist() == [[0.0, 0.0]]
    assert mt.NumpyOps.reduce(lambda v, w: v - w, 10.0)(x, 1).to_numpy().tolist() == [[7.0]]


def test_shapes_that_do_not_fit_are_named(mt: Any, backends: tuple[Any, Any]) -> None:
    for f in backends:
        a, b = mt.ones((2, 3), f), mt.ones((4, 5), f)
        with pytest.raises(mt.IndexingError, match=r"\(2, 3\) and \(4, 5\)"):
            f.add_zip(a, b)
        with pytest.raises(ValueError, match=r"\(2, 3\) and \(4, 5\)"):
            f.matrix_multiply(a, b)


@pytest.mark.parametrize(
    ("name", "cuda", "simple"),
    [
        ("auto", "NumpyOps", "NumpyOps"),
        ("numpy", "NumpyOps", "NumpyOps"),
        ("simple", "SimpleOps", "SimpleOps"),
    ],
)
def test_which_operations_answer(mt: Any, monkeypatch: pytest.MonkeyPatch, name: str, cuda: str, simple: str) -> None:
    monkeypatch.setenv("MINITORCH_BACKEND", name)
    monkeypatch.setattr(sys.modules["minitorch.cuda_kernel_ops"], "problem", lambda: "no GPU")
    assert mt.TensorBackend(mt.CudaKernelOps).ops.__name__ == cuda
    assert mt.TensorBackend(mt.SimpleOps).ops.__name__ == simple
    assert mt.TensorBackend(mt.NumpyOps).ops.__name__ == "NumpyOps"


def test_a_demand_for_cuda_is_refused_with_the_reason(mt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINITORCH_BACKEND", "cuda")
    monkeypatch.setattr(sys.modules["minitorch.cuda_kernel_ops"], "problem", lambda: "no GPU here")
    with pytest.raises(RuntimeError, match="no GPU here"):
        mt.TensorBackend(mt.CudaKernelOps)


def test_an_unknown_backend_is_refused(mt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINITORCH_BACKEND", "gpu")
    with pytest.raises(ValueError, match="auto, cuda, numpy, simple"):
        mt.TensorBackend(mt.SimpleOps)


def fake_pycuda(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, driver: str, autoinit: str) -> None:
    package = tmp_path / "pycuda"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "driver.py").write_text(driver)
    (package / "autoinit.py").write_text(autoinit)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [n for n in sys.modules if n.split(".")[0] == "pycuda"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def cuda(mt: Any) -> Any:
    module: Any = sys.modules["minitorch.cuda_kernel_ops"]
    module.problem.cache_clear()
    module.library.cache_clear()
    return module


def test_without_pycuda(cuda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    monkeypatch.setitem(sys.modules, "pycuda", None)
    assert "PyCUDA is not installed" in cuda.problem()


@pytest.mark.parametrize(
    ("driver", "autoinit", "message"),
    [
        ("raise ImportError('libcuda.so.1: not there')", "", "cannot load the NVIDIA driver"),
        ("", "raise RuntimeError('no CUDA-capable device')", "gives no GPU"),
        ("", "", "The kernels are not compiled"),
    ],
)
def test_what_else_is_missing_for_cuda(
    cuda: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, driver: str, autoinit: str, message: str
) -> None:
    fake_pycuda(monkeypatch, tmp_path, driver, autoinit)
    monkeypatch.setattr(cuda, "LIBRARY", tmp_path / "combine.so")
    assert message in cuda.problem()
    with pytest.raises(RuntimeError, match=message):
        cuda.library()
