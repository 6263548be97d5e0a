# SPDX-License-Identifier: BSD-3-Clause
"""One Slurm for all tests of this folder; they are slow, and are passed over where it cannot be started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real_slurm.cluster import Slurm, running_slurm, what_is_missing


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A Slurm of sixteen processors that nobody uses yet."""
    if missing := what_is_missing():
        pytest.skip(missing)
    with running_slurm(tmp_path_factory.mktemp("slurm") / "own") as running:
        yield running
