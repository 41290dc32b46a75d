"""Reading YAML into strict models: unknown keys refused, errors with file, line and key."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from grader.errors import InfrastructureError


class Strict(BaseModel):
    """Base of every model that is read from a file: frozen, no unknown keys, no coercion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's, where PyYAML was built with it
Model = TypeVar("Model", bound=BaseModel)


def _line_of(node: yaml.Node | None, location: tuple[int | str, ...]) -> int:
    """The line of the YAML node that ``location`` leads to, as far as it leads."""
    line = 1
    for key in location:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == str(key)), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
    return line


def _problems(path: Path, text: str, error: ValidationError) -> str:
    root = yaml.compose(text, Loader=LOADER)  # the same: what one parser takes, the other may refuse
    lines = []
    for problem in error.errors():
        place = ".".join(str(key) for key in problem["loc"])
        lines.append(f"{path}:{_line_of(root, problem['loc'])}: {place or 'file'}: {problem['msg']}")
    return "\n".join(lines)


def load_yaml(path: Path, model: type[Model]) -> Model:
    """Reads ``path`` as a ``model``.

    Raises:
        InfrastructureError: the file is missing, is not YAML, or does not fit the model.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.load(text, Loader=LOADER)
        return model.model_validate(content)
    except OSError as error:
        raise InfrastructureError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise InfrastructureError(_problems(path, text, error)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, a date that there is not
        raise InfrastructureError(f"{path} is not YAML: {error}") from error
