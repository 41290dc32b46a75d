"""Modules, which form a tree, and the parameters that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Parameter:
    """A value that training changes, usually a `minitorch.Tensor`.

    Attributes:
        value: the current tensor, always a leaf.
        name: its name, which the tensor bears too.
    """

    def __init__(self, x: Any, name: str | None = None) -> None:
        self.name = name
        self.update(x)

    def update(self, x: Any) -> None:
        """Put a new tensor in place of the current one; it begins without a derivative."""
        self.value = x
        if hasattr(x, "requires_grad_"):
            x.requires_grad_(True)
            if self.name:
                x.name = self.name

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)


class Module:
    """A part of a network: parameters, and modules inside it.

    Parameters and modules are found by being assigned to attributes. What is not there reads as None.

    Attributes:
        training: whether it is in training mode, as opposed to evaluation mode.
    """

    _modules: dict[str, Module]
    _parameters: dict[str, Parameter]
    training: bool

    def __init__(self) -> None:
        self._modules = {}
        self._parameters = {}
        self.training = True

    def modules(self) -> Sequence[Module]:
        """The modules directly inside this one."""
        return list(self._modules.values())

    def train(self) -> None:
        """Set training mode, here and in all modules inside."""
        self._set_training(True)

    def eval(self) -> None:
        """Set evaluation mode, here and in all modules inside."""
        self._set_training(False)

    def _set_training(self, training: bool) -> None:
        for module in self.modules():
            module._set_training(training)
        self.training = training

    def named_parameters(self) -> Sequence[tuple[str, Parameter]]:
        """All parameters with their names, such as ``bias`` or, further inside, ``linear1.bias``."""
        found = list(self._parameters.items())
        for prefix, module in self._modules.items():
            found += [(f"{prefix}.{name}", parameter) for name, parameter in module.named_parameters()]
        return found

    def parameters(self) -> Sequence[Parameter]:
        """All parameters, here and in all modules inside."""
        return [parameter for _, parameter in self.named_parameters()]

    def add_parameter(self, k: str, v: Any) -> Parameter:
        """Make a parameter of the value ``v`` under the name ``k``."""
        parameter = Parameter(v, k)
        self._children("_parameters")[k] = parameter
        return parameter

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute; every module has its own."""
        raise NotImplementedError(f"{type(self).__name__}.forward is not written")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The same as `forward`."""
        return self.forward(*args, **kwargs)

    def __setattr__(self, key: str, val: Any) -> None:
        if isinstance(val, Parameter):
            self._children("_parameters")[key] = val
        elif isinstance(val, Module):
            self._children("_modules")[key] = val
        else:
            super().__setattr__(key, val)

    def __getattr__(self, key: str) -> Any:
        for kind in ("_parameters", "_modules"):
            children = self.__dict__.get(kind, {})
            if key in children:
                return children[key]
        return None

    def _children(self, kind: str) -> dict[str, Any]:
        children: dict[str, Any] | None = self.__dict__.get(kind)
        if children is None:
            raise AttributeError(f"{type(self).__name__}: call super().__init__() before assigning to it")
        return children

    def __repr__(self) -> str:
        inside = [f"({name}): {module!r}".replace("\n", "\n  ") for name, module in self._modules.items()]
        body = "\n  " + "\n  ".join(inside) + "\n" if inside else ""
        return f"{type(self).__name__}({body})"


__all__ = [
    "Module",
    "Parameter",
]
