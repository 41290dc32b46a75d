"""Importing the student's files: what they may import, and what of the reference's is put under them.

All of this happens in the process of one case; the driver itself never imports the student's code.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from assignments.common.importing import from_file, to_scratch
from assignments.common.probe_io import Job
from assignments.HW2.probes import patient

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(HERE))
STANDINS = os.path.join(HERE, "standins")
FILES = {"autodiff": "minitorch/autodiff.py", "sentiment": "project/run_sentiment.py"}
SENTIMENT = "run_sentiment"
KEPT = "reference.py"
TEMPLATE = "template"
OWN_FRAMEWORK = "own-framework"
BACKEND = "MINITORCH_BACKEND"


def set_path(job: Job) -> None:
    """What can be imported: the stage, its ``project/``, our stand-ins, the packages; and the standard library."""
    ours = [job.stage, os.path.join(job.stage, "project"), STANDINS, job.packages]
    sys.path[:] = [path for path in ours if path] + [path for path in sys.path if path not in (*ours, ROOT)]


def preload(job: Job) -> None:
    """Imports the framework into the driver's own process, so that the cases' processes have it.

    Only where no student's code is in it: over the reference's ``autodiff.py``, or over the template's, in whose
    place a case then puts the student's.
    """
    set_path(job)
    if not os.path.exists(os.path.join(job.stage, OWN_FRAMEWORK)):
        _import_framework(job)


def _import_framework(job: Job) -> None:
    kept = job.support.get("autodiff")
    beneath = os.path.join(kept, KEPT) if kept else os.path.join(job.stage, TEMPLATE, FILES["autodiff"])
    from_file("minitorch.autodiff", beneath)
    importlib.import_module("minitorch")


def minitorch(job: Job) -> Any:
    """The framework, over the student's ``autodiff.py`` or, with that support, over the reference's."""
    set_path(job)
    if "minitorch.autodiff" not in sys.modules:
        _import_framework(job)
    known, own = sys.modules["minitorch.autodiff"], os.path.join(job.stage, FILES["autodiff"])
    if "autodiff" not in job.support and known.__file__ != own:
        _put_in_place_of(known, from_file("minitorch.autodiff", own))
    return importlib.import_module("minitorch")


def _put_in_place_of(stub: ModuleType, module: ModuleType) -> None:
    """Whatever the framework has imported from one module, it has from the other now."""
    framework = [known for name, known in sys.modules.items() if name.split(".")[0] == "minitorch"]
    for known in framework:
        for name, value in list(vars(known).items()):
            if value is stub:
                setattr(known, name, module)
            elif name in vars(module) and not name.startswith("__") and value is vars(stub).get(name):
                setattr(known, name, vars(module)[name])
    package = sys.modules["minitorch"]
    for name, value in vars(module).items():
        if not name.startswith("_") and not hasattr(package, name):
            setattr(package, name, value)  # what `from .autodiff import *` would have brought


def reference(job: Job, support: str) -> Any:
    """The reference's parts of a support, as a module."""
    return from_file("reference_parts", os.path.join(job.support[support], KEPT))


def backend(framework: Any) -> Any:
    """The backend of what probes make: the student's kernels where they are asked for, or what answers for loops."""
    on_cuda = os.environ.get(BACKEND) == "cuda"
    return framework.TensorBackend(framework.CudaKernelOps if on_cuda else framework.SimpleOps)


def autodiff(job: Job) -> Any:
    """The student's ``autodiff.py`` as a module, inside the framework."""
    minitorch(job)
    module = sys.modules["minitorch.autodiff"]
    put_under(job, module)
    return module


def sentiment(job: Job) -> Any:
    """The student's ``run_sentiment.py`` as a module, with the parts named in ``under`` put in by name."""
    to_scratch(job)
    if job.options.get("patient") == "yes":
        module = patient.module(SENTIMENT, os.path.join(job.stage, FILES["sentiment"]))
    else:
        module = importlib.import_module(SENTIMENT)
    put_under(job, module)
    return module


def put_under(job: Job, module: ModuleType) -> None:
    """Replaces the definitions that the option ``under`` names by the reference's, from the support ``from``.

    A method is named with its class: ``Linear.__init__``.
    """
    if names := job.options.get("under", "").split():
        parts = reference(job, job.options["from"])
        for name, _, method in (name.partition(".") for name in names):
            theirs = getattr(parts, name)
            setattr(module, name, _with_method_of(theirs, getattr(module, name), method) if method else theirs)


def _with_method_of(reference: Any, own: Any, method: str) -> Any:
    """The student's class, but for a method that is the reference's, with what it builds on."""
    kept = {name: value for name, value in vars(own).items() if name not in (method, "__dict__", "__weakref__")}
    return type(own.__name__, (reference,), kept)


def module(job: Job, part: str) -> Any:
    """One of the two files, as a module."""
    if part == "sentiment":
        return sentiment(job)
    return autodiff(job)
