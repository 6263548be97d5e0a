# SPDX-License-Identifier: BSD-3-Clause
"""Damage to the text of logs as it happens, drawn from a seed: lines lost, shuffled, repeated, cut, bytes wrong."""

from __future__ import annotations

from random import Random


def mutations(text: bytes, seed: int) -> bytes:
    """Return a text with one to four kinds of damage.

    Parameters
    ----------
    text : bytes
        Of a log, sound.
    seed : int
        Equal seeds damage equal texts equally.
    """
    random = Random(seed)
    for _ in range(random.randint(1, 4)):
        text = random.choice(_DAMAGE)(text, random)
    return text


def _place(text: bytes, random: Random) -> int:
    return random.randrange(len(text) + 1)


def _lines_lost(text: bytes, random: Random) -> bytes:
    share = random.choice([0.01, 0.1, 0.5])
    return b"".join(line for line in text.splitlines(keepends=True) if random.random() > share)


def _lines_shuffled(text: bytes, random: Random) -> bytes:
    lines = text.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1)
    stop = min(len(lines), start + random.choice([3, 30, len(lines)]))
    part = lines[start:stop]
    random.shuffle(part)
    return b"".join([*lines[:start], *part, *lines[stop:]])


def _lines_repeated(text: bytes, random: Random) -> bytes:
    lines = text.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1)
    part = lines[start : start + random.choice([1, 5, 80])]
    at = random.choice([start, random.randrange(len(lines) + 1)])
    return b"".join([*lines[:at], *part, *lines[at:]])


def _cut(text: bytes, random: Random) -> bytes:
    place = _place(text, random)
    return random.choice([text[:place], text[place:], text[:place] + text[place + random.randint(1, 200) :]])


def _bytes_wrong(text: bytes, random: Random) -> bytes:
    wrong = bytearray(text)
    for _ in range(random.choice([1, 10, 100])):
        if wrong:
            wrong[random.randrange(len(wrong))] = random.choice([*b"\0\r\n\t :;|=()\"'-+.0123456789", *range(256)])
    return bytes(wrong)


def _digits_wrong(text: bytes, random: Random) -> bytes:
    """Put other numbers in the place of some: negative, huge, or with a comma."""
    wrong = bytearray(text)
    digits = [place for place in range(len(wrong)) if 48 <= wrong[place] <= 57]
    for place in random.sample(digits, min(len(digits), random.choice([1, 5, 50]))):
        wrong[place : place + 1] = random.choice([b"", b"-", b"9999999999", b"1e400", b",", b"x", b"%d" % place])
    return bytes(wrong)


def _words_swapped(text: bytes, random: Random) -> bytes:
    words = text.split(b" ")
    for _ in range(random.choice([1, 10])):
        one, other = random.randrange(len(words)), random.randrange(len(words))
        words[one], words[other] = words[other], words[one]
    return b" ".join(words)


def _line_ends(text: bytes, random: Random) -> bytes:
    return text.replace(b"\n", random.choice([b"\r\n", b"\r", b"\n\n", b" \n"]))


def _bytes_put_in(text: bytes, random: Random) -> bytes:
    place = _place(text, random)
    put = random.choice([b"\0" * 50, b"\xff\xfe", b"Caf\xe9 \xc3", b"\n\n", b"x" * 5000, text[:300]])
    return text[:place] + put + text[place:]


_DAMAGE = (
    *(_lines_lost, _lines_shuffled, _lines_repeated, _cut, _bytes_wrong, _digits_wrong, _words_swapped, _line_ends),
    _bytes_put_in,
)
