# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm for tests: nodes of eight processors on this machine, with accounting, in a folder of its own.

    with running_slurm(tmp_path / "slurm") as slurm:
        job = slurm.submit("--ntasks=2", "--time=10", "sleep 60")
        slurm.run("squeue --json")

It needs the programs of Slurm, MUNGE and MariaDB; on Debian and Ubuntu

    apt-get install --no-install-recommends slurm-wlm slurmctld slurmd slurmdbd slurm-wlm-mysql-plugin \
        mariadb-server munge slurmrestd

(slurmrestd only for tests of it.)

Everything runs as the user who runs the tests, on free ports. Nothing outside the folder is read or written, so
another Slurm of this machine is not touched. The daemons are children of the test and are ended one by one, no others.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from swftools.live import read_journal

NODES, CORES = 2, 8
PROCESSORS = NODES * CORES

_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
_NEEDED = (
    *("munged", "mariadbd", "mariadb-install-db", "mariadb", "slurmdbd", "slurmctld", "slurmd"),
    *("sbatch", "squeue", "sacct", "sacctmgr", "scancel", "scontrol"),
)

_SLURM = """\
ClusterName=tested
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ctld}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/%n.pid
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdParameters=config_overrides
ReturnToService=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={folder}/munge.socket
MinJobAge=3600
KillWait=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,batch_sched_delay=0
PriorityType=priority/multifactor
PriorityWeightPartition=1000
{nodes}
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-00:00:00 State=UP PriorityJobFactor=1
"""

_SLURMDBD = """\
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass=slurm
StorageLoc=accounting
"""

_SQL = "create database accounting; " + "; ".join(
    f"create user slurm@'{host}' identified by 'slurm'; grant all on accounting.* to slurm@'{host}'"
    for host in ("localhost", "127.0.0.1")
)


def what_is_missing() -> str:
    """Return why no Slurm can be started here; nothing if one can."""
    missing = [name for name in _NEEDED if shutil.which(name, path=_PATH) is None]
    return f"a real Slurm needs {', '.join(missing)} (tests/real_slurm/cluster.py says what to install)" * bool(missing)


@dataclass(frozen=True)
class Slurm:
    """A Slurm that runs."""

    folder: Path
    environment: dict[str, str]

    def run(self, command: str, *, folder: Path | None = None) -> str:
        """Run a command by the shell, as a user would type it; return what it printed. It must succeed in silence."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            check=False,
            cwd=folder or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, ""), f"{command}\n{done.stdout[-500:]}{done.stderr}"
        return done.stdout

    def submit(self, *options: str) -> str:
        """Submit a job; the last option is what it runs. Return its id."""
        *flags, script = options
        quoted = " ".join([*flags, "--output=/dev/null"])
        return self.run(f"sbatch --parsable {quoted} --wrap '{script}'").strip()

    def states(self) -> dict[str, str]:
        """Return the state of each job that is known, by its id."""
        lines = self.run("squeue --array --states=all --noheader --format='%i %T'").splitlines()
        return dict(line.split() for line in lines)

    def wait_for(self, is_so: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
        """Wait until something is so; fail after a time."""
        _until(is_so, what, seconds)


def ended(journal: Path) -> set[str]:
    """Return the jobs of whose ends a journal has, by the ids of the batch system."""
    return {event.job.split("@")[0] for event in read_journal(journal) if event.kind == "ended"}


@contextmanager
def running_slurm(folder: Path, more: str = "", count: int = NODES) -> Iterator[Slurm]:
    """Start a Slurm in an empty folder (about ten seconds), and end it with all its jobs.

    Parameters
    ----------
    folder : Path
        Its own.
    more : str
        Lines of slurm.conf beside ours, such as other partitions.
    count : int
        Of nodes: n1, n2, ...
    """
    folder = folder.resolve()
    sbin = folder / "sbin"
    for made in (sbin, folder / "state", folder / "sql", *(folder / f"spool-n{k + 1}" for k in range(count))):
        made.mkdir(parents=True)
    folder.chmod(0o755)
    for name in ("slurmctld", "slurmd", "slurmdbd", "slurmstepd"):  # Debian's are called slurmctld-wlm, which fails
        found = shutil.which(f"{name}-wlm", path=_PATH) or shutil.which(name, path=_PATH)
        if found:
            (sbin / name).symlink_to(found)
    ports = _free_ports(3 + count)
    nodes = "\n".join(
        f"NodeName=n{k + 1} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[3 + k]} CPUs={CORES} "
        "RealMemory=16000 State=UNKNOWN"
        for k in range(count)
    )
    told = {"folder": folder, "user": _user(), "nodes": nodes}
    told |= dict(zip(("ctld", "dbd", "sql"), ports, strict=False))
    _write(folder / "slurm.conf", _SLURM.format(**told) + more)
    _write(folder / "slurmdbd.conf", _SLURMDBD.format(**told))
    _write(folder / "munge.key", os.urandom(64).hex())
    environment = {**os.environ, "PATH": f"{sbin}{os.pathsep}{_PATH}", "SLURM_CONF": str(folder / "slurm.conf")}
    slurm = Slurm(folder, environment)
    sql = f"--no-defaults --socket={folder}/sql.socket"
    started: list[subprocess.Popen[bytes]] = []
    with_us = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []  # if the test itself is killed

    def start(*command: str) -> None:
        with (folder / f"{len(started)}-{command[0]}.log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    [*with_us, *command], cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
                )
            )

    try:
        key, pipe = folder / "munge.key", folder / "munge.socket"
        files = ("log", "pid", "seed")
        own = [f"--{name}-file={folder}/munge.{name}" for name in files]
        start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={pipe}", *own)
        user = f"--user={told['user']}"
        slurm.run(
            f"mariadb-install-db --no-defaults {user} --datadir={folder}/sql --skip-test-db "
            "--auth-root-authentication-method=normal > sql.log 2>&1"
        )
        start(
            *("mariadbd", *sql.split(), user, f"--datadir={folder}/sql", f"--port={told['sql']}"),
            *("--bind-address=127.0.0.1", f"--pid-file={folder}/sql.pid", "--innodb-buffer-pool-size=32M"),
            *("--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=2"),
        )
        _until(lambda: _succeeds(slurm, f"mariadb {sql} --user=root -e 'select 1'"), "the database")
        slurm.run(f'mariadb {sql} --user=root -e "{_SQL}"')
        start("slurmdbd", "-D")
        _until(lambda: _succeeds(slurm, "sacctmgr --noheader list cluster"), "slurmdbd")
        slurm.run("sacctmgr --immediate add cluster tested")
        start("slurmctld", "-D")
        for k in range(count):
            start("slurmd", "-D", "-N", f"n{k + 1}", "-d", str(sbin / "slurmstepd"))
        _until(lambda: _idle(slurm) == count, "the nodes")
        yield slurm
    finally:
        _end(slurm, started)


def _end(slurm: Slurm, started: list[subprocess.Popen[bytes]]) -> None:
    """End the jobs, then the daemons, the last that was started first."""
    if _idle(slurm) >= 0:
        _succeeds(slurm, f"scancel --user={_user()}; scancel --state=suspended --user={_user()}")
        for _ in range(100):
            if _printed(slurm, "squeue --noheader --states=running,completing,suspended") in ("", None):
                break
            time.sleep(0.1)
    for daemon in reversed(started):
        daemon.terminate()
        try:
            daemon.wait(20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def _idle(slurm: Slurm) -> int:
    """Return how many nodes are idle; -1 if nobody answers."""
    told = _printed(slurm, "sinfo --noheader --Node --format='%N %T'")  # a line for each partition of a node
    return -1 if told is None else sum(line.endswith(" idle") for line in set(told.splitlines()))


def _printed(slurm: Slurm, command: str) -> str | None:
    """Return what a command prints; None if it fails."""
    done = subprocess.run(
        ["bash", "-c", command],
        check=False,
        cwd=slurm.folder,
        env=slurm.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout if done.returncode == 0 else None


def _succeeds(slurm: Slurm, command: str) -> bool:
    """Whether a command succeeds."""
    return _printed(slurm, command) is not None


def _until(is_so: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"{what}: not there after {seconds:.0f} s; the folder has the logs"
        time.sleep(0.1)


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _user() -> str:
    """Return who this is, whatever the environment says."""
    return pwd.getpwuid(os.getuid()).pw_name


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports
