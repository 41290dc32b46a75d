"""HW2's cases: what each probe and the oracle are given. NumPy only, and deterministic.

Tensors are float32, as MiniTorch keeps them. Values keep away from zero, weights are wide, and sizes differ from
one another, so that a missing ReLU or bias, a transposed matrix or a sum in place of a mean shows at 1e-4. A set
made from a secret seed has other values and sizes of the same kinds.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from grader.cases import Array, Case, Scalar
from reference.HW2 import programs
from reference.HW2.programs import Program

Float = NDArray[np.float64]
Inputs = dict[str, Array]
Sizes = Mapping[str, int]

PUBLIC = "public"
EMBEDDING = 50  # the default of the course's Network, which a student's trainer makes
DROPOUT_HIDDEN = 8  # few enough for the judge to tell from the output which units were dropped


@dataclass(frozen=True)
class Recipe:
    """How one case is made.

    Attributes:
        check: the check that it belongs to.
        name: its name within the check.
        fill: makes the input tensors for given sizes.
        sizes: the public set's sizes; another set's differ by one or two where they are above 2.
        fixed: scalars that are the same in every set.
    """

    check: str
    name: str
    fill: Callable[[Generator, Sizes], Inputs]
    sizes: Sizes = field(default_factory=dict)
    fixed: Mapping[str, Scalar] = field(default_factory=dict)

    def case(self, seed: int, variant: str) -> Case:
        """The case for a seed: its generator depends on its own name and on no other case."""
        rng = np.random.default_rng([seed, zlib.crc32(f"{variant}/{self.check}/{self.name}".encode())])
        sizes = dict(self.sizes) if variant == PUBLIC else _varied(self.sizes, rng)
        inputs = {name: _as_given(value) for name, value in self.fill(rng, sizes).items()}
        return Case(self.check, self.name, {**sizes, **self.fixed}, inputs)


def build(seed: int, variant: str = PUBLIC) -> list[Case]:
    """All cases of a fixture set, in a fixed order.

    Args:
        seed: a non-negative integer of any length.
        variant: ``public`` has the sizes listed in ``RECIPES``; any other name draws its own near them.
    """
    return [recipe.case(seed, variant) for recipe in RECIPES]


def _varied(sizes: Sizes, rng: Generator) -> dict[str, int]:
    varied = {name: size + int(rng.integers(0, 3)) if size > 2 else size for name, size in sizes.items()}
    fitting = {"train": lambda size: size - size % 5, "val": lambda size: size | 1}  # whole batches; an odd number
    return {name: fitting.get(name, int)(size) for name, size in varied.items()}


def _as_given(value: Array) -> Array:
    """Contiguous float32, or int32."""
    kind = np.int32 if np.issubdtype(value.dtype, np.integer) else np.float32
    return np.ascontiguousarray(value, dtype=kind)


# ---- P1 ----------------------------------------------------------------------------------------------------


def _named(program: Program) -> Inputs:
    return {"program": program.table(), **{f"x{i}": value for i, value in enumerate(program.inputs)}}


def _graph(build_program: Callable[[Program], None], rng: Generator, sizes: Sizes) -> Inputs:
    """A program, its inputs, and the derivative with which to begin (of the root's shape)."""
    program = Program(rng)
    build_program(program)
    shape = root_shape(program)
    return {**_named(program), "deriv": program.values(shape), "deriv2": program.values(shape)}


def _chain(rng: Generator, sizes: Sizes) -> Inputs:
    return _graph(partial(programs.chain, length=sizes["length"]), rng, sizes)


def _diamonds(rng: Generator, sizes: Sizes) -> Inputs:
    return _graph(partial(programs.diamonds, count=sizes["count"]), rng, sizes)


def _ladder(rng: Generator, sizes: Sizes) -> Inputs:
    return _graph(partial(programs.ladder, count=sizes["count"]), rng, sizes)


def _two_graphs(rng: Generator, sizes: Sizes) -> Inputs:
    """Two programs over the same leaves ``x0``, ``x1``."""
    first = Program(rng)
    x, y = first.leaf(2, 3), first.leaf(2, 3)
    first.op("mul", first.op("tanh", x), y)
    second = Program(rng, inputs=[])
    x, y = second.leaf(2, 3), second.leaf(2, 3)
    second.op("add", second.op("exp", second.op("neg", y)), second.op("mul", x, x))
    derivatives = {"deriv": first.values((2, 3)), "deriv2": first.values((2, 3))}
    return {**_named(first), "second": second.table(), **derivatives}


def root_shape(program: Program) -> tuple[int, ...]:
    """The shape of a program's result."""
    shapes: list[tuple[int, ...]] = []
    for step in program.steps:
        given = [shapes[i] for i in step.arguments]
        shapes.append(_shape(step.operation, given, step.settings, program))
    return shapes[-1]


def _shape(
    operation: str, given: list[tuple[int, ...]], settings: tuple[int, ...], program: Program
) -> tuple[int, ...]:
    if operation in ("leaf", "constant"):
        return program.inputs[settings[0]].shape
    if operation in ("add", "mul"):
        return np.broadcast_shapes(*given)
    if operation == "matmul":
        return (given[0][0], given[1][1])
    if operation == "sum":
        return tuple(1 if i == settings[0] else size for i, size in enumerate(given[0]))
    if operation == "permute":
        return tuple(given[0][i] for i in settings)
    return settings if operation == "view" else given[0]


GRAPHS: dict[str, Callable[[Program], None]] = {
    "twice": programs.twice,
    "diamond": programs.diamond,
    "late-left": programs.late_left,
    "late-right": programs.late_right,
    "fan-out": programs.fan_out,
    "constants": programs.constants,
    "unconnected": programs.unconnected,
    "random": programs.random_graph,
}
OPERATIONS: dict[str, Callable[[Program], None]] = {
    "broadcasting": programs.broadcasting,
    "reductions": programs.reductions,
    "permutes": programs.permutes,
    "views": programs.views,
    "products": programs.products,
    "layers": programs.layers,
}


# ---- P2 ----------------------------------------------------------------------------------------------------


def _nothing(rng: Generator, sizes: Sizes) -> Inputs:
    """A tensor file needs a tensor; the probe does not read it."""
    return {"nothing": np.zeros(1)}


def _linear(rng: Generator, sizes: Sizes) -> Inputs:
    batch, in_size, out_size = (sizes[name] for name in ("batch", "in_size", "out_size"))
    weights = rng.normal(0, 1, (in_size, out_size))
    return {
        "x": rng.normal(0, 1, (batch, in_size)),
        "weights": weights,
        "bias": rng.normal(0, 1, out_size),
        "dy": rng.normal(0, 1, (batch, out_size)),
    }


def _network(rng: Generator, sizes: Sizes) -> Inputs:
    """Hidden units of both signs, and outputs away from 0 and 1."""
    batch, words, dim, hidden = (sizes[name] for name in ("batch", "words", "embedding_dim", "hidden_dim"))
    scale = np.sqrt(words / dim)  # of the mean of the words
    return {
        "embeddings": rng.normal(0.3, 1, (batch, words, dim)),
        "w1": rng.normal(0, scale, (dim, hidden)),
        "b1": rng.uniform(-0.5, 0.5, hidden),
        "w2": rng.normal(0, 1 / np.sqrt(hidden), (hidden, 1)),
        "b2": rng.uniform(0.2, 0.5, 1),
        "dout": rng.uniform(0.5, 1.5, batch),
    }


def _dropout(rng: Generator, sizes: Sizes) -> Inputs:
    """Every hidden unit is near 1 and weighs a third of the one before: the output tells which were kept."""
    batch, words, dim = (sizes[name] for name in ("batch", "words", "embedding_dim"))
    hidden = DROPOUT_HIDDEN
    return {
        "embeddings": rng.normal(0, 1, (batch, words, dim)),
        "w1": rng.uniform(-0.03, 0.03, (dim, hidden)),
        "b1": rng.uniform(0.95, 1.05, hidden),
        "w2": 2.0 * 3.0 ** -np.arange(hidden).reshape(hidden, 1),
        "b2": np.array([-1.0]),
    }


# ---- P3 ----------------------------------------------------------------------------------------------------


def _loss(rng: Generator, sizes: Sizes) -> Inputs:
    """Outputs between 0.05 and 0.95, and random labels, both of them there where the batch has two."""
    batch = sizes["batch"]
    y = rng.integers(0, 2, batch)
    y[:2] = (1, 0)[:batch]
    return {"out": rng.uniform(0.05, 0.95, batch), "y": y.astype(np.float64)}


def _extreme(agree: bool, rng: Generator, sizes: Sizes) -> Inputs:
    out = np.array([0.0, 1.0, 1e-7, 1 - 1e-7])
    y = np.array([0.0, 1.0, 0.0, 1.0])
    return {"out": out, "y": y if agree else 1 - y}


def _sentences(rng: Generator, sizes: Sizes) -> Inputs:
    """Training and validation sentences, each unlike all others; every label is there in both.

    ``rest`` sentences are left over for a last batch that is not whole.
    """
    found: Inputs = {}
    for name, count in (("train", sizes["train"] + sizes.get("rest", 0)), ("val", sizes["val"])):
        y = rng.permutation(np.arange(count) % 2)
        x = rng.normal(0, 1, (count, sizes["words"], EMBEDDING)) + 0.4 * (2 * y[:, None, None] - 1)
        found |= {f"x_{name}": x, f"y_{name}": y.astype(np.float64)}
    return found


LOOP = {"words": 4, "train": 20, "val": 9}
LOOP_FIXED: Mapping[str, Scalar] = {"batch_size": 5, "epochs": 2, "learning_rate": 0.05, "seed": 7}
# The probe turns the network's answers round after each epoch, and training hardly moves them: of the accuracies of
# three epochs, one is lower than the one before. An odd number of sentences has no accuracy of one half.
TURNING: Mapping[str, Scalar] = {**LOOP_FIXED, "epochs": 3, "learning_rate": 0.001, "turns": 1}
# Weights so large that the outputs are 0 and 1, or next to them.
SATURATED: Mapping[str, Scalar] = {**LOOP_FIXED, "epochs": 1, "learning_rate": 0.001, "scale": 40}

RECIPES: tuple[Recipe, ...] = (
    *(Recipe("topological_sort", name, partial(_graph, made)) for name, made in GRAPHS.items()),
    Recipe("topological_sort", "exponential", partial(_graph, programs.exponential)),
    Recipe("topological_sort", "chain", _chain, {"length": 60}),
    Recipe("topological_sort", "diamonds", _diamonds, {"count": 6}),
    Recipe("gradients", "exponential", partial(_graph, programs.exponential), fixed={"adjoints": 1}),
    *(Recipe("gradients", name, partial(_graph, made)) for name, made in (GRAPHS | OPERATIONS).items()),
    Recipe("gradients", "depth-500", _chain, {"length": 500}),
    Recipe("accumulation", "one-graph", partial(_graph, programs.diamond), fixed={"fresh": 0}),
    Recipe("accumulation", "two-graphs", _two_graphs, fixed={"fresh": 1}),
    Recipe("chain_rule_once", "ladder-10", _ladder, {"count": 10}),
    Recipe("chain_rule_once", "diamonds-40", _diamonds, {"count": 40}),
    Recipe("deep", "depth-3000", _chain, {"length": 3000}),
    Recipe("leaf_root", "leaf", partial(_graph, programs.single_leaf)),
    Recipe("scalar_variable", "exponential", partial(_graph, programs.exponential)),
    Recipe("linear_init", "wide", _nothing, {"in_size": 2, "out_size": 12_000}),
    Recipe("linear_forward", "small", _linear, {"batch": 5, "in_size": 7, "out_size": 3}),
    Recipe("linear_forward", "wide", _linear, {"batch": 9, "in_size": 17, "out_size": 40}),
    Recipe("linear_forward", "ones", _linear, {"batch": 1, "in_size": 1, "out_size": 1}),
    Recipe("network_init", "wide", _nothing, {"embedding_dim": 60, "hidden_dim": 120}),
    Recipe("network_forward", "small", _network, {"batch": 6, "words": 5, "embedding_dim": 8, "hidden_dim": 13}),
    Recipe("network_forward", "wide", _network, {"batch": 11, "words": 17, "embedding_dim": 50, "hidden_dim": 24}),
    Recipe(
        "network_forward",
        "one-sentence",
        _network,
        {"batch": 1, "words": 3, "embedding_dim": 4, "hidden_dim": 7},
    ),
    Recipe(
        "network_dropout",
        "mask",
        _dropout,
        {"batch": 128, "words": 2, "embedding_dim": 6},
        {"hidden_dim": DROPOUT_HIDDEN, "dropout_prob": 0.25, "draws": 40},
    ),
    Recipe("loss", "batch", _loss, {"batch": 16}),
    Recipe("loss", "odd", _loss, {"batch": 7}),
    Recipe("loss", "one", _loss, {"batch": 1}),
    Recipe("loss_extremes", "right-and-sure", partial(_extreme, True)),
    Recipe("loss_extremes", "wrong-and-sure", partial(_extreme, False)),
    Recipe("loss_extremes_in_loop", "saturated", _sentences, LOOP, SATURATED),
    Recipe("training_loop", "two-epochs", _sentences, LOOP, LOOP_FIXED),
    Recipe("training_loop", "last-batch", _sentences, {**LOOP, "rest": 2}, {**LOOP_FIXED, "rest_may_raise": 1}),
    Recipe("validation_loop", "two-epochs", _sentences, LOOP, LOOP_FIXED),
    Recipe("validation_loop", "falling", _sentences, LOOP, TURNING),
    Recipe("accuracy", "corpus", _nothing, fixed={"runs": 3, "seed": 1}),
)
