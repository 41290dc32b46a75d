"""A training loop whose training half may raise: its statements are passed over, so that validation is reached.

The probe of the validation loop uses it where the training step raises. What handles validation data is left as it is.
"""

from __future__ import annotations

import ast
import sys
from types import ModuleType

TRAINER, TRAIN = "SentenceSentimentTrain", "train"
VALIDATION_DATA = "data_val"


def module(name: str, path: str) -> ModuleType:
    """The student's file as a module, with a patient training half."""
    with open(path, "rb") as file:
        tree = ast.parse(file.read(), path)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == TRAINER:
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == TRAIN:
                    _make_patient(inner)
    found = sys.modules[name] = ModuleType(name)
    found.__file__ = path
    exec(compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True), vars(found))
    return found


def _make_patient(train: ast.FunctionDef) -> None:
    """Guards what an epoch does with nothing that comes from the validation data."""
    of_validation = {VALIDATION_DATA}
    for statement in train.body:
        if isinstance(statement, ast.For | ast.While):
            statement.body = _half_guarded(statement.body, of_validation)
        elif _names(statement, ast.Load) & of_validation:
            of_validation |= _names(statement, ast.Store)


def _half_guarded(body: list[ast.stmt], of_validation: set[str]) -> list[ast.stmt]:
    """An epoch's statements; a name that validation data is assigned to hands this on."""
    found = []
    for statement in body:
        if _names(statement, ast.Load) & of_validation:
            of_validation |= _names(statement, ast.Store)
            found.append(statement)
        else:
            found.append(_guarded(statement))
    return found


def _names(statement: ast.stmt, use: type[ast.expr_context]) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, use)}


def _guarded(statement: ast.stmt) -> ast.stmt:
    """The statement in a ``try``, and each one inside it in one of its own: what follows one that raises still runs."""
    for field in ("body", "orelse", "finalbody"):
        if inner := getattr(statement, field, None):
            setattr(statement, field, [_guarded(entry) for entry in inner])
    for handler in getattr(statement, "handlers", []):
        handler.body = [_guarded(entry) for entry in handler.body]
    passing = ast.ExceptHandler(type=ast.Name("Exception", ast.Load()), name=None, body=[ast.Pass()])
    return ast.copy_location(ast.Try(body=[statement], handlers=[passing], orelse=[], finalbody=[]), statement)
