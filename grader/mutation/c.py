"""Mutations of C, found in tree-sitter's syntax tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import tree_sitter_c
from tree_sitter import Language, Node, Parser

from grader.mutation.changes import Change, Region, Span

ARITHMETIC = {b"+": [b"-"], b"-": [b"+"], b"*": [b"/"], b"/": [b"*"], b"%": [b"/"]}
# the boundary, and the opposite
COMPARISONS = {
    b"<": [b"<=", b">="],
    b"<=": [b"<", b">"],
    b">": [b">=", b"<="],
    b">=": [b">", b"<"],
    b"==": [b"!="],
    b"!=": [b"=="],
}
LOGIC = {b"&&": [b"||"], b"||": [b"&&"]}
ASSIGNMENTS = {b"=": [b"+="], b"+=": [b"=", b"-="], b"-=": [b"+=", b"="], b"/=": [b"*=", b"="], b"*=": [b"/=", b"="]}
STEPS = {b"++": b"--", b"--": b"++"}
DECLARING = {"init_declarator", "pointer_declarator", "parameter_declaration", "declaration"}
NUMBER = re.compile(rb"(?P<digits>[0-9.]+(?:[eE][-+]?[0-9]+)?)(?P<suffix>[fF]?)$")


@dataclass(frozen=True)
class Variable:
    """A variable or parameter: its type without ``const``, and the bytes in which it is known."""

    name: bytes
    type: bytes
    known: Span


class Function:
    """A function's syntax, and what is declared in it."""

    def __init__(self, node: Node) -> None:
        self.node = node

    @property
    def name(self) -> str:
        """Its name."""
        return next(_text(n).decode() for n in _walk(self.node) if n.type == "identifier")

    @cached_property
    def variables(self) -> list[Variable]:
        """Parameters and variables, in the order in which they are declared."""
        found = []
        for node in _walk(self.node):
            if node.type in ("parameter_declaration", "declaration"):
                around = self.node if node.type == "parameter_declaration" else node.parent
                end = around.end_byte if around else node.end_byte
                found += [Variable(name, kind, (node.end_byte, end)) for name, kind in _declared(node)]
        return found

    def others(self, node: Node) -> list[bytes]:
        """The variables of the same type that are known at an identifier, beginning behind its own."""
        known = [v for v in self.variables if v.known[0] <= node.start_byte < v.known[1]]
        mine = next((v for v in reversed(known) if v.name == node.text), None)
        same = [v.name for v in known if mine is not None and v.type == mine.type]
        at = same.index(_text(node)) if mine is not None else 0
        return [name for name in same[at + 1 :] + same[:at] if name != node.text]

    @cached_property
    def fields(self) -> dict[bytes, list[bytes]]:
        """The fields that are used of the variables of each type, by the type."""
        kinds = {v.name: v.type for v in self.variables}
        found: dict[bytes, list[bytes]] = {}
        for node in _walk(self.node):
            if node.type == "field_expression" and (kind := kinds.get(_text(_child(node, "argument")))):
                names = found.setdefault(kind, [])
                if (name := _text(_child(node, "field"))) not in names:
                    names.append(name)
        return found

    def other_field(self, node: Node) -> bytes | None:
        """The next field that is used of the same type, for a field expression."""
        kinds = {v.name: v.type for v in self.variables}
        names = self.fields.get(kinds.get(_text(_child(node, "argument")), b""), [])
        field = _text(_child(node, "field"))
        return names[(names.index(field) + 1) % len(names)] if len(names) > 1 else None


def functions(source: bytes) -> list[tuple[str, Span]]:
    """The functions of a file: name and bytes."""
    return [(f.name, (f.node.start_byte, f.node.end_byte)) for f in _functions(source)]


def changes(source: bytes, region: Region) -> Iterator[Change]:
    """Every change to a region that an operator makes, in the order of the text."""
    function = next(f for f in _functions(source) if f.node.start_byte <= region.start < f.node.end_byte)
    for node in _walk(function.node):
        if region.holds((node.start_byte, node.end_byte)):
            for operator in OPERATORS.get(node.type, ()):
                yield from operator(node, function)


def _functions(source: bytes) -> list[Function]:
    tree = Parser(Language(tree_sitter_c.language())).parse(source)
    return [Function(node) for node in tree.root_node.children if node.type == "function_definition"]


# ---- the tree ----------------------------------------------------------------------------------------------


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _text(node: Node) -> bytes:
    return node.text or b""


def _child(node: Node, field: str) -> Node:
    child = node.child_by_field_name(field)
    assert child is not None, f"{node.type} has no {field}"
    return child


def _put(kind: str, node: Node, by: bytes) -> Change:
    return Change(kind, node.start_byte, node.end_byte, by)


def _declared(node: Node) -> Iterator[tuple[bytes, bytes]]:
    """(name, type) of everything that a declaration declares."""
    base = _text(_child(node, "type"))
    for declarator in node.children_by_field_name("declarator"):
        inner, stars = declarator, b""
        while inner.type != "identifier":
            stars += b"*" if inner.type == "pointer_declarator" else b""
            below = inner.child_by_field_name("declarator")
            if below is None:
                break
            inner = below
        yield _text(inner), base + stars


# ---- the operators -----------------------------------------------------------------------------------------

Operator = Callable[[Node, Function], Iterator[Change]]


def _binary(node: Node, _: Function) -> Iterator[Change]:
    """Another operator; one of two operands left out; a bound moved by one."""
    operator, left, right = (_child(node, name) for name in ("operator", "left", "right"))
    sign = _text(operator)
    for kind, table in (("arithmetic", ARITHMETIC), ("comparison", COMPARISONS), ("condition", LOGIC)):
        yield from (_put(kind, operator, by) for by in table.get(sign, []))
    if sign in ARITHMETIC or sign in LOGIC:
        yield from (_put("operand", node, _text(side)) for side in (left, right))
    if sign in COMPARISONS and node.parent is not None and node.parent.type == "for_statement":
        yield from (_put("bound", right, _text(right) + by) for by in (b" - 1", b" + 1"))


def _assignment(node: Node, _: Function) -> Iterator[Change]:
    """``=`` and ``+=``; the sign of what is assigned."""
    operator, right = _child(node, "operator"), _child(node, "right")
    yield from (_put("assignment", operator, by) for by in ASSIGNMENTS.get(_text(operator), []))
    if operator.text == b"=":
        yield _put("sign", right, b"-(" + _text(right) + b")")


def _initializer(node: Node, _: Function) -> Iterator[Change]:
    """The sign of what a ``float`` begins with."""
    declaration, value = node.parent, _child(node, "value")
    is_float = declaration is not None and declaration.child_by_field_name("type") is not None
    if is_float and declaration is not None and _text(_child(declaration, "type")) == b"float":
        named = _child(node, "declarator").type == "identifier"
        if named and not NUMBER.fullmatch(_text(value)):
            yield _put("sign", value, b"-(" + _text(value) + b")")


def _step(node: Node, _: Function) -> Iterator[Change]:
    """A loop that runs the other way, or leaves out every second element."""
    operator, argument = _child(node, "operator"), _child(node, "argument")
    by = STEPS.get(_text(operator))
    if by is not None:
        yield _put("step", operator, by)
        yield _put("step", node, _text(argument) + b" " + _text(operator)[:1] + b"= 2")


def _number(node: Node, _: Function) -> Iterator[Change]:
    """Another constant."""
    match = NUMBER.fullmatch(_text(node))
    if match is None:
        return
    digits, suffix = match["digits"], match["suffix"].decode()
    if b"." in digits or b"e" in digits.lower():
        value = float(digits)
        values = [f"{v!r}{suffix}" for v in (value + 1, value / 2, 0.0) if v != value]
    else:
        values = [str(v) for v in (int(digits) + 1, int(digits) - 1) if v >= 0]
    yield from (_put("constant", node, text.encode()) for text in values)


def _negation(node: Node, _: Function) -> Iterator[Change]:
    """A sign, or a ``!``, left out."""
    if _text(_child(node, "operator")) in (b"-", b"!"):
        yield _put("sign", node, _text(_child(node, "argument")))


def _index(node: Node, _: Function) -> Iterator[Change]:
    """An index off by one."""
    index = _child(node, "index")
    yield from (_put("index", index, _text(index) + by) for by in (b" + 1", b" - 1"))


def _arguments(node: Node, _: Function) -> Iterator[Change]:
    """Two neighbouring arguments swapped."""
    given = node.named_children
    for left, right in pairwise(given):
        source = _text(node)
        between = source[left.end_byte - node.start_byte : right.start_byte - node.start_byte]
        yield Change("arguments", left.start_byte, right.end_byte, _text(right) + between + _text(left))


def _call(node: Node, _: Function) -> Iterator[Change]:
    """A call left out: its first argument in its place."""
    given = _child(node, "arguments").named_children
    if given and node.parent is not None and node.parent.type != "expression_statement":
        yield _put("call", node, b"(" + _text(given[0]) + b")")


def _statement(node: Node, _: Function) -> Iterator[Change]:
    """A statement left out."""
    yield _put("deletion", node, b";")


def _branch(node: Node, _: Function) -> Iterator[Change]:
    """A condition that is negated, always true, or never; its statement left out."""
    condition = _child(node, "condition")
    for by in (b"(!" + _text(condition) + b")", b"(1)", b"(0)"):
        yield _put("condition", condition, by)


def _choice(node: Node, _: Function) -> Iterator[Change]:
    """The two values of ``?:`` swapped, or one of them for both."""
    yes, no = _child(node, "consequence"), _child(node, "alternative")
    condition = _text(_child(node, "condition"))
    yield _put("condition", node, condition + b" ? " + _text(no) + b" : " + _text(yes))
    yield from (_put("condition", node, _text(side)) for side in (yes, no))


def _name(node: Node, function: Function) -> Iterator[Change]:
    """Another variable of the same type; not where a loop steps, which would never end."""
    parent = node.parent
    if parent is None or parent.type == "update_expression":
        return
    if parent.type == "call_expression" and parent.child_by_field_name("function") == node:
        return
    declares = parent.type in DECLARING and node in parent.children_by_field_name("declarator")
    if not declares:
        yield from (_put("name", node, name) for name in function.others(node)[:1])


def _field(node: Node, function: Function) -> Iterator[Change]:
    """Another field of the same struct."""
    if (name := function.other_field(node)) is not None:
        yield _put("field", _child(node, "field"), name)


OPERATORS: dict[str, tuple[Operator, ...]] = {
    "binary_expression": (_binary,),
    "assignment_expression": (_assignment,),
    "init_declarator": (_initializer,),
    "update_expression": (_step,),
    "number_literal": (_number,),
    "unary_expression": (_negation,),
    "subscript_expression": (_index,),
    "argument_list": (_arguments,),
    "call_expression": (_call,),
    "expression_statement": (_statement,),
    "if_statement": (_branch,),
    "conditional_expression": (_choice,),
    "identifier": (_name,),
    "field_expression": (_field,),
}
