"""What is made wrong in ``gpt2_update``."""

from __future__ import annotations

import numpy as np

from grader.cases import Case
from grader.faults import Switches, family
from reference.A2.cases import Sizes, parameter_shapes
from reference.A2.faults.arrays import Float, Given, Outputs


def gpt2_update(case: Case, on: Switches) -> Outputs:
    """params, m and v [S, N] after each of the S steps; with no switch turned they are right."""
    x = Given(case)
    state = _State(case, on, x.params)
    kept: dict[str, list[Float]] = {"params": [], "m": [], "v": []}
    for t, grads in enumerate(x.grads, start=1):
        state.step(grads, t)
        kept["params"].append(state.params.copy())
        kept["m"].append((state.v if "m-and-v-swapped" in on else state.m).copy())
        kept["v"].append((state.m if "m-and-v-swapped" in on else state.v).copy())
    return {name: np.array(steps) for name, steps in kept.items()}


class _State:
    """Parameters and moments, and which elements are updated."""

    def __init__(self, case: Case, on: Switches, params: Float) -> None:
        self.on = on
        self.params = params
        self.m, self.v = np.zeros_like(params), np.zeros_like(params)
        names = ("lr", "beta1", "beta2", "eps", "weight_decay")
        self.lr, self.beta1, self.beta2, self.eps, self.decay = (float(case.params[name]) for name in names)
        if "betas-swapped" in on:
            self.beta1, self.beta2 = self.beta2, self.beta1
        self.correct_by = (float(case.params["beta1"]), float(case.params["beta2"]))
        if "betas-swapped-throughout" in on:
            self.beta1, self.beta2 = self.beta2, self.beta1
            self.correct_by = (self.beta1, self.beta2)
        sizes: Sizes = {name: int(case.params[name]) for name in ("V", "Vp", "maxT", "L", "NH", "C")}
        count = params.size
        if "first-tensor-only" in on:
            count = int(np.prod(parameter_shapes(sizes)["wte"]))
        self.updated = slice(0, count - 1 if "last-element" in on else count)

    def step(self, grads: Float, t: int) -> None:
        """One step, t = 1, 2, …"""
        u, on = self.updated, self.on
        g, w = grads[u], self.params[u]
        g = g + self.decay * w if "l2" in on else g
        if "moments-forgotten" in on:
            self.m[:], self.v[:] = 0.0, 0.0
        self._moments(g, u)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.params[u] = self._updated(w, g, self.m[u], self.v[u], t)

    def _moments(self, g: Float, u: slice) -> None:
        on = self.on
        new = 1.0 if "m-without-its-share" in on else 1.0 - self.beta1
        self.m[u] = self.beta1 * self.m[u] + new * g
        square = np.abs(g) if "v-without-square" in on else self.m[u] ** 2 if "v-of-m" in on else g * g
        new = 1.0 if "v-without-its-share" in on else 1.0 - self.beta2
        self.v[u] = self.beta2 * self.v[u] + new * square

    def _updated(self, w: Float, g: Float, m: Float, v: Float, t: int) -> Float:
        on, decay = self.on, self.decay
        step = g if "sgd" in on else self._direction(m, v, t, w)
        if "no-decay" in on or "l2" in on or "decay-scaled-by-v" in on:
            decay = 0.0
        decay = -decay if "decay-sign" in on else decay
        lr = 0.0 if "does-nothing" in on else self.lr
        by_step = step if "step-without-lr" in on else lr * step
        if "decay-after-the-step" in on:
            moved = w - by_step
            return moved - lr * decay * moved
        by_decay = decay * w if "decay-without-lr" in on else lr * decay * w
        return w + by_step - by_decay if "ascends" in on else w - by_step - by_decay

    def _direction(self, m: Float, v: Float, t: int, w: Float) -> Float:
        on, eps = self.on, 0.0 if "no-eps" in self.on else self.eps
        t = t + ("t-plus-1" in on) - ("t-from-0" in on)
        correct1, correct2 = (self._correction(beta, t) for beta in self.correct_by)
        m_hat = m if "no-correction-of-m" in on else m * correct1
        m_hat = m_hat + self.decay * w if "decay-scaled-by-v" in on else m_hat
        v_hat = v if "no-correction-of-v" in on else v * correct2
        if "correction-multiplied" in on:
            m_hat, v_hat = m / correct1, v / correct2
        if "eps-in-the-root" in on:
            return m_hat / np.sqrt(v_hat + eps)
        if "eps-before-correction" in on:
            corrected = 1.0 if "no-correction-of-v" in on else float(np.sqrt(correct2))
            return m_hat / (corrected * (np.sqrt(v) + eps))
        return m_hat / ((v_hat if "no-root" in on else np.sqrt(v_hat)) + eps)

    @staticmethod
    def _correction(beta: float, t: int) -> float:
        return float("inf") if t == 0 else 1.0 / (1.0 - beta**t)


COUNT = "t counts the steps from 1"
CORRECT = "both moments begin at zero, and so are too small at first: by which factor, after t steps?"
DECOUPLED = "AdamW's decay is decoupled: it acts on the parameter alone, and is scaled by the learning rate alone"
EPSILON = "theta -= lr * m_hat / (sqrt(v_hat) + eps): where does eps stand?"
MOMENTS = "m is the running mean of the gradient, v that of its square: write down what each becomes in a step"
KEPT = "the two moments live as long as the model"
BOUND = "compare the bound of the loop with num_parameters"

FAULTS = family(
    "adamw",
    "gpt2_update",
    "update",
    gpt2_update,
    {
        "t-from-0": ("t is one too small in the corrections of m and v, as if it counted from 0", COUNT),
        "t-plus-1": ("t is one too large in the corrections of m and v", COUNT),
        "no-correction-of-m": ("m is not corrected for its start at zero", CORRECT),
        "no-correction-of-v": ("v is not corrected for its start at zero", CORRECT),
        "no-correction=no-correction-of-m+no-correction-of-v": (
            "neither m nor v is corrected for its start at zero",
            CORRECT,
        ),
        "correction-multiplied": ("m and v are multiplied by 1 - beta^t in place of divided", CORRECT),
        "l2": ("weight_decay * param is added to the gradient (L2), and so gets into m and v", DECOUPLED),
        "no-decay": ("there is no weight decay", DECOUPLED),
        "decay-scaled-by-v": ("the weight decay is divided by sqrt(v), as m is", DECOUPLED),
        "decay-without-lr": ("the weight decay is not scaled by the learning rate", DECOUPLED),
        "step-without-lr": ("the step is not scaled by the learning rate; only the weight decay is", DECOUPLED),
        "decay-sign": ("the weight decay lets the weights grow", DECOUPLED),
        "decay-after-the-step": ("the weight decay is taken of the parameter after the step", DECOUPLED),
        "eps-in-the-root": ("eps is inside the square root", EPSILON),
        "eps-before-correction": ("eps is added to sqrt(v) before v is corrected", EPSILON),
        "no-eps": ("eps is left out", EPSILON),
        "no-root": ("the step is divided by v in place of its square root", EPSILON),
        "m-and-v-swapped": ("m is kept in v_memory, and v in m_memory", "which of the two is which struct field?"),
        "betas-swapped": ("beta1 and beta2 are swapped in the running means", MOMENTS),
        "betas-swapped-throughout": ("beta1 and beta2 are swapped, in the corrections too", MOMENTS),
        "moments-forgotten": ("m and v begin at zero in each step", KEPT),
        "last-element": ("the loop ends one element early", BOUND),
        "first-tensor-only": ("only the first tensor, wte, is updated", BOUND),
        "v-without-square": ("v is the running mean of |grad| in place of grad^2", MOMENTS),
        "v-of-m": ("v is the running mean of m^2 in place of grad^2", MOMENTS),
        "m-without-its-share": ("m is beta1 * m + grad, without the factor 1 - beta1", MOMENTS),
        "v-without-its-share": ("v is beta2 * v + grad^2, without the factor 1 - beta2", MOMENTS),
        "ascends": ("the parameters go up the gradient", "which sign has the step?"),
        "sgd": ("the step is the plain gradient: m and v are kept, and not used", EPSILON),
        "does-nothing": ("m and v are kept, and the parameters stay as they are", EPSILON),
    },
)
