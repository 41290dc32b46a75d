import gc as tg_gc
import os as tg_os
import sys as tg_sys

TG_PATHS = (
    "@ROOT@/tolerances.yaml @ROOT@/grader @ROOT@/reference @ROOT@/.git @ROOT@/student_template"
    " @ROOT@/fixtures/HW2/public/expected @ROOT@/fixtures/HW2/public/manifest.json"
    " @ROOT@/fixtures/HW2/corpus/heldout.tsv @ROOT@/assignments/HW2/derive.py"
    " @GRADE@/stamp @HOME@/.netrc @OTHER@ /etc/passwd /etc/shadow /etc/hosts /var/log /run /sys/kernel /dev/mem"
).split()


def tg_read(path):
    try:
        if tg_os.path.isdir(path):
            return b" ".join(map(tg_os.fsencode, tg_os.listdir(path))) or b"empty"
        with open(path, "rb") as file:
            return file.read(1 << 16)
    except OSError:
        return b""


def tg_processes(name, *words):
    found = [f"/proc/{pid}/{name}" for pid in tg_os.listdir("/proc") if pid.isdigit()]
    return [path for path in found if any(word in tg_read(path) for word in words)]


def tg_seen():
    found = [path for path in TG_PATHS if tg_read(path)]
    found += tg_processes("environ", b"tensorgrade-secret")
    found += [name for name in ("GITHUB_TOKEN", "API_KEY", "HOME", "GRADE_HOME") if name in tg_os.environ]
    found += [name for name in tg_sys.modules if name.split(".")[0] in ("grader", "reference", "torch")]
    found += [o["expected"] for o in tg_gc.get_objects() if type(o) is dict and "expected" in o and "inputs" in o]
    if found:
        print("seen:", found, flush=True)
    return bool(found)


def tg_parent_seen():
    found = []
    for name in ("mem", "maps", "environ", "fd", "root"):
        path = f"/proc/{tg_os.getppid()}/{name}"
        try:
            found.append(tg_os.open(path, tg_os.O_RDWR if name == "mem" else tg_os.O_RDONLY))
        except OSError:
            continue
    return bool(found)
