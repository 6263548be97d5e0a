# SPDX-License-Identifier: BSD-3-Clause
"""The options of ``qsub``: those of OpenPBS and Torque, and those that Slurm knows in lines of ``#PBS``."""

from __future__ import annotations

from swftools.job_scripts.getopt import NEEDED, NONE, Grammar

FOR_SLURM = Grammar(
    "sbatch, where it translates #PBS,",
    {**dict.fromkeys("aACcejJklmMNopqrStuvW", NEEDED), **dict.fromkeys("hIVz", NONE)},
    {"q": "partition", "J": "array", "t": "array"},
)
"""What ``sbatch`` of Slurm 22.05 knows in such lines."""

QSUB = Grammar(
    "qsub",
    {**dict.fromkeys("aACbcdDeFjJkKlLmMNoOpPqrRStTuvwW", NEEDED), **dict.fromkeys("fhInVxXz", NONE)},
    {"q": "queue", "J": "array", "t": "array"},
)
"""What ``qsub`` of OpenPBS and Torque knows."""
