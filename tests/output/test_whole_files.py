# SPDX-License-Identifier: BSD-3-Clause
"""Files appear whole or not at all: whatever fails while one is written, the old one stands, and the error says why."""

from __future__ import annotations

import errno
import io
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

import swftools
from swftools import Trace, read_swf, write_swf
from swftools.checkpoints.inference import write_checkpoints
from swftools.checkpoints.survey import CheckpointSurvey, read_checkpoint_survey, write_checkpoint_survey
from swftools.errors import StorageError, SwfFormatError, UnreadableLogError
from swftools.formats.parquet import read_parquet, write_parquet
from swftools.formats.trace_directory import save_trace
from swftools.output.whole_files import create_file
from swftools.tables import to_arrow, write_table

JOBS = 3000
NOBODY = 65534


def trace_of(jobs: int = JOBS) -> Trace:
    """Return a trace of some jobs that differ, so that no compression makes little of them."""
    numbers = list(range(1, jobs + 1))
    return Trace.from_columns(job_number=numbers, submit_time=[number * 7919 % 100_003 for number in numbers])


def survey_of(answers: int = 500) -> CheckpointSurvey:
    """Return a survey of some answers."""
    lines = "".join(f"1,4,{number},,1,\n" for number in range(1, answers + 1))
    header = "user_id,processors,job_number,submit_time,choice,interval_minutes\n"
    return read_checkpoint_survey(io.StringIO(header + lines))


def checkpoints_of(jobs: int = 500) -> pd.DataFrame:
    """Return what ``write_checkpoints`` writes, of some jobs."""
    columns = {"performs_checkpointing": True, "checkpoint_interval": 900.0, "checkpoint_source": "survey"}
    frame = pd.DataFrame({"job_number": range(1, jobs + 1), **columns, "is_checkpoint_survey_synthetic": False})
    return frame.astype({"job_number": "Int64"})


def plain(path: Path) -> None:
    """Write bytes."""
    with create_file(path) as file:
        file.write(b"12345\n" * 2000)


WRITERS: dict[str, Callable[[Path], None]] = {
    "x": plain,
    "x.swf": lambda path: write_swf(trace_of(), path),
    "x.swf.gz": lambda path: write_swf(trace_of(), path),
    "x.swf.bz2": lambda path: write_swf(trace_of(), path),
    "x.swf.xz": lambda path: write_swf(trace_of(), path),
    "x.swf.zst": lambda path: write_swf(trace_of(), path),
    "x.parquet": lambda path: write_parquet(trace_of(), path),
    "jobs.parquet": lambda path: write_table(to_arrow(trace_of().jobs, "jobs"), path, "jobs"),
    "x.csv": lambda path: write_checkpoint_survey(survey_of(), path),
    "checkpoints.csv": lambda path: write_checkpoints(checkpoints_of(), path),
}
each_writer = pytest.mark.parametrize("name", WRITERS)


@contextmanager
def full_disk(most_bytes: int) -> Iterator[None]:
    """Let no file grow beyond some bytes, as a disk does that fills up while it is written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def as_anybody(folder: Path) -> Iterator[None]:
    """Be a user whom permissions bind, which root is not; the folder is theirs."""
    if os.geteuid() != 0:
        yield
        return
    shutil.chown(folder, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def fail_after(done: object, error: BaseException) -> None:
    """Raise an error when something is done."""
    raise error


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that another user can get at, unlike ``tmp_path``."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


# ---------------------------------------------------------------- every writer


@each_writer
def test_a_file_is_made_and_replaced(name: str, tmp_path: Path) -> None:
    """Nothing else is left in the folder, and the second file is the first again, whatever stood there between."""
    path = tmp_path / name
    WRITERS[name](path)
    first = path.read_bytes()
    path.write_bytes(b"something else")
    WRITERS[name](path)
    assert first == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


@each_writer
def test_a_disk_that_fills_up_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    """Half of the new one is written by then; the error says what to do."""
    path = tmp_path / name
    WRITERS[name](path)
    half = path.stat().st_size // 2
    path.write_bytes(b"the old file")
    with full_disk(half), pytest.raises(StorageError) as caught:
        WRITERS[name](path)
    assert f"{path}: cannot be written (File too large); raise the limit" in str(caught.value)
    assert b"the old file" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


@each_writer
def test_a_disk_that_is_full_at_the_last_moment_leaves_the_old_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems say only on syncing that there is no space."""

    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / name
    path.write_bytes(b"the old file")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(
        StorageError, match=rf"{name}: cannot be written \(No space left on device\); free space and run again"
    ):
        WRITERS[name](path)
    assert b"the old file" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


@each_writer
def test_a_missing_folder(name: str, tmp_path: Path) -> None:
    """It is not made in passing: the path may be mistyped."""
    path = tmp_path / "missing" / name
    with pytest.raises(StorageError, match=rf"missing/{name}: .*No such file or directory\); make the folder first"):
        WRITERS[name](path)
    assert [] == list(tmp_path.iterdir())


@each_writer
def test_a_folder_that_may_not_be_written(name: str, open_folder: Path) -> None:
    """The old file in it stays, and nothing is left beside it."""
    path = open_folder / name
    path.write_bytes(b"the old file")
    path.chmod(0o666)
    with as_anybody(open_folder):
        open_folder.chmod(0o555)
        with pytest.raises(StorageError, match=rf"{name}: .*Permission denied\); check the permissions"):
            WRITERS[name](path)
        with pytest.raises(StorageError, match=r"new: .*Permission denied\); check the permissions"):
            plain(open_folder / "new")
    assert b"the old file" == path.read_bytes()
    assert [path] == list(open_folder.iterdir())


@each_writer
def test_a_file_that_may_not_be_written(name: str, open_folder: Path) -> None:
    """A folder in which files can be renamed is no leave to replace one that is protected."""
    path = open_folder / name
    path.write_bytes(b"the old file")
    path.chmod(0o444)
    with (
        as_anybody(open_folder),
        pytest.raises(StorageError, match=rf"{name}: .*Permission denied\); check the permissions"),
    ):
        WRITERS[name](path)
    assert b"the old file" == path.read_bytes()
    assert [path] == list(open_folder.iterdir())


@pytest.mark.parametrize("name", ["jobs.parquet", "quarantine.parquet", "header.txt", "trace.json"])
def test_each_file_of_a_saved_trace_appears_whole(name: str, tmp_path: Path) -> None:
    """What cannot be written leaves the old one, and names it."""
    trace = trace_of()
    save_trace(trace, tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(StorageError, match=rf"{name}: cannot be written \(Is a directory\); name a file"):
        save_trace(trace, tmp_path)
    with pytest.raises(StorageError, match=r"jobs\.parquet: .*make the folder first"):
        save_trace(trace, tmp_path / "missing")


# ---------------------------------------------------------------- reading and writing one file


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_log_written_onto_itself(suffix: str, tmp_path: Path) -> None:
    """It is the same log, and a trace that cannot be written leaves it."""
    path = tmp_path / f"log.swf{suffix}"
    write_swf(trace_of(), path)
    before = path.read_bytes()
    write_swf(read_swf(path), path)
    assert before == path.read_bytes()
    trace = read_swf(path)
    with pytest.raises(SwfFormatError, match="status -1"):
        write_swf(trace.with_jobs(trace.jobs.assign(status=-1)), path)
    assert before == path.read_bytes()


def test_a_table_written_onto_itself(tmp_path: Path) -> None:
    """The jobs stay the same."""
    path = tmp_path / "log.parquet"
    write_parquet(trace_of(), path)
    write_parquet(read_parquet(path), path)
    assert trace_of().equals(read_parquet(path))


def test_who_reads_the_old_file_reads_it_to_its_end(tmp_path: Path) -> None:
    """A file that is open is not emptied under its reader."""
    path = tmp_path / "log"
    path.write_bytes(b"the old file")
    with path.open("rb", buffering=0) as reader:
        assert b"the" == reader.read(3)
        plain(path)
        assert b" old file" == reader.read()


def test_a_process_that_is_killed_leaves_the_old_file(tmp_path: Path) -> None:
    """In the middle of a log that it writes, compressed or not."""
    program = """if True:
        import os, signal, sys
        from swftools.formats.compression import create_log
        with create_log(sys.argv[1]) as stream:
            stream.write(os.urandom(1 << 20))
            os.kill(os.getpid(), signal.SIGKILL)
    """
    for name in ("log", "log.zst"):
        (tmp_path / name).write_bytes(b"the old file")
        done = subprocess.run([sys.executable, "-c", program, str(tmp_path / name)], check=False, timeout=120)
        assert -signal.SIGKILL == done.returncode
        assert b"the old file" == (tmp_path / name).read_bytes()


class Unwritable(io.BytesIO):
    """A file object that takes nothing, in a way of its own."""

    name = "over the net"

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def write(self, data: object, /) -> int:
        """Fail."""
        raise self._error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), r"\(No space left on device\); free space and run again"),
        (RuntimeError("odd"), r"\(odd\); check the file object"),
    ],
)
def test_a_file_object_that_takes_nothing(error: Exception, message: str) -> None:
    """Its error has a remedy too."""
    with pytest.raises(StorageError, match=f"^over the net: cannot be written {message}"):
        write_swf(trace_of(1), Unwritable(error))


def test_nothing_is_written_in_another_way() -> None:
    """No module opens a path for writing but ``create_file``'s, downloads, files of lines, and that for developers."""
    ways = re.compile(r"""write_bytes\(|write_text\(|open\([^)]*["'][rb]*[wxa]b?["']|\bos\.(replace|rename)\(""")
    root = Path(swftools.__file__).parent
    found = [path.relative_to(root).as_posix() for path in root.rglob("*.py") if ways.search(path.read_text())]
    assert ["fields/generate.py", "formats/download.py", "live/line_file.py", "output/whole_files.py"] == sorted(found)


# ---------------------------------------------------------------- what create_file promises


def test_all_is_on_disk_before_the_name_and_then_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes, the rename, the folder: in another order a loss of power leaves an empty file under the name."""
    path, events = tmp_path / "log", []
    path.write_bytes(b"old")
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        synced = "folder" if stat.S_ISDIR(status.st_mode) else f"{status.st_size} bytes"
        events.append((f"sync {synced}", path.read_bytes()))
        fsync(descriptor)

    def noted_replace(self: Path, target: Path) -> Path:
        events.append((f"rename to {target.name}", path.read_bytes()))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    with create_file(path) as file:
        file.write(b"12345")
    assert [("sync 5 bytes", b"old"), ("rename to log", b"old"), ("sync folder", b"12345")] == events


def test_a_folder_that_cannot_be_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems cannot, which is no fault; a disk that fails is one."""
    fsync, number = os.fsync, errno.EINVAL

    def fail_for_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_for_folders)
    plain(tmp_path / "log")
    number = errno.EIO
    with pytest.raises(StorageError, match=r"log: cannot be written \(.*\); mend that and run again"):
        plain(tmp_path / "log")


@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError(), KeyboardInterrupt(), SwfFormatError("ours"), UnreadableLogError("ours, and an OSError")],
)
def test_what_fails_while_a_file_is_written_is_raised_as_it_is(error: BaseException, tmp_path: Path) -> None:
    """The old file stays."""
    path = tmp_path / "log"
    path.write_bytes(b"old")
    with pytest.raises(type(error)) as caught, create_file(path) as file:
        fail_after(file.write(b"new"), error)
    assert error is caught.value
    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay(mode: int, tmp_path: Path) -> None:
    """What was not for everybody's eyes is not afterwards; a new file is as any other."""
    path = tmp_path / "log"
    path.touch()
    path.chmod(mode)
    plain(path)
    assert mode == stat.S_IMODE(path.stat().st_mode)
    (tmp_path / "other").touch()
    plain(tmp_path / "new")
    assert (tmp_path / "other").stat().st_mode == (tmp_path / "new").stat().st_mode


def test_a_symbolic_link_goes_on_pointing(tmp_path: Path) -> None:
    """The file that it points to is replaced, in its own folder, or made."""
    (tmp_path / "far").mkdir()
    path, target = tmp_path / "link", tmp_path / "far" / "log"
    path.symlink_to(target)
    for _ in range(2):
        plain(path)
        assert path.is_symlink()
        assert b"12345\n" * 2000 == target.read_bytes()
    assert {path, target.parent} == set(tmp_path.iterdir())


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    """It is not replaced by a file."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    plain(path)
    reader.join()
    assert [b"12345\n" * 2000] == found
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@each_writer
def test_a_device_without_space(name: str, tmp_path: Path) -> None:
    """Its error is the same as that of a file."""
    (tmp_path / name).symlink_to("/dev/full")
    with pytest.raises(StorageError, match=rf"{name}: .*No space left on device\); free space and run again"):
        WRITERS[name](tmp_path / name)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", r"Is a directory\); name a file"),
        (".", r"Is a directory\); name a file"),
        ("a/b", r"Not a directory\); choose a path below a folder"),
        ("x" * 5000, r"File name too long\); choose a shorter name"),
        ("nul\0", r"null (byte|character in path)\); mend that"),
    ],
)
def test_paths_that_cannot_be_written(path: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error that names the path, or its beginning, and the reason."""
    monkeypatch.chdir(tmp_path)
    Path("a").touch()
    with pytest.raises(StorageError, match=rf"^{path[:300]}: cannot be written \(.*{reason}") as caught:
        plain(Path(path)) if path else create_file("").__enter__()
    assert len(str(caught.value)) < 450
    assert [Path("a")] == list(Path().iterdir())


def test_a_log_is_not_written_in_a_compression_that_cannot_be_read(tmp_path: Path) -> None:
    """A plain text named .Z would be refused by the reader."""
    with pytest.raises(ValueError, match=r"log\.swf\.Z: no compress \(\.Z\); use \.gz"):
        write_swf(trace_of(1), tmp_path / "log.swf.Z")
    assert [] == list(tmp_path.iterdir())
