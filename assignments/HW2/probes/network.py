"""Probes of P2: ``Linear`` and ``Network``, over the reference's automatic differentiation."""

from __future__ import annotations

from typing import Any

import numpy as np

from assignments.common import arrays
from assignments.common.outcome import Unwritten, Wrong, is_empty, run
from assignments.common.probe_io import Job, Report
from assignments.HW2.probes import load
from assignments.HW2.probes.parameters import (
    Holders,
    array_of,
    by_shape,
    held,
    hidden_units,
    other_values,
    registered,
    set_by_shape,
    shape_of,
)

Status = dict[str, Any]
Case = dict[str, Any]
Given = dict[str, arrays.Array]

HIDDEN_AXIS = {"w1": 1, "b1": 0, "w2": 0}


def probe_linear_init(job: Job, case: Case) -> Status:
    """The registered parameters of a new `Linear` by their shapes."""

    def work(report: Report) -> None:
        params = case["params"]
        layer = load.sentiment(job).Linear(params["in_size"], params["out_size"])
        shapes = {"weights": (params["in_size"], params["out_size"]), "bias": (params["out_size"],)}
        parameters = _registered(layer, "Linear")
        found = by_shape(parameters, shapes)
        if lacking := [shapes[name] for name in shapes if name not in found]:
            raise Wrong(_other_parameters(layer, parameters, lacking))
        arrays.write(case["out"], found)

    return run(job, case, work)


def _other_parameters(layer: Any, parameters: list[Any], lacking: list[tuple[int, ...]]) -> str:
    """What a `Linear` has in place of parameters of the right shapes."""
    made = " and ".join(str(list(shape_of(p))) for p in parameters)
    known = [id(p) for p in parameters]
    loose = [name for _, name, value in held(layer) if id(value) not in known and shape_of(value) in lacking]
    text = f"Linear's parameters have the shapes {made}, should be [in_size, out_size] and [out_size]"
    return text + (f"; {loose[0]} is no parameter: make it with RParam" if loose else "")


def _registered(module: Any, name: str) -> list[Any]:
    parameters = registered(module)
    if not parameters and is_empty(type(module).__init__):
        raise Unwritten(f"{name}.__init__ is empty")
    if not parameters:
        raise Wrong(f"{name} has no parameters; make them with RParam and assign them to attributes")
    return parameters


def probe_linear_forward(job: Job, case: Case) -> Status:
    """What `Linear` makes of a batch, with weights and bias that we set, and the derivatives."""

    def work(report: Report) -> None:
        module, framework = load.sentiment(job), load.minitorch(job)
        params, given = case["params"], arrays.read(case["inputs"])
        layer = module.Linear(params["in_size"], params["out_size"])
        values = {"weights": given["weights"], "bias": given["bias"]}
        holders = set_by_shape(layer, values, framework, module.BACKEND)
        layer.forward(framework.tensor(other_values(given["x"]), backend=module.BACKEND))
        x = framework.tensor(given["x"].tolist(), backend=module.BACKEND, requires_grad=True)
        y = layer.forward(x)
        found = {"y": _result(y, layer.forward, "Linear.forward")}
        holders["x"] = lambda: x
        arrays.write(case["out"], {**found, **_derivatives(y, given["dy"], holders, framework, given)})

    return run(job, case, work)


def _derivatives(
    out: Any, derivative: arrays.Array, holders: Holders, framework: Any, given: dict[str, arrays.Array]
) -> dict[str, arrays.Array]:
    """``d<name>``: what the tensors that were set have received from ``out``; zeros where that is nothing."""
    if tuple(out.shape) != derivative.shape or out.is_constant():
        return {}
    out.backward(framework.tensor(derivative.tolist(), backend=out.backend))
    found = {}
    for name, holder in holders.items():
        right, grad = given[name], getattr(holder(), "grad", None)
        array = np.zeros_like(right) if grad is None else np.array(grad.to_numpy())
        transposed = array.shape != right.shape and array.shape == right.shape[::-1]
        found[f"d{name}"] = array.T if transposed else array.reshape(right.shape)
    return found


def _result(out: Any, function: Any, name: str) -> arrays.Array:
    if out is None and is_empty(getattr(function, "__func__", function)):
        raise Unwritten(f"{name} is empty")
    if not hasattr(out, "to_numpy"):
        raise Wrong(f"{name} returns {type(out).__name__}, should be a tensor")
    return array_of(out)


def make_network(module: Any, params: dict[str, Any]) -> Any:
    """A `Network` with sizes by keyword, since defaults differ."""
    sizes = {name: params[name] for name in ("embedding_dim", "hidden_dim")}
    return module.Network(**sizes, dropout_prob=float(params.get("dropout_prob", 0.0)))


def probe_network_init(job: Job, case: Case) -> Status:
    """The registered parameters of a new `Network` by their shapes."""

    def work(report: Report) -> None:
        params = case["params"]
        dim, hidden = params["embedding_dim"], params["hidden_dim"]
        network = make_network(load.sentiment(job), params)
        shapes = {"w1": (dim, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
        parameters = _registered(network, "Network")
        found = by_shape(parameters, shapes)
        if len(found) < len(parameters):
            report.send(wrong=_surplus(parameters, shapes))
        arrays.write(case["out"], found)

    return run(job, case, work)


def _surplus(parameters: list[Any], shapes: dict[str, tuple[int, ...]]) -> str:
    """What is wrong with parameters of which some fit nowhere."""
    if len(parameters) > len(shapes):
        return f"Network has {len(parameters)} parameters, two linear layers have {len(shapes)}"
    there, right = (", ".join(str(list(s)) for s in some) for some in (map(shape_of, parameters), shapes.values()))
    return f"Network's parameters have the shapes {there}; two linear layers have {right}"


def _set_network(job: Job, case: Case) -> tuple[Any, Any, Holders, Given]:
    """The network with our parameters, the embeddings as a tensor, what holds the parameters, and these."""
    module, framework = load.sentiment(job), load.minitorch(job)
    given = arrays.read(case["inputs"])
    network = make_network(module, case["params"])
    units = hidden_units(network, case["params"]["embedding_dim"], case["params"]["hidden_dim"])
    values = _widened({name: given[name] for name in ("w1", "b1", "w2", "b2")}, units)
    holders = set_by_shape(network, values, framework, module.BACKEND)
    return network, framework.tensor(given["embeddings"].tolist(), backend=module.BACKEND), holders, values


def _widened(given: Given, units: int) -> Given:
    """Parameters for so many hidden units: those on top do nothing, so the output stays what it is.

    A network that ignores `hidden_dim` is its constructor's fault, and its forward is judged all the same.
    """
    found = dict(given)
    for name, axis in HIDDEN_AXIS.items():
        ends = [(0, units - n if i == axis else 0) for i, n in enumerate(given[name].shape)]
        found[name] = np.pad(given[name], ends)
    return found


def probe_network_forward(job: Job, case: Case) -> Status:
    """What `Network` makes of sentences, with parameters that we set, and without dropout."""

    def work(report: Report) -> None:
        network, embeddings, holders, values = _set_network(job, case)
        network.eval()
        network.forward(load.minitorch(job).tensor(other_values(embeddings.to_numpy()), backend=embeddings.backend))
        out = network.forward(embeddings)
        found = {"out": _result(out, network.forward, "Network.forward")}
        given = arrays.read(case["inputs"])
        derivatives = _derivatives(out, given["dout"], holders, load.minitorch(job), values)
        asked = {name: tuple(slice(n) for n in given[name[1:]].shape) for name in derivatives}
        arrays.write(case["out"], {**found, **{name: value[asked[name]] for name, value in derivatives.items()}})

    return run(job, case, work)


def probe_network_dropout(job: Job, case: Case) -> Status:
    """``training`` [draws, batch] and ``evaluation`` [batch]: the outputs in both modes, with dropout on."""

    def work(report: Report) -> None:
        network, embeddings, *_ = _set_network(job, case)

        def output() -> arrays.Array:
            return _result(network.forward(embeddings), network.forward, "Network.forward")

        network.train()
        training = np.array([output() for _ in range(case["params"]["draws"])])
        network.eval()
        arrays.write(case["out"], {"training": training, "evaluation": output()})

    return run(job, case, work)
