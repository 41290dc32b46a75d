"""Mutations of Python, found in libcst's syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import libcst as cst

from grader.mutation.changes import Change, Region, Span
from grader.mutation.python_tree import Tree, following, is_value, parsed, scope_of, variables, walk

ARITHMETIC = {
    cst.Add: ["-"],
    cst.Subtract: ["+"],
    cst.Multiply: ["/", "+"],
    cst.Divide: ["*"],
    cst.MatrixMultiply: ["*"],
    cst.Modulo: ["//"],
    cst.FloorDivide: ["%"],
}
# the boundary, and the opposite
COMPARISONS = {
    cst.LessThan: ["<=", ">="],
    cst.LessThanEqual: ["<", ">"],
    cst.GreaterThan: [">=", "<="],
    cst.GreaterThanEqual: [">", "<"],
    cst.Equal: ["!="],
    cst.NotEqual: ["=="],
    cst.In: ["not in"],
    cst.NotIn: ["in"],
    cst.Is: ["is not"],
    cst.IsNot: ["is"],
}
# methods and functions that take one another's place: the same arguments, another meaning
NAMES = {
    "sum": ["mean"],
    "mean": ["sum"],
    "relu": ["sigmoid"],
    "sigmoid": ["relu"],
    "log": ["exp"],
    "exp": ["log"],
    "ones": ["zeros"],
    "zeros": ["ones"],
    "train": ["eval"],
    "eval": ["train"],
    "append": ["extend"],
    "extend": ["append"],
    "add": ["discard"],
    "pop": ["get"],
    "get": ["pop"],
    "is_leaf": ["is_constant"],
    "is_constant": ["is_leaf"],
    "zero_grad": ["step"],
    "step": ["zero_grad"],
}
CONSTANTS = {"True": "False", "False": "True"}


def functions(source: bytes) -> list[tuple[str, Span]]:
    """The functions of a file: qualified name and bytes."""
    tree = parsed(source)
    found = []
    for node in tree.nodes:
        if isinstance(node, cst.FunctionDef):
            scopes = [n.name.value for n in tree.around(node) if isinstance(n, cst.ClassDef | cst.FunctionDef)]
            found.append((".".join([*reversed(scopes), node.name.value]), tree.span(node)))
    return found


def changes(source: bytes, region: Region) -> Iterator[Change]:
    """Every change to a region that an operator makes, in the order of the text."""
    tree = parsed(source)
    for node in tree.nodes:
        if node in tree.spans and region.holds(tree.span(node)):
            for kind, operators in OPERATORS.items():
                if isinstance(node, kind):
                    for operator in operators:
                        yield from operator(tree, node)


# ---- the operators -----------------------------------------------------------------------------------------


def _binary(tree: Tree, node: cst.BinaryOperation) -> Iterator[Change]:
    """Another operator; one of two operands left out."""
    left, right = tree.text(node.left), tree.text(node.right)
    for by in ARITHMETIC.get(type(node.operator), []):
        yield tree.put("arithmetic", node, f"({left} {by} {right})")
    yield from (tree.put("operand", node, f"({side})" if node.lpar else side) for side in (left, right))


def _logic(tree: Tree, node: cst.BooleanOperation) -> Iterator[Change]:
    """``or`` for ``and``; one of two operands left out."""
    left, right = tree.text(node.left), tree.text(node.right)
    by = "or" if isinstance(node.operator, cst.And) else "and"
    yield tree.put("condition", node, f"({left} {by} {right})")
    yield from (tree.put("condition", node, side) for side in (left, right))


def _comparison(tree: Tree, node: cst.Comparison) -> Iterator[Change]:
    """Another comparison."""
    (target, *others) = node.comparisons
    if not others:
        left, right = tree.text(node.left), tree.text(target.comparator)
        for by in COMPARISONS.get(type(target.operator), []):
            yield tree.put("comparison", node, f"{left} {by} {right}")


def _branch(tree: Tree, node: cst.If | cst.While | cst.IfExp | cst.CompIf) -> Iterator[Change]:
    """A condition that is negated, always true, or never."""
    test = node.test
    yield tree.put("condition", test, f"(not ({tree.text(test)}))")
    if not isinstance(node, cst.While):
        yield tree.put("condition", test, "True")
    yield tree.put("condition", test, "False")


def _choice(tree: Tree, node: cst.IfExp) -> Iterator[Change]:
    """One of the two values for both."""
    yield from (tree.put("condition", node, tree.text(side)) for side in (node.body, node.orelse))


def _unary(tree: Tree, node: cst.UnaryOperation) -> Iterator[Change]:
    """A sign, or a ``not``, left out."""
    yield tree.put("sign", node, tree.text(node.expression))


def _number(tree: Tree, node: cst.Integer | cst.Float) -> Iterator[Change]:
    """Another constant."""
    value = node.evaluated_value
    others = [value + 1, value - 1] if isinstance(node, cst.Integer) else [value + 1, value / 2]
    yield from (tree.put("constant", node, f"({other!r})") for other in others)


def _constant(tree: Tree, node: cst.Name) -> Iterator[Change]:
    """The other truth value; another variable, method or attribute."""
    if node.value in CONSTANTS:
        yield tree.put("constant", node, CONSTANTS[node.value])
        return
    parent = tree.parents[node]
    if isinstance(parent, cst.Arg) and parent.keyword is node:
        return
    if isinstance(parent, cst.Attribute) and parent.attr is node:
        yield from (tree.put("method", node, by) for by in NAMES.get(node.value, []))
    elif not isinstance(parent, cst.AnnAssign | cst.Annotation | cst.Subscript) or node.value in variables(tree, node):
        yield from (tree.put("name", node, by) for by in following(variables(tree, node), node.value))


def _attribute(tree: Tree, node: cst.Attribute) -> Iterator[Change]:
    """Another attribute of the same object that the class, or else the function, uses."""
    owner = tree.text(node.value)
    scope = scope_of(tree, node, cst.ClassDef) or scope_of(tree, node, cst.FunctionDef)
    called = isinstance(tree.parents[node], cst.Call)
    used = [
        other.attr.value
        for other in walk(scope)
        if isinstance(other, cst.Attribute)
        and tree.text(other.value) == owner
        and isinstance(tree.parents[other], cst.Call) == called
    ] if scope else []  # fmt: skip
    if owner != "minitorch" and node.attr.value not in NAMES:
        yield from (tree.put("field", node.attr, by) for by in following(list(dict.fromkeys(used)), node.attr.value))


def _call(tree: Tree, node: cst.Call) -> Iterator[Change]:
    """A call left out: its object, or its first argument, in its place; two arguments swapped; one left out."""
    if not isinstance(tree.parents[node], cst.Expr):
        if isinstance(node.func, cst.Attribute):
            yield tree.put("call", node, tree.text(node.func.value))
        if node.args:
            yield tree.put("call", node, f"({tree.text(node.args[0].value)})")
    plain = [arg for arg in node.args if arg.keyword is None and not arg.star]
    for left, right in pairwise(plain):
        first, last = tree.whole(left.value), tree.whole(right.value)
        between = tree.source[first[1] : last[0]].decode()
        text = f"{tree.text(right.value)}{between}{tree.text(left.value)}"
        yield Change("arguments", first[0], last[1], text.encode())
    for arg in node.args:
        if arg.keyword is not None:
            rest = ", ".join(tree.text(a.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for a in node.args if a != arg)
            yield tree.put("arguments", node, f"{tree.text(node.func)}({rest})")


def _slice(tree: Tree, node: cst.Slice) -> Iterator[Change]:
    """A slice without one of its parts, or moved by one."""
    parts = {name: getattr(node, name) for name in ("lower", "upper", "step")}
    texts = {name: tree.text(part) if part is not None else "" for name, part in parts.items()}
    for name, part in parts.items():
        if part is None:
            continue
        others = [""] if name == "step" else ["", f"{texts[name]} + 1", f"{texts[name]} - 1"]
        for other in others:
            now = {**texts, name: other}
            tail = f":{now['step']}" if now["step"] else ""
            yield tree.put("index", node, f"{now['lower']}:{now['upper']}{tail}")


def _index(tree: Tree, node: cst.Index) -> Iterator[Change]:
    """An index off by one."""
    if isinstance(node.value, cst.Integer | cst.Name) and is_value(tree, node):
        yield from (tree.put("index", node, f"{tree.text(node.value)} {by} 1") for by in "+-")


def _assignment(tree: Tree, node: cst.Assign) -> Iterator[Change]:
    """``+=`` for ``=``; the sign of what is assigned."""
    if len(node.targets) == 1 and not isinstance(node.targets[0].target, cst.Tuple):
        target, value = tree.text(node.targets[0].target), tree.text(node.value)
        yield tree.put("assignment", node, f"{target} += {value}")
        yield tree.put("sign", node.value, f"-({value})")


def _augmented(tree: Tree, node: cst.AugAssign) -> Iterator[Change]:
    """``=`` or ``-=`` for ``+=``."""
    target, value = tree.text(node.target), tree.text(node.value)
    for by in ("=", "-="):
        yield tree.put("assignment", node, f"{target} {by} {value}")


def _jump(tree: Tree, node: cst.Break | cst.Continue) -> Iterator[Change]:
    """``break`` for ``continue``; neither."""
    yield tree.put("jump", node, "break" if isinstance(node, cst.Continue) else "continue")


def _return(tree: Tree, node: cst.Return) -> Iterator[Change]:
    """Nothing returned; the other sign."""
    if node.value is not None:
        yield tree.put("return", node.value, "None")
        yield tree.put("sign", node.value, f"-({tree.text(node.value)})")


def _statement(tree: Tree, node: cst.SimpleStatementLine) -> Iterator[Change]:
    """A statement left out; its place taken by the next, and the next's by it."""
    start, end = _code(tree, node)
    if not isinstance(node.body[0], cst.Return):
        yield Change("deletion", start, end, b"pass")
    block = tree.parents[node]
    siblings = list(block.body) if isinstance(block, cst.IndentedBlock) else []
    after = siblings[siblings.index(node) + 1 :][:1] if node in siblings else []
    for other in after:
        if isinstance(other, cst.SimpleStatementLine):
            first, last = _code(tree, other)
            source = tree.source
            yield Change("order", start, last, source[first:last] + source[end:first] + source[start:end])


def _code(tree: Tree, node: cst.SimpleStatementLine) -> Span:
    """The bytes of a line's statements, without its comments."""
    return tree.span(node.body[0])[0], tree.span(node.body[-1])[1]


Operator = Callable[..., Iterator[Change]]

OPERATORS: dict[type[cst.CSTNode], tuple[Operator, ...]] = {
    cst.BinaryOperation: (_binary,),
    cst.BooleanOperation: (_logic,),
    cst.Comparison: (_comparison,),
    cst.If: (_branch,),
    cst.While: (_branch,),
    cst.IfExp: (_branch, _choice),
    cst.CompIf: (_branch,),
    cst.UnaryOperation: (_unary,),
    cst.Integer: (_number,),
    cst.Float: (_number,),
    cst.Name: (_constant,),
    cst.Attribute: (_attribute,),
    cst.Call: (_call,),
    cst.Slice: (_slice,),
    cst.Index: (_index,),
    cst.Assign: (_assignment,),
    cst.AugAssign: (_augmented,),
    cst.Break: (_jump,),
    cst.Continue: (_jump,),
    cst.Return: (_return,),
    cst.SimpleStatementLine: (_statement,),
}
