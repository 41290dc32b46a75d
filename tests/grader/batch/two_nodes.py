"""A Slurm of two nodes on this machine, for tests: a real slurmctld and two slurmd, without cgroups or accounts."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel", "sinfo")
STARTS_WITHIN_S = 90
CONF = """
ClusterName=t
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdTimeout=10
MinJobAge=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port2} CPUs=1 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """Why there can be no Slurm here; empty where there can."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)} (apt install slurm-wlm munge)"
    return "" if os.geteuid() == 0 else "slurmd is started as root"


@contextmanager
def two_nodes(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands find the two nodes."""
    folder.chmod(0o755)
    (folder / "state").mkdir()
    key = folder / "k.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    conf = folder / "slurm.conf"
    ports = dict(zip(("port", "port1", "port2"), _ports(3), strict=True))
    conf.write_text(CONF.format(folder=folder, host=socket.gethostname().partition(".")[0], **ports))
    environment = {"SLURM_CONF": str(conf)}
    files = {"key-file": key, "socket": folder / "munge.sock", "pid-file": folder / "munged.pid"}
    files |= {"log-file": folder / "munged.log", "seed-file": folder / "munged.seed"}
    try:
        _run(["munged", "--force", *(f"--{name}={path}" for name, path in files.items())], environment)
        _run(["slurmctld"], environment)
        time.sleep(2)
        for node in ("n1", "n2"):
            _run(["slurmd", "-N", node], environment)
        _wait_for_idle(environment, folder)
        yield environment
    finally:
        for name in ("slurmd-n1", "slurmd-n2", "ctld", "munged"):
            kill(folder / f"{name}.pid", signal.SIGTERM)
        _end_steps(folder)


def kill_node(folder: Path, node: str) -> None:
    """What a power cut does: the node's daemon, and all that it runs, is gone."""
    kill(folder / f"slurmd-{node}.pid", signal.SIGKILL)
    _end_steps(folder, node)


def kill(pid_file: Path, number: signal.Signals) -> None:
    """Signals the process that a file names, if there is one."""
    with suppress(OSError, ValueError):
        os.kill(int(pid_file.read_text()), number)


def _end_steps(folder: Path, node: str = "") -> None:
    """Kills the jobs of a node (of both): they know its spool folder."""
    wanted = f"{folder}/spool-{node}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            name = f"SLURMD_NODENAME={node}".encode()
            ours = str(folder).encode() in told
            if int(process.name) != os.getpid() and (wanted in told or (ours and name in told)):
                os.kill(int(process.name), signal.SIGKILL)


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def _wait_for_idle(environment: dict[str, str], folder: Path) -> None:
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end:
        done = subprocess.run(
            ["sinfo", "--noheader", "--format=%T %D"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.stdout.split() == ["idle", "2"]:
            return
        time.sleep(0.5)
    raise AssertionError(f"the two nodes did not come up: {(folder / 'ctld.log').read_text()[-2000:]}")


def _ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    found = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return found
