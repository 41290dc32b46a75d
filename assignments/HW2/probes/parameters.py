"""Parameters found by shape, whatever their names, set, and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from assignments.common.arrays import Array
from assignments.common.outcome import Wrong

Shape = tuple[int, ...]
Held = tuple[Any, str, Any]
Holders = dict[str, Callable[[], Any]]


def registered(module: Any) -> list[Any]:
    """The parameters that an optimiser would be given."""
    return list(module.parameters())


def held(module: Any) -> Iterator[Held]:
    """(owner, attribute, value) of all parameters and tensors in a module and those inside it, registered or not."""
    for owner in _modules(module):
        for name, parameter in vars(owner).get("_parameters", {}).items():
            yield owner, name, parameter
        for name, value in list(vars(owner).items()):
            if hasattr(value, "_tensor") or (hasattr(value, "value") and hasattr(value, "update")):
                yield owner, name, value


def _modules(module: Any) -> Iterator[Any]:
    """A module and all that are inside it; those in lists, which it does not know of, too."""
    yield module
    lists = [value for value in vars(module).values() if isinstance(value, list | tuple)]
    inside = [*vars(module).get("_modules", {}).values(), *(entry for entries in lists for entry in entries)]
    for entry in inside:
        if hasattr(entry, "named_parameters"):
            yield from _modules(entry)


def shape_of(holder: Any) -> Shape:
    """The shape of a parameter's value, or of a tensor."""
    return tuple(getattr(holder, "value", holder).shape)


def array_of(tensor: Any) -> Array:
    """A tensor's elements, float32 or float64."""
    return np.array(tensor.to_numpy())


def other_values(array: Array) -> Any:
    """The elements moved on by one place, as nested lists.

    Functions are called once before on these: what they keep of that call must not show.
    """
    return np.roll(array, 1).tolist()


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


def hidden_units(module: Any, dim: int, asked: int) -> int:
    """How many hidden units a network of two layers has: as many as were asked for, or more."""
    shapes = {shape_of(value) for _, _, value in held(module)}
    shapes |= {shape[::-1] for shape in shapes}
    found = [units for rows, units in (s for s in shapes if len(s) == 2) if rows == dim and (units, 1) in shapes]
    return asked if (dim, asked) in shapes else min((n for n in found if n > asked), default=asked)


def set_by_shape(module: Any, arrays: dict[str, Array], framework: Any, backend: Any) -> Holders:
    """Puts arrays into what the module holds of these shapes; a matrix also into one that is held transposed.

    Returns:
        For each name how to get at the tensor that was put in.

    Raises:
        Wrong: it holds nothing of such a shape.
    """
    left = list(held(module))
    found: Holders = {}
    for name, array in arrays.items():
        match = _holder(left, array)
        if match is None:
            shapes = ", ".join(str(list(shape_of(value))) for _, _, value in held(module)) or "none"
            raise Wrong(f"there is no parameter of shape {list(array.shape)} ({name}); the shapes are: {shapes}")
        left = [entry for entry in left if entry[2] is not match[2]]
        found[name] = _put(match, array, framework, backend)
    return found


def _put(match: Held, array: Array, framework: Any, backend: Any) -> Callable[[], Any]:
    owner, attribute, holder = match
    shape = shape_of(holder)
    given = np.ascontiguousarray(array.T) if shape == array.shape[::-1] != array.shape else array.reshape(shape)
    tensor = framework.tensor(given.tolist(), backend=backend, requires_grad=True)
    if hasattr(holder, "update"):
        holder.update(tensor)
        return lambda: holder.value
    setattr(owner, attribute, tensor)
    return lambda: getattr(owner, attribute)


def _holder(left: list[Held], array: Array) -> Held | None:
    """What has the array's shape, or that of its transpose, or that but for dimensions of 1."""
    alike: tuple[Callable[[Shape], bool], ...] = (
        lambda shape: shape == array.shape,
        lambda shape: shape == array.shape[::-1],
        lambda shape: [n for n in shape if n > 1] == [n for n in array.shape if n > 1],
    )
    return next((entry for fits in alike for entry in left if fits(shape_of(entry[2]))), None)
