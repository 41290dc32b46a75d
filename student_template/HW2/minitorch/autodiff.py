"""Automatic differentiation in reverse over a graph of variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol


def central_difference(f: Callable[..., Any], *vals: Any, arg: int = 0, epsilon: float = 1e-6) -> Any:
    """Approximate a derivative of ``f``.

    Args:
        f: a function of numbers.
        *vals: where to take the derivative.
        arg: by which argument.
        epsilon: the step to either side.

    Returns:
        ``(f(x + epsilon) - f(x - epsilon)) / (2 epsilon)``, with ``x`` the argument number ``arg``.
    """
    above, below = list(vals), list(vals)
    above[arg] = above[arg] + epsilon
    below[arg] = below[arg] - epsilon
    return (f(*above) - f(*below)) / (2 * epsilon)


class Variable(Protocol):
    """A node of the computation graph; `minitorch.Tensor` is one."""

    def accumulate_derivative(self, x: Any) -> None:
        """Add ``x`` to the derivative that this leaf has gathered."""
        ...

    @property
    def unique_id(self) -> int:
        """A number that no other variable has."""
        ...

    def is_leaf(self) -> bool:
        """Whether the user made it: nothing comes before it, and it gathers a derivative."""
        ...

    def is_constant(self) -> bool:
        """Whether it takes no part in differentiation."""
        ...

    @property
    def parents(self) -> Iterable[Variable]:
        """The variables that it was computed from, constants too."""
        ...

    def chain_rule(self, d_output: Any) -> Iterable[tuple[Variable, Any]]:
        """Pass a derivative on to the parents.

        Args:
            d_output: the derivative of the final result by this variable.

        Returns:
            Each parent, constants too, with the part of its derivative that comes through this variable.
        """
        ...


def topological_sort(variable: Variable) -> Iterable[Variable]:
    """Order the graph so that every variable comes before its parents.

    Args:
        variable: the final result, at which the order begins.

    Returns:
        Every variable that ``variable`` depends on, and itself, once each; no constants.
    """
    # BEGIN HW2_1
    # TODO: Walk the graph depth-first from `variable`, each variable once, and skip constants.
    # A variable is finished when all its parents are. In which order do the variables finish, and how
    # does that help?
    raise NotImplementedError("topological_sort is yours to write")
    # END HW2_1


def backpropagate(variable: Variable, deriv: Any) -> None:
    """Compute the derivative of ``variable`` by every leaf that it depends on.

    Nothing is returned: each leaf receives its derivative through `Variable.accumulate_derivative`.

    Args:
        variable: the final result.
        deriv: its own derivative, with which to begin.
    """
    # BEGIN HW2_1
    # TODO: Go through the variables in topological order, and keep the derivative of each in a
    # dictionary. A variable that several others depend on gets a part from each of them: add the parts up
    # before you use the chain rule on it. A leaf accumulates its derivative.
    raise NotImplementedError("backpropagate is yours to write")
    # END HW2_1


@dataclass
class Context:
    """What the forward pass of a function keeps for its backward pass.

    Attributes:
        no_grad: nothing has a derivative, so nothing needs to be kept.
        saved_values: what was kept.
    """

    no_grad: bool = False
    saved_values: tuple[Any, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        """Keep ``values`` for the backward pass."""
        if not self.no_grad:
            self.saved_values = values

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The same as ``saved_values``."""
        return self.saved_values
