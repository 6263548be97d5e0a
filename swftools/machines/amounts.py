# SPDX-License-Identifier: BSD-3-Clause
"""Memory as people write it: 64G, 512000M; and how it is shown."""

from __future__ import annotations

import re

from swftools.errors import ParameterError

MOST_MEMORY = (1 << 27) - 1
"""MB that a node may have, 128 TB; as many has one whose memory is not known, so that it never lacks."""

_UNITS = {"M": 1, "G": 1024, "T": 1024**2}
_AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([A-Za-z]*)", re.ASCII)


def megabytes_of(text: str) -> int:
    """Return the MB, of 1024 x 1024 bytes, of an amount of memory.

    Parameters
    ----------
    text : str
        A whole number of MB, or a number with M, G or T behind it, each 1024 of the one before, as Slurm has them.

    Raises
    ------
    ParameterError
        It is another unit, or no whole number of MB.

    Examples
    --------
    >>> megabytes_of("64000"), megabytes_of("64G"), megabytes_of("1.5T")
    (64000, 65536, 1572864)
    >>> megabytes_of("64GB")
    Traceback (most recent call last):
        ...
    swftools.errors.ParameterError: '64GB' is no amount of memory: GB is not known; write MB as a number, or 64M, 64G
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise ParameterError(f"{text!r} is no amount of memory; write MB as a number, or as in 64G, 512000M, 1.5T")
    unit = found[2].upper() or "M"
    if unit not in _UNITS:
        number = found[1]
        told = f"{found[2]} is not known; write MB as a number, or {number}M, {number}G"
        raise ParameterError(f"{text!r} is no amount of memory: {told}")
    megabytes = float(found[1]) * _UNITS[unit]
    if megabytes != int(megabytes):
        raise ParameterError(f"{text!r} is {megabytes:,.6g} MB; write a whole number of them")
    return int(megabytes)


def shown_memory(megabytes: int) -> str:
    """Return an amount of memory with the units of ``megabytes_of``, rounded to three digits.

    Examples
    --------
    >>> shown_memory(64000), shown_memory(65536), shown_memory(3_000_000), shown_memory(0), shown_memory(900)
    ('62.5G', '64G', '2.86T', '0M', '900M')
    """
    unit = next((unit for unit in ("T", "G") if megabytes >= _UNITS[unit]), "M")
    amount = megabytes / _UNITS[unit]
    return f"{amount:,.0f}{unit}" if amount >= 999.5 else f"{amount:.3g}{unit}"
