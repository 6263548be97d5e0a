# SPDX-License-Identifier: BSD-3-Clause
"""The file that says what a job of a batch system asks for: ``--cluster slurm:FILE.yaml``.

Its keys are those of dask-jobqueue, which many sites have written down already. ``kind`` names another batch system
than Slurm.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.config import work_root
from pipelines.tasks.engines.job_kinds import KINDS, Kind
from swftools.errors import MissingLibraryError, ParameterError
from swftools.parameters.spelling import did_you_mean
from swftools.parameters.strict_yaml import check_keys, read_yaml_file

_HANDLER = signal.getsignal(signal.SIGINT)
try:
    import dask_jobqueue
except ImportError as error:
    raise MissingLibraryError("jobs as workers need dask-jobqueue: pip install 'swftools[cluster]'") from error
finally:
    # dask-jobqueue takes Ctrl-C for itself when it is imported, and ends the program with status 0.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _HANDLER)

NEEDED = {
    "jobs": (int, "a whole number: jobs that are submitted"),
    "cores": (int, "a whole number: cores of a job, each of which is a worker"),
    "memory": (str, "a text such as 16 GB: memory of a job"),
    "walltime": (str, 'a text in quotes, such as "04:00:00": longest time of a job'),
}
"""What a file must say."""

TEXTS = ("queue", "account", "interface", "python", "local_directory", "log_directory", "shebang")
LISTS = ("job_extra_directives", "job_script_prologue", "job_directives_skip", "worker_extra_args")


@dataclass(frozen=True)
class JobFile:
    """What a file says.

    Parameters
    ----------
    path : str
        Of the file, as it was given.
    kind : Kind
        The batch system.
    jobs, cores : int
        How many jobs there are to be, and how many workers each has.
    settings : mapping
        What dask-jobqueue is given for each job.
    """

    path: str
    kind: Kind
    jobs: int
    cores: int
    settings: Mapping[str, Any]

    def logs(self, data_root: str) -> Path:
        """Return the folder of the jobs' logs."""
        return Path(self.settings.get("log_directory") or work_root(data_root) / "job_logs").expanduser().absolute()

    def job(self, data_root: str, scheduler: str = "tcp://THIS_HOST:PORT", name: str = "NAME", **others: Any) -> Any:
        """Return a job of dask-jobqueue, which makes a folder for its log; it is not submitted."""
        chosen = {"job_name": "swftools", **self.kind.settings_of({**self.settings, "processes": self.cores, **others})}
        chosen["log_directory"] = str(self.logs(data_root))
        return getattr(dask_jobqueue, self.kind.cluster).job_cls(scheduler=scheduler, name=name, **chosen)

    def script(self, data_root: str, scheduler: str = "tcp://THIS_HOST:PORT", name: str = "NAME") -> str:
        """Return the script of a job whose workers ask a scheduler for work.

        A worker a core, of one thread each: cells of one process would run one after the other.
        """
        script: str = self.job(data_root, scheduler, name).job_script()
        return script

    def command_script(self, data_root: str, words: list[str]) -> str:
        """Return the script of a job of one core that runs a command of swftools in this folder."""
        job = self.job(data_root, cores=1, processes=1)
        kept = {name: value for name, value in os.environ.items() if name.startswith(("SWFTOOLS_", "NUMBA_CACHE_DIR"))}
        command = [self.settings.get("python") or sys.executable, "-m", "pipelines.cli.main", *words]
        return "\n".join(
            [
                job.shebang,
                "",
                job.job_header,
                *self.settings.get("job_script_prologue", []),
                *(f"export {name}={shlex.quote(value)}" for name, value in kept.items()),
                f"cd {shlex.quote(str(Path.cwd()))}",
                f"exec {shlex.join(command)}",
                "",
            ]
        )


def read_job_file(path: str, prefix: str) -> JobFile:
    """Return what a file says of the jobs.

    Parameters
    ----------
    path : str
        Of the file.
    prefix : str
        What stood before it, ``slurm`` for instance: the kind where the file names none.

    Raises
    ------
    ParameterError
        There is no such file, or it is not as it must be.
    """
    _, content = read_yaml_file(path, ParameterError, f"give --cluster {prefix}:FILE the path of a YAML file")
    if not isinstance(content, Mapping):
        raise ParameterError(f"{path}: it must be a mapping with the keys {', '.join(NEEDED)}")
    name = content.get("kind", prefix)
    if name not in KINDS:
        raise ParameterError(
            f"{path}: kind {name!r} is no batch system{did_you_mean([str(name)], KINDS)}; there are: {', '.join(KINDS)}"
        )
    kind = KINDS[name]
    texts = (*TEXTS, *kind.own_texts)
    if "processes" in content:
        raise ParameterError(f"{path}: processes is always as many as cores; leave it out")
    check_keys(content, ("kind", *NEEDED, *texts, *LISTS, *kind.own_numbers), path)
    for key, (form, told) in NEEDED.items():
        value = content.get(key)
        if not isinstance(value, form) or isinstance(value, bool) or value in (0, "") or str(value).startswith("-"):
            raise ParameterError(f"{path}: {key} must be {told}")
    for key in LISTS:
        value = content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise ParameterError(f"{path}: {key} is not a list of texts")
    for key in texts:
        if not isinstance(content.get(key, ""), str):
            raise ParameterError(f"{path}: {key} is not a text")
    for key in kind.own_numbers:
        if not isinstance(content.get(key, 1), int):
            raise ParameterError(f"{path}: {key} is not a whole number")
    if problem := kind.problem_of(content):
        raise ParameterError(f"{path}: {problem}")
    settings = {key: value for key, value in content.items() if key not in ("kind", "jobs")}
    return JobFile(path, kind, content["jobs"], content["cores"], settings)
