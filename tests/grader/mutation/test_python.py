"""Mutations of Python: what each operator makes of a small method."""

from __future__ import annotations

import pytest

from grader.mutation import python
from grader.mutation.changes import Region, mutants

SOURCE = b"""\
class Layer:
    def forward(self, x, y, size):
        # BEGIN
        total: Tensor = 0
        for i in range(1, size):
            if x[i] is None or not y.is_leaf():
                continue
            total += (x[i] - y).sum(dim=1) * 0.5
        both = self.first(x, y).view(size)
        self.second(both).append(both)
        return -both[:size] if i < size else total
        # END
"""
REGION = Region("layer.py", "Layer.forward", SOURCE.index(b"        total"), SOURCE.index(b"        # END"))
FOUND = list(mutants(SOURCE, REGION, python.changes(SOURCE, REGION)))


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("arithmetic", "total += (x[i] + y).sum(dim=1) * 0.5"),
        ("arithmetic", "total += ((x[i] - y).sum(dim=1) / 0.5)"),
        ("operand", "total += (x[i]).sum(dim=1) * 0.5"),
        ("operand", "total += (x[i] - y).sum(dim=1)"),
        ("comparison", "return -both[:size] if i <= size else total"),
        ("comparison", "if x[i] is not None or not y.is_leaf():"),
        ("condition", "if (x[i] is None and not y.is_leaf()):"),
        ("condition", "if (not (x[i] is None or not y.is_leaf())):"),
        ("condition", "return total"),
        ("sign", "if x[i] is None or y.is_leaf():"),
        ("sign", "return both[:size] if i < size else total"),
        ("constant", "for i in range((2), size):"),
        ("constant", "total += (x[i] - y).sum(dim=(0)) * 0.5"),
        ("constant", "total += (x[i] - y).sum(dim=1) * (0.25)"),
        ("method", "total += (x[i] - y).mean(dim=1) * 0.5"),
        ("method", "if x[i] is None or not y.is_constant():"),
        ("method", "self.second(both).extend(both)"),
        ("field", "both = self.second(x, y).view(size)"),
        ("call", "both = self.first(x, y)"),
        ("call", "both = (x).view(size)"),
        ("arguments", "both = self.first(y, x).view(size)"),
        ("arguments", "total += (x[i] - y).sum() * 0.5"),
        ("index", "total += (x[i + 1] - y).sum(dim=1) * 0.5"),
        ("index", "return -both[:] if i < size else total"),
        ("index", "return -both[:size - 1] if i < size else total"),
        ("assignment", "total = (x[i] - y).sum(dim=1) * 0.5"),
        ("assignment", "both += self.first(x, y).view(size)"),
        ("jump", "break"),
        ("return", "return None"),
        ("deletion", "pass"),
        ("order", "self.second(both).append(both)\nboth = self.first(x, y).view(size)"),
        ("name", "both = self.first(y, y).view(size)"),
    ],
)
def test_an_operator(kind: str, after: str) -> None:
    assert after in {mutant.after.replace("  ", " ") for mutant in FOUND if mutant.change.kind == kind}


def test_every_mutant_is_a_program() -> None:
    for mutant in FOUND:
        compile(mutant.source, mutant.id, "exec")


def test_annotations_stay() -> None:
    assert not [m.after for m in FOUND if "total" in m.before and "Tensor" in m.before and "Tensor" not in m.after][1:]


def test_only_the_region_changes() -> None:
    begin, end = SOURCE[: REGION.start], SOURCE[REGION.end :]
    assert all(m.source.startswith(begin) and m.source.endswith(end) and m.source != SOURCE for m in FOUND)
    assert len({m.source for m in FOUND}) == len(FOUND) == len({m.id for m in FOUND})


def test_the_functions_of_a_file() -> None:
    names = [name for name, _ in python.functions(SOURCE + b"def g():\n    def h(): pass\n")]
    assert names == ["Layer.forward", "g", "g.h"]
