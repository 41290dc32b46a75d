"""Names of numbers: what a factor is likely to be, from the sizes and scalars of each case."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

Params = Mapping[str, int | float]

SAME = 1e-3  # two factors are the same, relative
PLAIN = {2.0: "2", 0.5: "1/2", 3.0: "3", 1 / 3: "1/3", 4.0: "4", 0.25: "1/4", 1.5: "3/2", 2 / 3: "2/3"}


def name_of(values: Sequence[float], params: Sequence[Params], products: Mapping[str, str]) -> str:
    """The likely name of a factor that has these values in cases with these parameters; empty: none is known.

    Args:
        values: the factor in each case.
        params: each case's scalars.
        products: by name, products of parameters: ``C / NH``.
    """
    first = values[0]
    if all(_same(value, first) for value in values):
        plain = next((name for known, name in PLAIN.items() if _same(first, known)), "")
        if plain and (len(values) > 1 or not params[0]):
            return plain
    found = _explained_by_sizes(values, params, products)
    return " or ".join(found[:2])


def _explained_by_sizes(values: Sequence[float], params: Sequence[Params], products: Mapping[str, str]) -> list[str]:
    """Names that give the factor in every case; those alone that are not the same in all of them, if there are some."""
    for forms in (_plain_forms, _other_forms):
        candidates = [dict(forms(own, products)) for own in params]
        fitting = [
            name
            for name in candidates[0]
            if all(name in own and _same(own[name], value) for own, value in zip(candidates, values, strict=True))
        ]
        varied = [name for name in fitting if not all(_same(own[name], candidates[0][name]) for own in candidates)]
        if fitting:
            return varied or fitting
    return []


def _plain_forms(params: Params, products: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """A size, its root, and one over them; a number between 0 and 1, what it lacks to 1, and one over them."""
    for name, size in _sizes(params, products):
        yield from ((name, size), (f"1/{_bracketed(name)}", 1 / size))
        yield from ((f"sqrt({name})", math.sqrt(size)), (f"1/sqrt({name})", 1 / math.sqrt(size)))
    for name, value in params.items():
        if isinstance(value, float) and 0 < value < 1:
            yield from ((name, value), (f"1/{name}", 1 / value))
            yield from ((f"1 - {name}", 1 - value), (f"1/(1 - {name})", 1 / (1 - value)))


def _other_forms(params: Params, products: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """What is named where no plain form fits."""
    for name, size in _sizes(params, products):
        yield from ((f"2/{_bracketed(name)}", 2 / size), (f"{name} - 1", size - 1.0))
        yield from ((f"1/{_bracketed(name)}^2", 1 / size**2), (f"{_bracketed(name)}^2", size**2))


def _sizes(params: Params, products: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """Sizes above 1 by name, then the assignment's products of them."""
    yield from ((name, float(value)) for name, value in params.items() if isinstance(value, int) and value > 1)
    for name, product in products.items():
        if (value := _product(product, params)) is not None and value > 1:
            yield name, value


def _product(text: str, params: Params) -> float | None:
    """``C / NH`` or ``3 * C``; None where a parameter is not there."""
    value, operator = 1.0, "*"
    for token in re.findall(r"[A-Za-z]\w*|\d+|[*/]", text):
        if token in "*/":
            operator = token
            continue
        if not token.isdigit() and token not in params:
            return None
        number = float(token) if token.isdigit() else float(params[token])
        value = value * number if operator == "*" else value / number
    return value


def _bracketed(name: str) -> str:
    return f"({name})" if "*" in name or "/" in name else name


def _same(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=SAME)
