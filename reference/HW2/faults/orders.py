"""Mistakes of ``topological_sort``: what they return depends on the walk that a student took."""

from __future__ import annotations

from grader.faults import Fault

FINISHED = "when is it known that a variable's parents are all in the list?"
KNOWN: dict[str, tuple[str, str]] = {
    "reversed": ("the order is reversed, with leaves first", "with which variable does `backpropagate` begin?"),
    "by-creation": (
        "the variables are sorted by when they were made, oldest first",
        "which variable is to come first: the result, or what it was computed from?",
    ),
    "without-visited": (
        "a variable is added once per path to it, not once in all",
        "how does a walk know where it has been?",
    ),
    "breadth-first": ("the graph is walked breadth first from the root", FINISHED),
    "preorder": ("a variable is put in when it is met, before its parents are done", FINISHED),
    "with-constants": ("constants are in the order", "which variables have a derivative?"),
    "without-root": ("the root is left out", "does the walk put in the variable that it begins with?"),
    "without-leaves": ("leaves are left out", "which variables are to receive a derivative in the end?"),
    "root-alone": ("the root alone is in the order", "does the walk go on to the parents?"),
    "empty": ("the list stays empty", "where is something put into the list that is returned?"),
    "first-parent": ("only the first parent of each variable is followed", "how many parents has a sum?"),
    "last-parent": ("only the last parent of each variable is followed", "how many parents has a sum?"),
    "membership-by-value": (
        "variables are looked for with `in` or `==`, which compares tensors by value and is true for any two tensors",
        "what tells one variable from all others?",
    ),
    "kept-visited": (
        "the visited set outlives the call, so that a second call finds nothing",
        "when is a default argument, or a global set, made anew?",
    ),
}

FAULTS: list[Fault] = [
    Fault(f"sort-{name}", "topological_sort", "topological_sort", says, hint) for name, (says, hint) in KNOWN.items()
]
