# SPDX-License-Identifier: BSD-3-Clause
"""Where the text of a log is: in a file, or as one member of a zip archive, named behind a ``#``."""

from __future__ import annotations

import os
from pathlib import Path


def split_member(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Return the file of a path, and the member of the archive that it names behind the file; None where it names none.

    A file of that very name goes first.

    Examples
    --------
    >>> split_member("a#b.swf")
    ('a#b.swf', None)
    """
    name = os.fsdecode(path)
    if "#" not in name or Path(name).exists():
        return name, None
    places = [place for place, sign in enumerate(name) if sign == "#"]
    found = next((place for place in places if Path(name[:place]).is_file()), None)
    return (name, None) if found is None or not name[found + 1 :] else (name[:found], name[found + 1 :])


def file_of(path: str | os.PathLike[str]) -> Path:
    """Return the file on disk that a path means: that of the archive where it names a member of one."""
    return Path(split_member(path)[0])
