# SPDX-License-Identifier: BSD-3-Clause
"""Processes of their own that load nothing anew: each is forked from a process that has loaded it.

A started process takes two seconds before its first line runs. Where that is not what a test is about, ``PIPELINE`` and
``NUMBA`` do as ``subprocess`` does in a tenth of that: what they fork has its own folder, environment, streams and
status, can be killed, and imports what the test wrote. What it does not have is an environment that is looked at while
Python, numba or swftools are loaded, another order of sets, or limits set before it begins: for these, start a process.
"""

from __future__ import annotations

import array
import atexit
import gc
import io
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import IO, Any

_FITS_A_PIPE = 65_536
"""Bytes that a pipe takes before anybody reads it."""


class Forked:
    """A process that was forked: as much of ``subprocess.Popen`` as tests use."""

    def __init__(self, channel: socket.socket) -> None:
        self._lines = channel.makefile("r", encoding="ascii")
        self.pid = int(self._lines.readline())
        self._channel = channel
        self.returncode: int | None = None

    def wait(self) -> int:
        """Return the status once it has ended; negative is the signal that ended it."""
        if self.returncode is None:
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._channel.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return the status if it has ended."""
        if self.returncode is None:
            self._channel.settimeout(0)
            try:
                ended = self._channel.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                return None
            finally:
                self._channel.settimeout(None)
            assert ended
            self.wait()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Server:
    """A process that has loaded something, and forks; it begins with the first process that is wanted."""

    def __init__(self, loaded: str, without: tuple[str, ...] = ()) -> None:
        """Take the program that loads, and the names of variables that it shall not see."""
        self.loaded, self.without = loaded, without
        self._lock = threading.Lock()
        self._of = -1
        self._socket: socket.socket

    def _connected(self) -> socket.socket:
        if self._of != os.getpid():
            self._of = os.getpid()
            self._socket, theirs = socket.socketpair()
            server = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno()), self.loaded],
                pass_fds=[theirs.fileno()],
                cwd="/",  # where no luigi.cfg is
                env={name: value for name, value in os.environ.items() if name not in self.without},
                stdin=subprocess.DEVNULL,
            )
            theirs.close()
            self.process = server.pid
            atexit.register(self._end, server)
        return self._socket

    def _end(self, server: subprocess.Popen[bytes]) -> None:
        """Let it end, as it does when nobody can ask it any more."""
        self._socket.close()
        server.wait()

    def start(self, command: list[str], cwd: Path, env: dict[str, str], stdin: Any, stdout: Any, stderr: Any) -> Forked:
        """Fork, and do as Python does with the words behind its name: ``-c``, ``-m``, or a file; return at once."""
        assert command[0] == sys.executable
        ours, theirs = socket.socketpair()
        streams = array.array("i", [theirs.fileno(), *(stream.fileno() for stream in (stdin, stdout, stderr))])
        with self._lock:
            socket.send_fds(self._connected(), [b"."], list(streams))
        theirs.close()
        ours.sendall(json.dumps([command[1:], str(cwd), env]).encode() + b"\n")
        return Forked(ours)

    def run(
        self, command: list[str], cwd: Path, env: dict[str, str], given: bytes = b""
    ) -> subprocess.CompletedProcess[str]:
        """Return the status and what was written, once it has ended; ``given`` is in a pipe, which it may read."""
        assert len(given) <= _FITS_A_PIPE
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb") as stdin, _file() as stdout, _file() as stderr:
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(given)
            status = self.start(command, cwd, env, stdin, stdout, stderr).wait()
            for stream in (stdout, stderr):
                stream.seek(0)
            return subprocess.CompletedProcess(command, status, stdout.read(), stderr.read())


def _file() -> IO[str]:
    import tempfile  # noqa: PLC0415 (what is forked has no use for it)

    return tempfile.TemporaryFile("w+", encoding="utf-8")


_PIPELINE = """
import importlib, pkgutil
import scipy.stats, pyarrow.parquet, boto3
import swftools, pipelines
for package in (swftools, pipelines):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
import luigi.retcodes, luigi.tools.range
from pipelines.catalog.reader import read_catalog
from swftools import kernel_warm_up
from swftools.formats import rehearsal
rehearsal.read_lines()
rehearsal.write_lines()
kernel_warm_up._generate()
kernel_warm_up._simulate("fcfs")
"""

_NUMBA = """
import pandas, scipy.stats, numba
from numba import njit
njit(lambda array: array[0] + 1.0)(pandas.Series([1.0]).to_numpy())
"""

PIPELINE = Server(_PIPELINE)
"""Has loaded all of swftools and of the pipeline: for ``python -m luigi``, for the console."""

NUMBA = Server(_NUMBA, without=("NUMBA_CACHE_DIR",))
"""Has loaded what swftools uses, and nothing of swftools: for copies of it, for kernels that are compiled."""


def _forks(server: socket.socket) -> tuple[list[str], str, dict[str, str]]:
    """Fork whenever that is asked for; return, in the process that was forked, what it is to do."""
    while True:
        word, streams, *_ = socket.recv_fds(server, 1, 4)
        if not word:
            os._exit(0)
        # A process between this one and the forked one waits for it, and tells its status.
        if not os.fork():
            break
        for stream in streams:
            os.close(stream)
        while True:  # those that waited, and are done
            try:
                if os.waitpid(-1, os.WNOHANG) == (0, 0):
                    break
            except ChildProcessError:
                break
    server.close()
    channel = socket.socket(fileno=streams[0])
    with channel.makefile("r", encoding="utf-8") as lines:
        command, folder, environment = json.loads(lines.readline())
    if forked := os.fork():
        for stream in streams[1:]:
            os.close(stream)
        channel.sendall(f"{forked}\n".encode())
        channel.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])}\n".encode())
        os._exit(0)
    channel.close()
    for number, stream in enumerate(streams[1:]):
        os.dup2(stream, number)
        os.close(stream)
    # Those of the process that forks remember what theirs were.
    sys.stdin = io.TextIOWrapper(io.BufferedReader(_raw("<stdin>", 0, "r")))
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(_raw("<stdout>", 1, "w")))
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(_raw("<stderr>", 2, "w")), None, "backslashreplace", None, True)
    return command, folder, environment


def _raw(name: str, number: int, mode: str) -> io.FileIO:
    """Return a stream as Python has it at its beginning."""
    raw = io.FileIO(number, mode, closefd=False)
    raw.name = name  # type: ignore[misc]
    return raw


def _become(folder: str, environment: dict[str, str]) -> None:
    """Have a folder and an environment, as if Python began there."""
    old = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    new = [each for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[:] = new + [each for each in sys.path[1:] if each not in old]
    if "luigi" in sys.modules:
        from luigi.configuration import LuigiConfigParser, add_config_path  # noqa: PLC0415

        if path := environment.get("LUIGI_CONFIG_PATH"):
            add_config_path(path)
        LuigiConfigParser.reload()
        # Its counts lie in memory that whatever is forked shares.
        from pipelines.tasks.stage_task import progress  # noqa: PLC0415

        progress.__init__()  # type: ignore[misc]
        # What luigi's own command imports looks then at its command line.
        del sys.modules["pipelines"]


def _run(command: list[str], folder: str) -> None:
    """Do what Python does with the words behind its name."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if command[0] == "-m":
        sys.argv = command[1:]
        sys.path.insert(0, folder)
        sys.modules.pop(sys.argv[0], None)
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    elif command[0] == "-c":
        sys.argv = ["-c", *command[2:]]
        sys.path.insert(0, "")
        exec(compile(command[1], "<string>", "exec"), vars(main))
    else:
        sys.argv = command
        sys.path.insert(0, str(Path(command[0]).parent))
        runpy.run_path(command[0], run_name="__main__")


def _status(command: list[str], folder: str) -> int:
    """Run, and return the status that Python would end with."""
    try:
        _run(command, folder)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return int(end.code or 0)
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:  # noqa: BLE001 (as Python does at its end)
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


if __name__ == "__main__":
    sys.path[0] = "/"  # in the folder of this file there is another ``pipelines``
    exec(sys.argv[2], {})
    gc.collect()
    gc.freeze()
    _command, _folder, _environment = _forks(socket.socket(fileno=int(sys.argv[1])))
    _become(_folder, _environment)
    _ended = _status(_command, _folder)
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_ended)  # to free all that was loaded would take longer than most tests
