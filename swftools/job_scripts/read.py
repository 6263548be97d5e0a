# SPDX-License-Identifier: BSD-3-Clause
"""The front door: a script of any batch system that is known."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from swftools.errors import ParameterError
from swftools.job_scripts.pbs import read_pbs
from swftools.job_scripts.request import JobRequest
from swftools.job_scripts.sbatch import read_sbatch
from swftools.job_scripts.source import read_source
from swftools.output.shown_text import shown
from swftools.parameters import did_you_mean

SYSTEMS = ("slurm", "pbs")
"""Batch systems whose scripts are read."""


def read_job_script(
    path: str | Path,
    *,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    system: str = "slurm",
) -> JobRequest:
    r"""Return what a job script requests, as the batch system reads it.

    What the command line says goes before the environment, and that before the script; of an option that comes again
    the last one counts.

    Parameters
    ----------
    path : str or Path
        The script.
    arguments : sequence of str
        What stands before the script on the command line of ``sbatch`` or ``qsub``.
    environment : mapping of str to str, optional
        Where ``SBATCH_TIMELIMIT`` and the like are looked up; default: that of this process.
    system : {"slurm", "pbs"}
        That it is submitted to. Slurm reads lines with ``#SBATCH``, and also those with ``#BSUB`` or ``#PBS``.

    Returns
    -------
    JobRequest
        As the batch system counts it at submission.

    Raises
    ------
    JobScriptNotFoundError
        There is no such file.
    JobScriptError
        The batch system would refuse it: the message names file, line and remedy.
    ParameterError
        There is no such batch system.

    Notes
    -----
    Compared with ``sbatch`` of Slurm 22.05.8: nodes, processors, GPUs, memory, time limit and partition. What plugins
    of a centre change at submission is not known here.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
    ...     _ = file.write("#!/bin/sh\n#SBATCH --nodes=2 --ntasks-per-node=8\n#SBATCH -t 1:30:00\nsrun solve\n")
    ...     file.flush()
    ...     request = read_job_script(file.name, arguments=["--time=4:00:00"], environment={})
    >>> request.nodes, request.processors, request.time_limit
    (2, 16, 14400.0)
    """
    if system not in SYSTEMS:
        raise ParameterError(
            shown(f"no batch system {system!r}; there are: {', '.join(SYSTEMS)}{did_you_mean([system], SYSTEMS)}")
        )
    source = read_source(path, needs_interpreter=system == "slurm")
    if system == "pbs":
        return read_pbs(source, arguments)
    return read_sbatch(source, arguments, os.environ if environment is None else environment)
