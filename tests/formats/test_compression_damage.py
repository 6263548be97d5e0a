# SPDX-License-Identifier: BSD-3-Clause
"""Damaged, misnamed and unverified logs: a compressed log gives its text, an error, or the word that nobody checked."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from swftools import iter_swf, read_swf, write_swf
from swftools.description import describe
from swftools.errors import UnreadableLogError
from swftools.formats.compression import create_log, open_log
from swftools.formats.trace_directory import load_trace, save_trace
from tests.formats.malformed import sound_lines

MUTATIONS = 100
TEXT = b"".join(line for _ in range(40) for line in sound_lines(random.Random(40)))
UNVERIFIED = "zstd data without checksum: damage would not show"


def written(text: bytes, folder: Path, suffix: str) -> bytes:
    """Return the bytes of a file that our own writer makes."""
    path = folder / f"written{suffix}"
    with create_log(path) as stream:
        stream.write(text)
    data = path.read_bytes()
    path.unlink()
    return data


COMPRESS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": (".gz", lambda text: gzip.compress(text, mtime=0)),
    "gzip with a name": (".gz", lambda text: b"\x1f\x8b\x08\x08" + bytes(6) + b"x\0" + gzip.compress(text)[10:]),
    "bz2": (".bz2", bz2.compress),
    "xz": (".xz", lzma.compress),
    "xz of the least checksum": (".xz", lambda text: lzma.compress(text, check=lzma.CHECK_CRC32)),
    "xz without checksum": (".xz", lambda text: lzma.compress(text, check=lzma.CHECK_NONE)),
    "zstd without checksum": (".zst", lambda text: bytes(pa.compress(text, "zstd", asbytes=True))),
}
OURS = [".gz", ".bz2", ".xz", ".zst"]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return data with one byte changed, its end cut off, or some of it zero, as disks and networks leave it."""
    place = rng.choice([rng.randrange(len(data)), rng.randrange(16), len(data) - 1 - rng.randrange(16)])
    kind = rng.randrange(3)
    if kind == 0:
        return data[:place] + bytes([data[place] ^ rng.randrange(1, 256)]) + data[place + 1 :]
    if kind == 1:
        return data[:place]
    zeros = data[place : place + rng.choice([2, 16, 512])]
    return data[:place] + bytes(len(zeros)) + data[place + len(zeros) :]


def outcome(path: Path) -> tuple[bytes | None, str | None]:
    """Return the text of a log, and why it is not verified; no text for one that is refused."""
    try:
        with open_log(path) as stream:
            return stream.read(), stream.unverified
    except UnreadableLogError:
        return None, None


def outcomes(data: bytes, path: Path, seed: str) -> Counter[str]:
    """Mutate a compressed log again and again; count how many are refused, read, and read to another text."""
    counts: Counter[str] = Counter()
    for number in range(MUTATIONS):
        damaged = mutated(data, random.Random(f"{seed} {number}"))
        path.write_bytes(damaged)
        text, note = outcome(path)
        kind = "refused" if text is None else "the text" if text == TEXT else "another text"
        counts[kind + (", unverified" if note else "")] += damaged != data
    return counts


@pytest.mark.parametrize("suffix", OURS)
def test_damage_to_a_log_that_we_wrote_is_seen(suffix: str, tmp_path: Path) -> None:
    """Each is refused, or gives exactly the text that was written."""
    counts = outcomes(written(TEXT, tmp_path, suffix), tmp_path / f"log{suffix}", suffix)
    assert {"refused", "the text"} >= counts.keys()
    assert counts["refused"] > MUTATIONS * 0.8


@pytest.mark.parametrize("name", COMPRESS)
def test_damage_to_a_log_of_others_is_seen_or_the_log_is_called_unverified(name: str, tmp_path: Path) -> None:
    """What a file without checksum gives may be another text; it never passes for one that was checked."""
    suffix, compress = COMPRESS[name]
    counts = outcomes(compress(TEXT), tmp_path / f"log{suffix}", name)
    allowed = {"refused", "the text"}
    if "without" in name:
        allowed = {"refused", "the text, unverified", "another text, unverified"}
        # xz without checksum notices most damage by the sizes that it knows.
        assert counts["another text, unverified"] or "xz" in name, "these mutations show nothing"
    assert allowed >= counts.keys()
    assert counts["refused"] > MUTATIONS * 0.4


@pytest.mark.parametrize("changes", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_every_byte_of_a_small_log_of_ours(changes: int, tmp_path: Path) -> None:
    """Each bit of each compression's first bytes and of the checksums at the end counts."""
    text = TEXT[:300]
    for suffix in OURS:
        data, path = written(text, tmp_path, suffix), tmp_path / f"log{suffix}"
        for place in range(len(data)):
            for change in ((1, 4, 0x80) * 2)[place % 3 :][:changes]:
                path.write_bytes(data[:place] + bytes([data[place] ^ change]) + data[place + 1 :])
                found, note = outcome(path)
                assert (found in {None, text}, note) == (True, None), (suffix, place, change)


# ---------------------------------------------------------------- checksums


def test_what_we_write_is_verified(tmp_path: Path) -> None:
    """In every compression, and plain text needs none."""
    for suffix in ["", *OURS]:
        path = tmp_path / f"log.swf{suffix}"
        write_swf(read_swf(io.BytesIO(TEXT)), path)
        trace = read_swf(path)
        assert "unverified" not in trace.provenance
        assert "unverified" not in describe(trace)


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (COMPRESS["zstd without checksum"][1](TEXT), UNVERIFIED),
        (COMPRESS["xz without checksum"][1](TEXT), UNVERIFIED.replace("zstd", "xz")),
    ],
)
def test_a_log_without_checksum_is_called_unverified(data: bytes, note: str, tmp_path: Path) -> None:
    """By the provenance, also of a saved trace and of each chunk, and by its description."""
    trace = read_swf(io.BytesIO(data))
    assert note == trace.provenance["unverified"] == describe(trace)["unverified"]
    assert {note} == {part.provenance["unverified"] for part in iter_swf(io.BytesIO(data), chunk_bytes=1000)}
    save_trace(trace, tmp_path)
    assert note == load_trace(tmp_path).provenance["unverified"]
    assert json.dumps(describe(trace))


def test_one_frame_without_checksum_is_enough(tmp_path: Path) -> None:
    """Also where it is empty, wherever it stands, and however little is read at once."""
    bare = COMPRESS["zstd without checksum"][1]
    checked = written(TEXT, tmp_path, ".zst")
    parts = [checked + bare(b"x"), bare(b"x") + checked, checked + bare(b"") + checked]
    for data in parts:
        for size in (-1, 1000):
            with open_log(io.BytesIO(data)) as stream:
                while stream.read(size):
                    pass
                assert UNVERIFIED == stream.unverified
    with open_log(io.BytesIO(checked + checked)) as stream:
        assert TEXT + TEXT == stream.read()
        assert stream.unverified is None
    with open_log(io.BytesIO(checked + bare(b"x"))) as stream:
        assert stream.unverified is None, "nothing has been read that could be wrong"
        stream.read(10)
        assert stream.unverified is None


def test_a_stream_that_gives_a_byte_at_a_time(tmp_path: Path) -> None:
    """The byte that tells of the checksum may come alone."""

    class Dribble(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(1, size or 0) if size and size >= 0 else size)

    for data, note in (
        (written(TEXT[:500], tmp_path, ".zst"), None),
        (pa.compress(b"x", "zstd").to_pybytes(), UNVERIFIED),
    ):
        with open_log(Dribble(data)) as stream:
            stream.read()
        assert note == stream.unverified


def test_frames_of_parallel_compressors_are_skipped(tmp_path: Path) -> None:
    """They begin with a frame of their own, which is no text, whose bytes are no checksum, and which may be damaged."""
    frame = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"\0\0\0\0\0"
    checked = written(TEXT, tmp_path, ".zst")
    for data in (frame + checked, frame.replace(b"\x50", b"\x5f", 1) + checked, checked + frame):
        with open_log(io.BytesIO(data)) as stream:
            assert TEXT == stream.read()
            assert stream.unverified is None


# ---------------------------------------------------------------- names that the content contradicts


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [(".gz", "gzip"), (".bz2", "bz2"), (".xz", "xz"), (".zst", "zstd"), (".Z", "compress"), (".GZ", "gzip")],
)
def test_plain_text_named_as_compressed(suffix: str, kind: str, tmp_path: Path) -> None:
    """It may be damaged, or misnamed: the error says how to mend either, by path and by file."""
    path = tmp_path / f"log.swf{suffix}"
    path.write_bytes(TEXT)
    why = rf"named {suffix}, but not {kind} data: it begins like plain text \(b'; Vers'\); fetch the file again"
    message = rf"{path}: {why}, or rename it without {suffix} if it was never compressed$"
    with pytest.raises(UnreadableLogError, match=message):
        read_swf(path)
    with pytest.raises(UnreadableLogError, match=message):
        list(iter_swf(str(path)))
    for buffering in (-1, 0):
        with path.open("rb", buffering) as file, pytest.raises(UnreadableLogError, match=message):  # type: ignore[call-overload]
            read_swf(file)
    renamed = path.rename(tmp_path / "log.swf")
    assert len(read_swf(renamed))


@pytest.mark.parametrize("suffix", OURS)
def test_a_damaged_first_byte(suffix: str, tmp_path: Path) -> None:
    """The file is not taken for text in an odd alphabet."""
    path = tmp_path / f"log{suffix}"
    data = written(TEXT, tmp_path, suffix)
    for place in range(2):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(UnreadableLogError, match=rf"{path}: named {suffix}, but not .* data: it begins .*fetch"):
            read_swf(path)


@pytest.mark.parametrize("suffix", [*OURS, ".Z"])
def test_an_empty_file_named_as_compressed(suffix: str, tmp_path: Path) -> None:
    """A compressed text without a line has some bytes: none at all are a download that failed."""
    path = tmp_path / f"log{suffix}"
    path.touch()
    with pytest.raises(
        UnreadableLogError, match=rf"named {suffix}, but not .* data: it is empty; fetch the file again"
    ):
        read_swf(path)
    if suffix in OURS:
        path.write_bytes(written(b"", tmp_path, suffix))
        assert 0 == len(read_swf(path))


def test_names_that_say_no_compression_or_another(tmp_path: Path) -> None:
    """A content that is compressed is beyond doubt, whatever its name; so is text under a name without suffix."""
    for name in ("log.swf", "log.txt", "log", "log.gz", "log.bz2", "log.Z"):
        (tmp_path / name).write_bytes(written(TEXT, tmp_path, ".xz"))
        with open_log(tmp_path / name) as stream:
            assert TEXT == stream.read()
    for name in ("log.swf", "gz", ".gz", "log.gz.swf"):
        (tmp_path / name).write_bytes(TEXT)
        assert len(read_swf(tmp_path / name))


def test_streams_that_decompress_keep_the_name_of_their_file(tmp_path: Path) -> None:
    """Their text is no misnamed file."""
    for suffix, module in ((".gz", gzip), (".bz2", bz2), (".xz", lzma)):
        path = tmp_path / f"log{suffix}"
        path.write_bytes(written(TEXT, tmp_path, suffix))
        with module.open(path) as file:
            assert len(read_swf(file))


# ---------------------------------------------------------------- memory


def xz_with_dictionary(size_code: int) -> bytes:
    """Return an xz file whose header asks for a dictionary: 40 means 4 GiB, 36 means 1 GiB, 28 means 64 MiB."""
    data = bytearray(lzma.compress(b"; x\n", preset=0))
    length = 4 * (data[12] + 1)  # of the block header, which ends in its checksum
    place = data.index(b"\x21\x01", 12) + 2  # behind the LZMA2 filter's number and the size of its property
    data[place] = size_code
    data[12 + length - 4 : 12 + length] = zlib.crc32(data[12 : 12 + length - 4]).to_bytes(4, "little")
    return bytes(data)


def test_a_small_file_cannot_ask_for_all_memory() -> None:
    """A dictionary beyond 1 GiB is refused; that of ``xz -9`` is not."""
    for code in (36, 39, 40):
        with (
            pytest.raises(UnreadableLogError, match=r"xz data truncated or corrupt .*[Mm]emory usage limit"),
            open_log(io.BytesIO(xz_with_dictionary(code))) as stream,
        ):
            stream.read()
    for data in (xz_with_dictionary(28), lzma.compress(b"; x\n", preset=9)):
        with open_log(io.BytesIO(data)) as stream:
            assert b"; x\n" == stream.read()
