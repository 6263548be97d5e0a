# SPDX-License-Identifier: BSD-3-Clause
"""Faults: killed at random moments, out of disk, two runs at once. Nothing half-made is ever visible."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipelines.logs.find import SHIPPED_LOG
from pipelines.store.data_root import DataRoot
from tests.folders import VERSION
from tests.forked import PIPELINE
from tests.pipelines.luigi_runs import LUIGI, build, environment

KILLS = int(os.environ.get("SWFTOOLS_KILLS", "4"))
"""How often the pipeline is killed; set it to 50 for the whole trial."""

WORK_SECONDS = 0.8
"""About as long as the stages take from the first file to the pointer's move."""


def count_entries(directory: Path) -> int:
    """Return how many entries a directory that others are changing has, at any depth."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(directory))


def files_of(version: Path) -> dict[str, bytes]:
    """Return what a version holds."""
    return {str(path.relative_to(version)): path.read_bytes() for path in version.rglob("*") if path.is_file()}


def check_visible(data_root: Path) -> None:
    """Check that whatever a reader can see is whole: every version, and what latest names."""
    data_set = data_root / SHIPPED_LOG
    if not data_set.is_dir():
        return
    root = DataRoot.open(data_root)
    visible = list(data_set.glob(VERSION))
    for version in visible:
        assert (version / "manifest.json").is_file()
        assert root.verify(SHIPPED_LOG, version.name) == []
    pointer = data_set / "latest"
    if pointer.exists():
        assert pointer.read_text().strip() in {version.name for version in visible}


@pytest.mark.slow
def test_killed_at_random_moments_it_never_shows_a_part_and_then_completes(tmp_path: Path) -> None:
    """SIGKILL between the first file and the end, again and again, each time on a version of another seed."""
    moments = random.Random(20_000)
    data_root = tmp_path / "data"
    finished = 0
    for seed in range(KILLS):
        if seed % 2:  # else only what depends on the seed would be left to do
            shutil.rmtree(data_root / ".work")
        before = count_entries(data_root)
        with Path(os.devnull).open("r+b") as null:
            process = PIPELINE.start(
                [*LUIGI, "BuildAugmentedTrace", "--seed", str(seed)], tmp_path, environment(), null, null, null
            )
        while process.poll() is None and count_entries(data_root) <= before:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, WORK_SECONDS))
        process.send_signal(signal.SIGKILL)
        finished += process.wait() == 0
        check_visible(data_root)
        again = build(tmp_path, "--seed", str(seed))
        assert again.returncode == 0, again.stderr
        check_visible(data_root)
    assert finished < KILLS
    root = DataRoot.open(data_root)
    assert len(root.versions(SHIPPED_LOG)) == KILLS
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    assert build(undisturbed, "--seed", str(KILLS - 1)).returncode == 0
    last = root.latest(SHIPPED_LOG)
    assert last is not None
    assert files_of(undisturbed / "data" / SHIPPED_LOG / last) == files_of(data_root / SHIPPED_LOG / last)


def test_two_runs_at_once_publish_one_version(tmp_path: Path) -> None:
    """Both exit with 0 and name the same version, which is there once."""
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: build(tmp_path, "--augment", ""), range(2)))
    assert [result.returncode for result in results] == [0, 0], [result.stderr for result in results]
    assert len({result.stdout.splitlines()[1] for result in results}) == 1
    assert len(DataRoot.open(tmp_path / "data").versions(SHIPPED_LOG)) == 1
    check_visible(tmp_path / "data")


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit", [1_000, *(pytest.param(limit, marks=pytest.mark.slow) for limit in (60_000, 300_000))]
)
def test_a_file_that_cannot_grow_ends_in_a_clear_error(tmp_path: Path, limit: int) -> None:
    """Whatever stage it hits: status 30, one line with a remedy, nothing visible; and the next run completes."""

    def restrict() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [*LUIGI, "BuildAugmentedTrace"]
    result = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False, preexec_fn=restrict
    )
    assert result.returncode == 30, result.stderr
    assert ("File too large" in result.stderr, "Traceback" in result.stderr) == (True, False), result.stderr
    assert not list((tmp_path / "data").glob(f"{SHIPPED_LOG}/[!.]*"))
    assert build(tmp_path).returncode == 0
    check_visible(tmp_path / "data")


@pytest.mark.skipif(
    os.geteuid() != 0 or not sys.platform.startswith("linux"), reason="mounting a small disk needs root"
)
@pytest.mark.parametrize("kilobytes", [200, *(pytest.param(limit, marks=pytest.mark.slow) for limit in (700, 1500))])
def test_a_full_disk_ends_in_a_clear_error(tmp_path: Path, kilobytes: int) -> None:
    """The same on a disk that is really full."""
    disk = tmp_path / "data"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this system does not let root mount")
    try:
        result = build(tmp_path)
        assert result.returncode == 30, result.stderr
        assert ("No space left" in result.stderr, "Traceback" in result.stderr) == (True, False), result.stderr
        assert not list(disk.glob(f"{SHIPPED_LOG}/[!.]*"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
