"""Rewrites what is CUDA and not C++ in a file: launches, and shared variables. Line numbers stay as they are.

``k<<<grid, block>>>(a)`` becomes ``::tg::config(__LINE__, grid, block).kernel("k", "names", k)(a)``;
``__shared__ float tile[N];`` a variable of the execution model's that is looked at like any other memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assignments.HW2.kernels.tokens import Token, matching, opening, split, tokens

SHARED, GLOBAL = "__shared__", "__global__"
ENDS = {";", "{", "}", ":"}
NOT_OF_A_TYPE = {"extern", "static", SHARED}
ALIGNED = {"__align__", "alignas", "__attribute__"}


@dataclass(frozen=True)
class Kernel:
    """A kernel that is defined or declared.

    Attributes:
        parameters: their names.
        is_template: whether it has template parameters.
    """

    parameters: list[str]
    is_template: bool


@dataclass
class Rewritten:
    """A file for the execution model.

    Attributes:
        text: its text.
        functions: the names of functions that are defined in it, outside of all others.
        problems: what could not be rewritten, each with its line.
    """

    text: str
    functions: set[str]
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Change:
    start: int
    end: int
    text: str


def rewrite(source: str) -> Rewritten:
    """The file with its launches and shared variables rewritten."""
    found = tokens(source)
    kernels = _kernels(found)
    result = Rewritten("", _functions(found))
    changes: list[_Change] = []
    for index, token in enumerate(found):
        if token.text == "<<<":
            changes += _launch(source, found, index, kernels, result)
        elif token.text == SHARED:
            changes += _shared(source, found, index, result)
    result.text = _changed(source, changes)
    return result


def _changed(source: str, changes: Sequence[_Change]) -> str:
    text, position = "", 0
    for change in sorted(changes, key=lambda change: change.start):
        if change.start < position:  # within what has been rewritten
            continue
        lines = source.count("\n", change.start, change.end) - change.text.count("\n")
        text += source[position : change.start] + change.text + "\n" * lines
        position = change.end
    return text + source[position:]


def _line(source: str, token: Token) -> int:
    return source.count("\n", 0, token.start) + 1


def _functions(found: Sequence[Token]) -> set[str]:
    """Names before a list in parentheses that a body follows, outside of all braces but those of ``extern "C"``."""
    names: set[str] = set()
    index = 0
    while index < len(found):
        token = found[index]
        if token.text == "{" and not token.directive:
            if _is_linkage(found, index):
                index += 1
                continue
            if index and found[index - 1].text == ")":
                before = opening(found, index - 1) - 1
                if before >= 0 and found[before].kind == "name":
                    names.add(found[before].text)
            index = matching(found, index)
        index += 1
    return names


def _is_linkage(found: Sequence[Token], index: int) -> bool:
    before = [token.text for token in found[max(index - 2, 0) : index]]
    return before[-2:-1] == ["extern"] or "namespace" in before


def _kernels(found: Sequence[Token]) -> dict[str, Kernel]:
    """The kernels by name: the function whose parameters follow ``__global__``."""
    kernels: dict[str, Kernel] = {}
    for index, token in enumerate(found):
        if token.text != GLOBAL:
            continue
        place = index + 1
        while place < len(found) and not (found[place].text == "(" and found[place - 1].text not in _BEFORE_BOUNDS):
            place = matching(found, place) + 1 if found[place].text == "(" else place + 1
        if place < len(found) and found[place - 1].kind == "name":
            parameters = [_name(found[a:b]) for a, b in split(found, place + 1, matching(found, place))]
            kernels[found[place - 1].text] = Kernel(parameters, _has_template(found, index))
    return kernels


_BEFORE_BOUNDS = {"__launch_bounds__", "__attribute__", "__cluster_dims__"}


def _has_template(found: Sequence[Token], index: int) -> bool:
    """Whether ``template <...>`` stands before the declaration that the token at ``index`` is in."""
    while index > 0 and found[index - 1].kind == "name" and found[index - 1].text != "template":
        index -= 1
    return index > 0 and found[index - 1].text == ">" and not found[index - 1].directive


def _name(parameter: Sequence[Token]) -> str:
    """The name of a parameter: the last one before a default or an array's bounds."""
    names: list[str] = []
    for token in parameter:
        if token.text in ("=", "["):
            break
        names += [token.text] if token.kind == "name" else []
    return names[-1] if len(names) > 1 or any(token.text in "*&" for token in parameter) else ""


# ---- launches ----------------------------------------------------------------------------------


def _kernel_start(found: Sequence[Token], index: int) -> int:
    """The first token of the kernel's name, which ends before ``index``; with its template's arguments."""
    place = index - 1
    if place >= 0 and found[place].text == ">":
        depth = 0
        while place >= 0:
            depth += (found[place].text == ">") - (found[place].text == "<")
            if depth == 0:
                break
            place -= 1
        place -= 1
    if place >= 0 and found[place].text == ")":
        return opening(found, place)
    while place >= 2 and found[place - 1].text == "::" and found[place - 2].kind == "name":
        place -= 2
    return place - 1 if place >= 1 and found[place - 1].text == "::" else place


def _closing(found: Sequence[Token], index: int) -> int | None:
    """The place of the first of three ``>`` that end a launch's configuration."""
    place = index + 1
    while place + 2 < len(found):
        token = found[place]
        if token.text in ("(", "[", "{"):
            place = matching(found, place) + 1
            continue
        three = found[place : place + 3]
        if all(t.text == ">" for t in three) and three[2].end - three[0].start == 3:
            return place
        if token.text == ";":
            return None
        place += 1
    return None


def _launch(
    source: str, found: Sequence[Token], index: int, kernels: dict[str, Kernel], result: Rewritten
) -> list[_Change]:
    start, end = _kernel_start(found, index), _closing(found, index)
    if start < 0 or end is None:
        result.problems.append(f"line {_line(source, found[index])}: `<<<` begins no launch that can be understood")
        return []
    name = source[found[start].start : found[index - 1].end]
    bare = next((t.text for t in found[start:index][::-1] if t.text in kernels), "")
    kernel = kernels.get(bare, Kernel([], False))
    names = ",".join(kernel.parameters)
    how, function = "kernel", name
    if kernel.is_template and found[index - 1].text != ">":
        how, function = "deduced", f"[](auto... tg_arguments) {{ {name}(tg_arguments...); }}"
    shown = (bare or name).replace("\\", "").replace('"', "").replace("\n", " ")
    begin = f"::tg::config(__LINE__, {source[found[index].end : found[end].start]})"
    text = f'{begin}.{how}("{shown}", "{names}", {function})'
    return [_Change(found[start].start, found[end + 2].end, text)]


# ---- shared variables --------------------------------------------------------------------------


def _statement(found: Sequence[Token], index: int) -> tuple[int, int]:
    """The places of the first token of the declaration at ``index``, and of what ends it."""
    start, directive = index, found[index].directive
    while start > 0 and found[start - 1].text not in ENDS and found[start - 1].directive == directive:
        if found[start - 1].text == ")" and found[opening(found, start - 1) - 1].text not in ALIGNED:
            break  # if (...), or a macro
        start -= 1
    if directive:  # #define NAME
        while found[start].text in ("#", "define") or (start > 0 and found[start - 1].text == "define"):
            start += 1
    end = index
    while end < len(found) and found[end].text != ";" and found[end].directive == directive:
        end = matching(found, end) + 1 if found[end].text in ("(", "[", "{") else end + 1
    return start, end


def _without_alignment(found: Sequence[Token], start: int, end: int) -> list[Token]:
    kept, place = [], start
    while place < end:
        if found[place].text in ALIGNED and place + 1 < end and found[place + 1].text == "(":
            place = matching(found, place + 1) + 1
            continue
        kept.append(found[place])
        place += 1
    return kept


def _written(part: Sequence[Token]) -> str:
    return " ".join(token.text for token in part)


def _declared(part: Sequence[Token]) -> tuple[list[Token], str, list[Token]]:
    """What stands before a variable's name, the name, and its bounds."""
    bounds = next((i for i, token in enumerate(part) if token.text in ("[", "=", "{")), len(part))
    names = [i for i in range(bounds) if part[i].kind == "name"]
    place = names[-1] if names else 0
    return list(part[:place]), part[place].text if part else "", list(part[place + 1 :])


def _shared(source: str, found: Sequence[Token], index: int, result: Rewritten) -> list[_Change]:
    start, end = _statement(found, index)
    whole = _without_alignment(found, start, end)
    dynamic = any(token.text == "extern" for token in whole)
    rest = [token for token in whole if token.text not in NOT_OF_A_TYPE]
    parts = split(rest, 0, len(rest))
    if not parts:
        result.problems.append(f"line {_line(source, found[index])}: `{SHARED}` declares nothing")
        return []
    kind, _, _ = _declared(rest[slice(*parts[0])])
    pieces = []
    for number, (first, last) in enumerate(parts):
        before, name, bounds = _declared(rest[first:last])
        of = _written(before if number == 0 else [*[t for t in kind if t.text != "*"], *before])
        pieces.append(_dynamic(of, name) if dynamic else _static(of, name, _written(bounds)))
    finish = found[end].end if end < len(found) and found[end].text == ";" else found[end - 1].end
    return [_Change(found[start].start, finish, " ".join(pieces))]


def _dynamic(of: str, name: str) -> str:
    return f'{of} (&{name})[] = *reinterpret_cast<{of} (*)[]>(::tg::dynamic_shared("{name}"));'


def _static(of: str, name: str, bounds: str) -> str:
    return (
        f"typedef {of} tg_type_{name}{bounds};"
        f' static ::tg::SharedVariable<tg_type_{name}> tg_variable_{name}("{name}");'
        f" tg_type_{name}& {name} = tg_variable_{name}.get();"
    )
