import glob as tg_glob
import importlib as tg_importlib
import sys as tg_sys

TG_NAMES = (
    "torch",
    "jax",
    "tensorflow",
    "autograd",
    "scipy",
    "sympy",
    "yaml",
    "setuptools",
    "pip",
    "pydantic",
)
TG_PLACES = (
    f"{tg_sys.base_prefix}/lib*/python*/*-packages /usr/lib*/python*/*-packages /usr/lib/python*/*-packages"
    " /usr/local/lib*/python*/*-packages /opt/*/lib/python*/*-packages @GRADE@/lib/python*/site-packages"
).split()


def tg_importable():
    tg_sys.path += [place for pattern in TG_PLACES for place in tg_glob.glob(pattern)]
    for name in TG_NAMES:
        try:
            tg_importlib.import_module(name)
        except ImportError:
            continue
        return True
    return False
