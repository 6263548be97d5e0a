# SPDX-License-Identifier: BSD-3-Clause
"""A seeded generator of malformed logs, by family; what must come of each is in ``test_malformed.py``.

Every file starts from a sound log and has one kind of damage. The log's lines that the damage does not touch are
known, so that a test can see that they are all read, and unchanged.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

SEED = 20_030_226
FILES_PER_FAMILY = 25
MAX_BYTES = 1_000_000
"""Limit under which every file but the bombs is read: none of the sound texts comes near it."""
BOMB_BYTES = 100_000
"""Limit under which the bombs are read, which hold several times as much."""

NOTE = (
    b"; Note: Fields after the 18th are the job's utility function: alternating time (s since submission) and value.\n"
)
HEADER = [
    *(b"; Version: 2.2\n", b"; Computer: IBM SP\n", b"; MaxProcs: 1152\n", b"; UnixStartTime: 956700003\n"),
    *(b"; Queue:  0  interactive\n", b"; Note: THIS IS A CLEANED VERSION OF THE LOG!\n", b";       user=68 removed\n"),
]
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": partial(gzip.compress, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda text: bytes(pa.compress(text, "zstd", asbytes=True)),
}


@dataclass(frozen=True)
class Malformed:
    """A malformed file.

    Parameters
    ----------
    family : str
        The kind of damage.
    data : bytes
        The file.
    untouched : list of bytes
        Lines of the sound log that stand undamaged in the file's text, in order; empty where that cannot be said.
    original : bytes or None
        The sound text, if the file must give that or an error, and nothing else.
    max_bytes : int
        Limit under which it is read.
    """

    family: str
    data: bytes
    untouched: tuple[bytes, ...] = ()
    original: bytes | None = None
    max_bytes: int = MAX_BYTES


def sound_lines(rng: random.Random, *, utility: bool = False) -> list[bytes]:
    """Return the lines of a sound log of 30 jobs, its header among them."""
    lines = list(HEADER) + [NOTE] * utility
    submit = 0
    for number in range(1, 31):
        submit += rng.randrange(0, 900)
        run, width = rng.choice([-1, 0, 7, 3600, rng.randrange(1, 90_000)]), rng.choice([1, 8, 64, 1152])
        cpu = rng.choice(["-1", "0.5", f"{rng.random() * 1000:.2f}"])
        fields = [number, submit, rng.randrange(0, 9999), run, width, cpu, -1, width, rng.choice([7200, 129_600]), -1]
        fields += [rng.choice([0, 1, 1, 5, 6]), rng.randrange(1, 99), -1, -1, rng.randrange(0, 23), -1, -1, -1]
        line = " ".join(str(field) for field in fields)
        if utility:
            line += f" 0 {rng.randrange(50, 100)} 600.5 {rng.randrange(10, 50)} {rng.randrange(601, 90_000)} 0"
        lines.append(line.encode() + b"\n")
    return lines


def flipped(rng: random.Random, data: bytes, count: int, *, keep: int = 0) -> tuple[bytes, list[int]]:
    """Return data with some bytes changed, and where; the first ``keep`` bytes stay."""
    places = sorted(rng.sample(range(keep, len(data)), count))
    damaged = bytearray(data)
    for place in places:
        damaged[place] ^= rng.randrange(1, 256)
    return bytes(damaged), places


def without(lines: list[bytes], places: list[int]) -> tuple[bytes, ...]:
    """Return the lines that have none of the places in the text; a damaged newline touches the next line too."""
    kept, start = [], 0
    for line in lines:
        if not any(start - 1 <= place < start + len(line) for place in places):
            kept.append(line)
        start += len(line)
    return tuple(kept)


def byte_flips(rng: random.Random, *, utility: bool = False) -> Malformed:
    """Change one to ten bytes of the text."""
    lines = sound_lines(rng, utility=utility)
    data, places = flipped(rng, b"".join(lines), rng.randrange(1, 11), keep=len(HEADER[0]))
    return Malformed("", data, without(lines, places) if not utility or NOTE in without(lines, places) else ())


def truncations(rng: random.Random) -> Malformed:
    """Cut the text anywhere."""
    lines = sound_lines(rng)
    text = b"".join(lines)
    end = rng.randrange(len(text))
    return Malformed("", text[:end], without(lines, [*range(end - 1, len(text))]))


def wrong_fields(rng: random.Random) -> Malformed:
    """Drop, double, swap, glue or replace fields of some lines."""
    lines = sound_lines(rng)
    touched = set(rng.sample(range(len(HEADER), len(lines)), 6))
    odd = [b"x", b"12:30:00", b"1,5", b"#", b"", b"\xff", b"None", b"0x1F", b"1_000", "\u0663".encode(), b"--1", b"1-"]
    result = []
    for number, line in enumerate(lines):
        fields = line.split()
        place = rng.randrange(18)
        if number in touched:
            kind = rng.randrange(5)
            if kind == 0:
                del fields[place]
            elif kind == 1:
                fields[place:place] = fields[place : place + rng.randrange(1, 18)]
            elif kind == 2:
                rng.shuffle(fields)
            elif kind == 3:
                fields[place : place + 2] = [b"".join(fields[place : place + 2])]
            else:
                fields[place] = rng.choice(odd)
            line = b" ".join(fields) + b"\n"  # noqa: PLW2901
        result.append(line)
    return Malformed("", b"".join(result), tuple(line for i, line in enumerate(lines) if i not in touched))


def wrong_numbers(rng: random.Random) -> Malformed:
    """Put huge, endless, tiny, negative and unreal numbers into some lines."""
    lines = sound_lines(rng)
    touched = set(rng.sample(range(len(HEADER), len(lines)), 8))
    numbers = (
        *(b"NaN", b"nan", b"inf", b"-inf", b"Infinity", b"1e999", b"1e-999", b"1e99999999999", b"-0", b"-0.0", b"1e18"),
        *(b"9" * 18, b"9" * 19, b"9" * 400, b"9" * 5000, b"0." + b"1" * 500, b"-5", b"-1.5", b"9223372036854775807"),
        *(b"9223372036854775808", b"18446744073709551616", b"-9223372036854775809", b"2147483648", b"10000000001"),
        *(
            b"9007199254740993",
            b"9007199254740993.0",
            b"4503599627370497.5",
            b"0.1234567890123456789",
            b"+7",
            b".5",
            b"5.",
        ),
    )
    result = []
    for number, line in enumerate(lines):
        fields = line.split()
        if number in touched:
            fields[rng.randrange(18)] = rng.choice(numbers)
            line = b" ".join(fields) + b"\n"  # noqa: PLW2901
        result.append(line)
    return Malformed("", b"".join(result), tuple(line for i, line in enumerate(lines) if i not in touched))


def binary(rng: random.Random) -> Malformed:
    """Replace lines by random bytes, runs of NUL, or pieces of other formats."""
    lines = sound_lines(rng)
    touched = set(rng.sample(range(1, len(lines)), 10))
    pieces: list[Callable[[], bytes]] = [
        lambda: rng.randbytes(rng.randrange(200)).replace(b"\n", b""),
        lambda: b"\0" * rng.randrange(1, 5000),
        lambda: gzip.compress(rng.randbytes(50), mtime=0).replace(b"\n", b""),
        lambda: '{"job": 1}'.encode("utf-16"),
        lambda: b"<html><body>404</body></html>",
        lambda: b"\x1b[31m" + lines[-1].strip() + b"\x1b[0m",
        lambda: lines[-1].replace(b" ", b"\xa0").strip(),
    ]
    result = [rng.choice(pieces)() + b"\n" if i in touched else line for i, line in enumerate(lines)]
    return Malformed("", b"".join(result), tuple(line for i, line in enumerate(lines) if i not in touched))


def nothing_but_bytes(rng: random.Random) -> Malformed:
    """Random bytes from the first to the last."""
    alphabet = rng.choice(
        [bytes(range(256)), b" \t\r\n;:-+.e0123456789", b"\0\n", b"1 \n", b"-1 \n", b"\r\n;", b"\xef\xbb\xbf\n1"]
    )
    return Malformed("", bytes(rng.choices(alphabet, k=rng.randrange(20_000))))


def line_ends(rng: random.Random) -> Malformed:
    """End lines in CR, CR LF, CR CR LF, LF CR, NEL or form feed, at random; begin with a mark or with UTF-16."""
    lines = sound_lines(rng)
    ends = rng.choice([[b"\r"], [b"\r\n", b"\n"], [b"\r\r\n", b"\n"], [b"\n\r"], [b"\x85", b"\n"], [b"\x0c\n", b"\n"]])
    chosen = [rng.choice(ends) for _ in lines]
    text = b"".join(line[:-1] + end for line, end in zip(lines, chosen, strict=True))
    kind = rng.randrange(8)
    if kind == 0:
        return Malformed("", text.decode("latin-1").encode("utf-16"))
    sound = ends[0] in {b"\r\n", b"\r\r\n"}
    return Malformed("", b"\xef\xbb\xbf" * (kind == 1) + text, tuple(lines) if sound else ())


def long_lines(rng: random.Random) -> Malformed:
    """Replace lines by lines of a megabyte and more, or glue lines together."""
    lines = sound_lines(rng)
    touched = set(rng.sample(range(1, len(lines)), 3))
    result = []
    for number, line in enumerate(lines):
        kind = rng.randrange(4) if number in touched else None
        result.append(
            {
                0: line.strip() + b" " * rng.randrange(250_000) + line,
                1: line.strip() + b" x" * rng.randrange(15, 100_000) + b"\n",
                2: line.strip() * rng.randrange(2, 2000) + b"\n",
                3: b"; " + b"\xff" * 250_000 + b"\n",
            }.get(-1 if kind is None else kind, line)
        )
    return Malformed("", b"".join(result), tuple(line for i, line in enumerate(lines) if i not in touched))


def headers(rng: random.Random) -> Malformed:
    """Put odd comments between the jobs."""
    lines = sound_lines(rng)
    comments = (
        *(b";", b";;;;", b"; : x", b"; Label", b"; MaxProcs: " + b"9" * 5000, b"; UnixStartTime: 99999999999999999"),
        *(
            b"; UnixStartTime: -1",
            b"; Queue: 99999999999999999999 x",
            b"; caf\xe9",
            b"; \0\0",
            b"; \x85x\x1c",
            b"; \r;",
        ),
        *(
            b";   goes on",
            b"; TimeZoneString: nowhere",
            b"; MaxProcs: NaN",
            b"; Version: \xff\xfe",
            b"  ; Note: \xe2\x80",
        ),
    )
    result = []
    for line in lines:
        result += [*(rng.choice(comments) + b"\n" for _ in range(rng.randrange(3))), line]
    return Malformed("", b"".join(result), tuple(lines))


def utility_tuples(rng: random.Random) -> Malformed:
    """Break the utility functions of some lines."""
    lines = sound_lines(rng, utility=True)
    touched = set(rng.sample(range(len(HEADER) + 1, len(lines)), 10))
    tails = (
        *(
            b"0",
            b"0 5",
            b"1 5 6 1",
            b"0 5 0 1",
            b"0 1 5 6",
            b"0 -5 6 -7",
            b"0 5 nan 1",
            b"0 inf 6 1",
            b"0 5 6 x",
            b"0 5 6",
        ),
        *(
            b"-1 -1 -1 -1",
            b"0 1e999 6 1",
            b"0 5 1e999 1",
            b"0 5 6 1_0",
            "0 5 6 \u0663".encode(),
            b"0 5 6 \xff",
            b"0 5 6 0x1",
        ),
        *(b"0 5 " * 40, b"; 0 5", b"0 5 6 1 \0", b"0,5 6,1", b"[(0, 5), (6, 1)]", b"0 5 6 1 5 0"),
    )
    result = []
    for number, line in enumerate(lines):
        fields = b" ".join(line.split()[:18])
        result.append(fields + b" " + rng.choice(tails) + b"\n" if number in touched else line)
    return Malformed("", b"".join(result), tuple(line for i, line in enumerate(lines) if i not in touched))


def compressed_flips(rng: random.Random) -> Malformed:
    """Change bytes of a compressed file behind its magic number; Zstandard, which has no checksum here, apart."""
    lines = sound_lines(rng)
    kind = rng.choice(["gzip", "bz2", "xz"])
    data, _ = flipped(rng, COMPRESS[kind](b"".join(lines)), rng.randrange(1, 4), keep=6)
    return Malformed("", data, (), b"".join(lines))


def compressed_truncations(rng: random.Random) -> Malformed:
    """Cut a compressed file, add to it, or double it, in part or whole."""
    text = b"".join(sound_lines(rng))
    kind = rng.choice(list(COMPRESS))
    data = COMPRESS[kind](text)
    damage = rng.randrange(5)
    if damage == 0:
        return Malformed("", data[: rng.randrange(6, len(data))], (), text)
    if damage == 1:
        return Malformed("", data + rng.randbytes(rng.randrange(1, 300)), (), text)
    if damage == 2:
        return Malformed("", data + data[: rng.randrange(6, len(data))], (), text)
    if damage == 3:
        return Malformed("", COMPRESS[rng.choice(list(COMPRESS))](data), (), text)
    return Malformed("", data + text, (), text)


def bombs(rng: random.Random) -> Malformed:
    """Compress far more text than the limit allows, of lines long, short or empty."""
    kind = rng.choice(list(COMPRESS))
    unit = rng.choice([b"\n", b" ", b"\0", b";\n", b"x\n", b"1 ", b"; Note: x\n", sound_lines(rng)[-1]])
    return Malformed("", COMPRESS[kind](unit * (rng.randrange(2, 6) * BOMB_BYTES // len(unit))), (), b"", BOMB_BYTES)


FAMILIES: dict[str, Callable[[random.Random], Malformed]] = {
    "byte flips": byte_flips,
    "byte flips with utility tuples": partial(byte_flips, utility=True),
    "truncations": truncations,
    "wrong fields": wrong_fields,
    "wrong numbers": wrong_numbers,
    "binary": binary,
    "nothing but bytes": nothing_but_bytes,
    "line ends": line_ends,
    "long lines": long_lines,
    "headers": headers,
    "utility tuples": utility_tuples,
    "compressed flips": compressed_flips,
    "compressed truncations": compressed_truncations,
    "bombs": bombs,
}


def malformed(family: str, index: int, seed: int = SEED) -> Malformed:
    """Return a malformed file of a family, the same one for the same index and seed."""
    return replace(FAMILIES[family](random.Random(f"{seed} {family} {index}")), family=family)
