# SPDX-License-Identifier: BSD-3-Clause
"""States of Slurm's jobs as tables have them, by name and by number (slurm.h, enum job_states)."""

from __future__ import annotations

NAMES: dict[str, int | None] = {
    "PENDING": None,
    "RUNNING": None,
    "SUSPENDED": None,
    "COMPLETED": 1,
    "CANCELLED": 5,
    "FAILED": 0,
    "TIMEOUT": 0,
    "NODE_FAIL": 0,
    "PREEMPTED": 5,
    "BOOT_FAIL": 0,
    "DEADLINE": 0,
    "OUT_OF_MEMORY": 0,
}
"""In the order of their numbers."""

NUMBERS: dict[str, int | None] = {str(number): status for number, status in enumerate(NAMES.values())}
