"""Parameters found by shape, whatever their names, set, and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from assignments.HW2.probes.arrays import Array
from assignments.HW2.probes.outcome import Wrong

Shape = tuple[int, ...]


def registered(module: Any) -> list[Any]:
    """The parameters that an optimiser would be given."""
    return list(module.parameters())


def held(module: Any) -> Iterator[tuple[Any, str, Any]]:
    """(owner, attribute, value) of all parameters and tensors in a module and those inside it, registered or not."""
    for owner in _modules(module):
        for name, parameter in vars(owner).get("_parameters", {}).items():
            yield owner, name, parameter
        for name, value in list(vars(owner).items()):
            if hasattr(value, "_tensor") or (hasattr(value, "value") and hasattr(value, "update")):
                yield owner, name, value


def _modules(module: Any) -> Iterator[Any]:
    yield module
    for inside in vars(module).get("_modules", {}).values():
        yield from _modules(inside)


def shape_of(holder: Any) -> Shape:
    """The shape of a parameter's value, or of a tensor."""
    return tuple(getattr(holder, "value", holder).shape)


def array_of(tensor: Any) -> Array:
    """A tensor's elements, float32 or float64."""
    return np.array(tensor.to_numpy())


def by_shape(parameters: list[Any], shapes: dict[str, Shape]) -> dict[str, Array]:
    """The values of the first parameters that have these shapes; of two equal shapes, in order."""
    left = list(parameters)
    found = {}
    for name, shape in shapes.items():
        match = next((p for p in left if shape_of(p) == shape), None)
        if match is not None:
            left = [p for p in left if p is not match]
            found[name] = array_of(match.value)
    return found


def set_by_shape(module: Any, arrays: dict[str, Array], framework: Any, backend: Any) -> None:
    """Puts arrays into what the module holds of these shapes; a matrix also into one that is held transposed.

    Raises:
        Wrong: it holds nothing of such a shape.
    """
    left = list(held(module))
    for name, array in arrays.items():
        match = _holder(left, array)
        if match is None:
            shapes = ", ".join(str(list(shape_of(value))) for _, _, value in held(module)) or "none"
            raise Wrong(f"there is no parameter of shape {list(array.shape)} ({name}); the shapes are: {shapes}")
        left = [entry for entry in left if entry[2] is not match[2]]
        owner, attribute, holder = match
        given = array if shape_of(holder) == array.shape else np.ascontiguousarray(array.T)
        tensor = framework.tensor(given.tolist(), backend=backend)
        if hasattr(holder, "update"):
            holder.update(tensor)
        else:
            setattr(owner, attribute, tensor)


def _holder(left: list[tuple[Any, str, Any]], array: Array) -> tuple[Any, str, Any] | None:
    for shape in (array.shape, array.shape[::-1]):
        for entry in left:
            if shape_of(entry[2]) == shape:
                return entry
    return None
