"""libcst's syntax tree of a file, with the bytes of each node, and what stands around it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper, ParentNodeProvider

from grader.mutation.changes import Change, Span


class Tree:
    """A file's syntax with the bytes of each node."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        wrapper = MetadataWrapper(cst.parse_module(source))
        self.module = wrapper.module
        self.spans = wrapper.resolve(ByteSpanPositionProvider)
        self.parents = wrapper.resolve(ParentNodeProvider)

    def span(self, node: cst.CSTNode) -> Span:
        """The bytes of a node, without the parentheses around it."""
        found = self.spans[node]
        return found.start, found.start + found.length

    def text(self, node: cst.CSTNode) -> str:
        """A node as it stands, with the parentheses around it."""
        return self.module.code_for_node(node).strip()

    def whole(self, node: cst.CSTNode) -> Span:
        """The bytes of an expression, with the parentheses around it."""
        start, end = self.span(node)
        for left, right in zip(getattr(node, "lpar", ()), getattr(node, "rpar", ()), strict=True):
            start -= len(self.module.code_for_node(left))
            end += len(self.module.code_for_node(right))
        return start, end

    def put(self, kind: str, node: cst.CSTNode, by: str) -> Change:
        """A change of a node to another text."""
        return Change(kind, *self.whole(node), by.encode())

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What a node stands in, from the inside out."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    @cached_property
    def nodes(self) -> list[cst.CSTNode]:
        """All nodes, in the order of the text."""
        return list(walk(self.module))


@lru_cache(maxsize=4)
def parsed(source: bytes) -> Tree:
    """The tree of a file; a file has several regions."""
    return Tree(source)


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all that are in it, in the order of the text."""
    yield node
    for child in node.children:
        yield from walk(child)


def is_value(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a node stands in what is computed, and not in an annotation."""
    return not any(isinstance(outer, cst.Annotation) for outer in tree.around(node))


def scope_of(tree: Tree, node: cst.CSTNode, kind: type[cst.CSTNode]) -> cst.CSTNode | None:
    """The innermost of a kind that a node stands in."""
    return next((outer for outer in tree.around(node) if isinstance(outer, kind)), None)


def variables(tree: Tree, node: cst.CSTNode) -> list[str]:
    """Parameters and variables of the function around, in the order of the text."""
    function = scope_of(tree, node, cst.FunctionDef)
    names: list[str] = []
    for inner in walk(function) if function is not None else ():
        if isinstance(inner, cst.Param):
            names.append(inner.name.value)
        elif isinstance(inner, cst.AssignTarget | cst.For | cst.CompFor | cst.AnnAssign):
            target = inner.target
            names += [
                n.value for n in walk(target) if isinstance(n, cst.Name) and isinstance(target, cst.Name | cst.Tuple)
            ]
    return [name for name in dict.fromkeys(names) if name != "self"]


def following(names: list[str], name: str) -> list[str]:
    """The name behind a name, around in a ring; none where there is no other."""
    at = names.index(name) if name in names else -1
    return [names[(at + 1) % len(names)]] if at >= 0 and len(names) > 1 else []
