# SPDX-License-Identifier: BSD-3-Clause
"""Names of logs, by which data sets are called: of files, in letters that are safe anywhere, and of models."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anyascii import anyascii

from swftools.parameters import Parameters

LONGEST = 100
"""Most characters of a log's name; a data set's may have 128, and adds to it."""

_ARCHIVE = re.compile(r"(\.(swf|txt|log|json))?(\.(gz|bz2|xz|zst|zip))?$", re.IGNORECASE)


def name_of_file(path: Path) -> str:
    """Return a safe name for the log in a file: the file's, transliterated, without .swf.gz and the like.

    Names that are too long are cut, and names of nothing but signs replaced; then a hash of the whole tells them apart.

    Examples
    --------
    >>> name_of_file(Path("logs/Zürich März.swf.gz")), name_of_file(Path("日志.swf"))
    ('Zurich-Marz', 'RiZhi')
    """
    name = _ARCHIVE.sub("", path.name)
    return shortened(_safe(anyascii(name)) or f"log-{_hash(name)}", name)


def name_of_model(model: Parameters) -> str:
    """Return a name for what a model generates: the model's, and the parameters that are not the default ones.

    Where they would make it too long, or do not stand in it as they are, a hash of them follows.

    Examples
    --------
    >>> from swftools.models.lublin_feitelson import LublinFeitelsonParameters
    >>> name_of_model(LublinFeitelsonParameters(jobs=500, load=0.8, seed=3))
    'lublin-feitelson-jobs500-seed3-load0.8'
    """
    others = dict(_leaves(type(model)().to_mapping()))
    chosen = {name: value for name, value in _leaves(model.to_mapping()) if value != others.get(name)}
    words = [f"{name}{value}" for name, value in chosen.items()]
    exact = "-".join([model.NAME, *words])
    safe = _safe(exact)
    return shortened(safe if safe == exact else f"{safe[: LONGEST - 9]}-{_hash(exact)}", exact)


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield parameters by name, those within a mapping by a name with a dot."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield above + str(name), value


def _safe(text: str) -> str:
    """Return a text as a name of a data set may be, which can leave nothing."""
    return re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9._+-]+", "-", text)).strip("-._+")


def shortened(safe: str, exact: str) -> str:
    """Return a name, or the beginning of one that is too long with a hash of the whole."""
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST - 9].rstrip('-._+')}-{_hash(exact)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
