"""What the user may choose for a grading, and what may stand around its probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.assignment import Check
from grader.cuda.asked import Asked
from grader.engine import Follow, Probed
from grader.explain.levels import DEFAULT, Level
from grader.fixtures import FixtureCase
from grader.framework import OURS
from grader.result import Chosen


@dataclass(frozen=True)
class Probing:
    """A probe that is about to run.

    Attributes:
        check: the check's id.
        how: the check, as it is run.
        cases: what it is run on.
        own: operators that are left to the student where ours would be interposed.
    """

    check: str
    how: Check
    cases: Sequence[FixtureCase]
    own: Sequence[str]


Around = Callable[[Probing, Callable[[], Probed]], Probed]


@dataclass(frozen=True)
class Options:
    """What the user may choose.

    Attributes:
        rows: ids of the rows to grade; none: all.
        compiler: the compiler; none: the first of gcc, clang, cc that is there.
        flags: appended to the flags of the submission's builds.
        second_look: whether to build as the Makefile does too, for advice.
        sanitize: whether the sanitizers look at what passes too.
        training: whether to make the checks that train for real.
        replaced: cases that stand in for a check's own, e.g. the real 124M files.
        probe_options: options handed to a check's probe, and files it may read on top.
        changed_checks: checks that run otherwise than the assignment says, e.g. on real files.
        follow: who is told of a check's progress.
        unseen: whether to make the checks that students do not see.
        after_due: whether students see those that they see after the due date.
        explain: how much is told of a failure's cause.
        full: whether training goes on to the end; `with_training` has done it, and the result says so.
        backend: the backend that was asked for; `with_backend` has done it, and the result says so.
        framework: whose framework it is; the same.
        real_files: whether a check runs on files that the user brought; `with_real_files` has done it.
        hidden: folders that no box may see, beside the fixtures and the repository.
        around: called in place of each probe, and calls it: for who looks at outcomes, or has them already.
        kernels: the look at the submission's CUDA kernels; none: they are left alone.
    """

    rows: Sequence[str] = ()
    compiler: str | None = None
    flags: Sequence[str] = ()
    second_look: bool = True
    training: bool = True
    sanitize: bool = False
    replaced: Mapping[str, FixtureCase] = field(default_factory=dict)
    probe_options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    changed_checks: Mapping[str, Check] = field(default_factory=dict)
    follow: Mapping[str, Follow] = field(default_factory=dict)
    unseen: bool = False
    after_due: bool = False
    explain: Level = DEFAULT
    full: bool = False
    backend: str | None = None
    framework: str = OURS
    real_files: bool = False
    hidden: Sequence[Path] = ()
    around: Around | None = None
    kernels: Asked | None = None


def chosen(options: Options) -> Chosen:
    """The options as a result holds them: what `./grade replay` asks for again."""
    return Chosen(
        rows=list(options.rows),
        compiler=options.compiler,
        flags=list(options.flags),
        second_look=options.second_look,
        sanitize=options.sanitize,
        training=options.training,
        full=options.full,
        real_files=options.real_files,
        explain=options.explain,
        staff=options.unseen,
        after_due=options.after_due,
        backend=options.backend,
        framework=options.framework,
    )
