# SPDX-License-Identifier: BSD-3-Clause
"""Names on the data root: those that the store itself uses, and which ones users may give."""

from __future__ import annotations

import re

from swftools.errors import UnsafeNameError

LATEST = "latest"
"""The file of a data set that names one of its versions."""

CATALOG = "catalog.yaml"
"""The generated catalogue of the whole root."""

CATALOG_NOTES = ".catalog-notes.json"
"""What the catalogue is made of, by version, so that the next one need not read every manifest."""

TAGS = ".tags"
"""The directory of a data set that holds its tags, each a text file that names a version."""

REPORT = ".html"
"""Behind the name of a version: its report, a file beside its directory."""

MANIFEST = "manifest.json"
"""A directory of files is a version once it holds this one."""

PART = "part-0.parquet"
"""The file in a table's directory, of a table that is one file."""

PENDING = ".pending-latest"
"""Becomes visible together with a version and goes when `latest` and the catalogue have followed."""

LONGEST = 128
"""Most characters of a name."""

LONGEST_OF_FILES = 200
"""The same of a file in a version, whose name may begin with that of its data set."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_RESERVED = {LATEST, CATALOG, MANIFEST}


def check_name(name: str, what: str) -> str:
    """Return a name that is safe as one part of a path below the data root.

    Parameters
    ----------
    name : str
        Name of a data set, version, tag, table or file.
    what : str
        Which of these it is, for the message.

    Raises
    ------
    UnsafeNameError
        The name could leave the root, hide, or be mistaken for a file of the store.
    """
    most = LONGEST_OF_FILES if what == "file" else LONGEST
    if not is_name(name, most):
        raise UnsafeNameError(
            f"{what} {name[: 2 * LONGEST_OF_FILES]!r}: use at most {most} letters, digits and . _ + - that begin with "
            f"a letter or digit, without '..', and none of {', '.join(sorted(_RESERVED))}"
        )
    return name


def is_name(name: str, most: int = LONGEST) -> bool:
    """Return whether ``check_name`` accepts a name."""
    # Lower case, because file systems of macOS take LATEST for latest.
    return len(name) <= most and bool(_NAME.fullmatch(name)) and ".." not in name and name.lower() not in _RESERVED
