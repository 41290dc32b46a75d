"""Probes of P1: ``topological_sort`` and ``backpropagate`` on programs of tensors."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from assignments.common import arrays
from assignments.common.outcome import Unwritten, Wrong, is_empty, run
from assignments.common.probe_io import Job, Report
from assignments.HW2.probes import load
from assignments.HW2.probes.graph import Graph
from assignments.HW2.probes.scalar import scalar_program

Status = dict[str, Any]
Case = dict[str, Any]


def _graph(job: Job, case: Case) -> tuple[Graph, dict[str, arrays.Array]]:
    inputs = arrays.read(case["inputs"])
    return Graph(load.minitorch(job), inputs["program"].tolist(), inputs), inputs


def _listed(order: object, longest: int) -> list[Any]:
    """What `topological_sort` returned, from any iterable, as a list of variables."""
    if not isinstance(order, Iterable):
        raise Wrong(f"topological_sort returns {type(order).__name__}, which is no sequence of variables")
    found = list(islice(order, longest))
    if strange := [v for v in found if not hasattr(v, "unique_id")]:
        kind = type(strange[0]).__name__
        kinds = {"int": "ints (unique_ids?)", "str": "strs (names?)"}.get(kind, f"{kind} objects")
        raise Wrong(f"the order contains {kinds}, where variables should be")
    return found


def probe_order(job: Job, case: Case) -> Status:
    """``order``: the numbers of the nodes that `topological_sort` returns for the root; ``again``: a second time.

    ``compared``: how often it has compared tensors by ``==``, as `in` does with a list of them.
    """

    def work(report: Report) -> None:
        sort = load.autodiff(job).topological_sort
        graph, _ = _graph(job, case)
        found = {}
        comparisons = graph.count_comparisons()
        for name in ("order", "again"):
            order = sort(graph.root)
            if order is None and is_empty(sort):
                raise Unwritten("topological_sort is empty")
            found[name] = np.array(graph.numbers(_listed(order, 4 * len(graph.nodes) + 4)), np.int64)
        found["compared"] = np.array([len(comparisons)], np.int64)
        arrays.write(case["out"], found)

    return run(job, case, work)


def _backpropagate(job: Job) -> Any:
    function = load.autodiff(job).backpropagate
    if is_empty(function):
        raise Unwritten("backpropagate is empty")
    return function


def probe_gradients(job: Job, case: Case) -> Status:
    """One call: the derivative of every leaf, which nodes have one, and what each node's backward was given."""

    def work(report: Report) -> None:
        backpropagate = _backpropagate(job)
        graph, inputs = _graph(job, case)
        graph.watch()
        backpropagate(graph.root, graph.tensor(inputs["deriv"]))
        found = graph.gradients()
        if "adjoints" in case["params"]:
            found["adjoints"] = _scalars(graph)
        arrays.write(case["out"], found)

    return run(job, case, work)


def _scalars(graph: Graph) -> list[float]:
    """What each node's backward was given, of a program of numbers; 0 for those that have none."""
    return [0.0 if adjoint is None else float(adjoint.sum()) for adjoint in graph.adjoints]


def probe_accumulation(job: Job, case: Case) -> Status:
    """Two calls on the same leaves, through one graph or (``fresh``) through two: the derivatives add up."""

    def work(report: Report) -> None:
        backpropagate = _backpropagate(job)
        graph, inputs = _graph(job, case)
        backpropagate(graph.root, graph.tensor(inputs["deriv"]))
        if case["params"]["fresh"]:
            table = inputs["second"].tolist()
            graph = Graph(load.minitorch(job), table, inputs, leaves=_in(table, graph))
        backpropagate(graph.root, graph.tensor(inputs["deriv2"]))
        arrays.write(case["out"], graph.gradients())

    return run(job, case, work)


def _in(table: list[list[int]], graph: Graph) -> dict[int, Any]:
    """The leaves of a graph by the numbers that they have in another program."""
    known = {graph.steps[i].settings[0]: leaf for i, leaf in graph.leaves().items()}
    other = [(i, row) for i, row in enumerate(table) if row[0] == 0]
    return {i: known[int(row[3])] for i, row in other if int(row[3]) in known}


def probe_calls(job: Job, case: Case) -> Status:
    """``calls`` [nodes]: how often `backpropagate` has used the chain rule on each node."""

    def work(report: Report) -> None:
        backpropagate = _backpropagate(job)
        graph, inputs = _graph(job, case)
        graph.watch()
        backpropagate(graph.root, graph.tensor(inputs["deriv"]))
        arrays.write(case["out"], {"calls": np.array(graph.calls, np.int64)})

    return run(job, case, work)


def probe_scalar(job: Job, case: Case) -> Status:
    """The derivatives by variables of ours that implement the protocol and nothing more."""

    def work(report: Report) -> None:
        backpropagate = _backpropagate(job)
        inputs = arrays.read(case["inputs"])
        root, leaves = scalar_program(inputs["program"].tolist(), inputs)
        backpropagate(root, 1.0)
        arrays.write(case["out"], {f"x{i}": np.array([leaf.derivative or 0.0]) for i, leaf in leaves.items()})

    return run(job, case, work)
