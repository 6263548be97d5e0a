# SPDX-License-Identifier: BSD-3-Clause
"""What goes with a version into a repository: ro-crate-metadata.json, .zenodo.json, from its manifest.

References
----------
"RO-Crate Metadata Specification", version 1.2 (w3id.org/ro/crate/1.2). Zenodo, "Developers: deposit metadata"
(developers.zenodo.org).
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from pipelines.store.croissant import KEYWORDS, creators_of, description_of, licences_of, media_type
from pipelines.store.readme import sources_of
from swftools.fields.dictionary import TABLE_MEANINGS
from swftools.output.shown_text import shown_in_json

RO_CRATE = "ro-crate-metadata.json"
"""The name of the RO-Crate's file, which makes a folder one."""

ZENODO = ".zenodo.json"
"""The name of the file that Zenodo takes what it says of a deposit from."""

_SPECIFICATION = "https://w3id.org/ro/crate/1.2"


def ro_crate_text(
    manifest: Mapping[str, Any], files: Mapping[str, Mapping[str, Any]], published_at: datetime, citation: str
) -> str:
    """Write the metadata of an RO-Crate: the version as root, its files, terms, and the sites of its logs.

    Parameters
    ----------
    manifest : mapping
        Of the version.
    files : mapping
        Size and hash of each file of the folder by name, without this one.
    published_at : datetime
        When the version was published.
    citation : str
        What is to be cited, in words.
    """
    sources = sources_of(manifest)
    terms, sites = _licence_entities(sources), _site_entities(sources)
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": _title(manifest),
        "description": description_of(manifest),
        "datePublished": f"{published_at:%Y-%m-%d}",
        "version": str(manifest["version"]),
        "license": _references(terms),
        "creator": _references(sites),
        "creditText": citation,
        "keywords": list(KEYWORDS),
        "isBasedOn": [{"@id": url} for url in _urls(sources)],
        "hasPart": [{"@id": _identifier(name)} for name in sorted(files)],
    }
    graph = [
        {
            "@id": RO_CRATE,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": _SPECIFICATION},
        },
        {key: value for key, value in root.items() if value},
        *terms,
        *sites,
        *({"@id": url, "@type": "Dataset", "name": "The log that the version is made of"} for url in _urls(sources)),
        *(_file_entity(name, files[name]) for name in sorted(files)),
    ]
    return _as_text({"@context": f"{_SPECIFICATION}/context", "@graph": graph})


def zenodo_text(manifest: Mapping[str, Any], citations: Sequence[str]) -> str:
    """Write what Zenodo is to say of the deposit.

    No licence of Zenodo's list is named, since a log's terms are not ours to choose; they stand in the notes, and
    whoever deposits the version must choose.

    Parameters
    ----------
    manifest : mapping
        Of the version.
    citations : sequence of str
        What the logs ask to be cited, in words.
    """
    sources = sources_of(manifest)
    thanks = [str(source["acknowledgement"]) for source in sources if source.get("acknowledgement")]
    notes = [f"Terms of the log: {terms}" for terms in licences_of(sources)]
    notes += [f"Acknowledgement: {text}" for text in dict.fromkeys(thanks)]
    found = {
        "upload_type": "dataset",
        "title": f"{_title(manifest)}, version {manifest['version']}",
        "description": f"<p>{html.escape(description_of(manifest))}</p>",
        "creators": [{"name": name} for name in creators_of(sources)],
        "version": str(manifest["version"]),
        "keywords": list(KEYWORDS),
        "notes": "".join(f"<p>{html.escape(' '.join(note.split()))}</p>" for note in notes),
        "references": list(dict.fromkeys(citations)),
        "related_identifiers": [
            {"identifier": url, "relation": "isDerivedFrom", "resource_type": "dataset"} for url in _urls(sources)
        ],
    }
    return _as_text({key: value for key, value in found.items() if value})


def _title(manifest: Mapping[str, Any]) -> str:
    return str(manifest.get("title") or manifest["data_set"])


def _urls(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return where the logs come from, each once."""
    return list(dict.fromkeys(str(source["source_url"]) for source in sources if source.get("source_url")))


def _licence_entities(sources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the terms of the logs: they have no address, so they stand in the crate themselves."""
    return [
        {"@id": f"#licence-{number}", "@type": "CreativeWork", "name": "Terms of the log", "description": terms}
        for number, terms in enumerate(licences_of(sources), 1)
    ]


def _site_entities(sources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return who logged what the version holds."""
    return [
        {"@id": f"#site-{number}", "@type": "Organization", "name": name}
        for number, name in enumerate(creators_of(sources), 1)
    ]


def _references(entities: Sequence[Mapping[str, Any]]) -> Any:
    """Return what refers to entities: one alone stands without a list, as the specification shows it."""
    found = [{"@id": entity["@id"]} for entity in entities]
    return found[0] if len(found) == 1 else found


def _file_entity(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    table = name.partition("/")[0] if "/" in name else ""
    return {
        "@id": _identifier(name),
        "@type": "File",
        "name": name,
        **({"description": TABLE_MEANINGS[table]} if table in TABLE_MEANINGS else {}),
        "encodingFormat": media_type(name),
        "contentSize": str(entry["bytes"]),
        "sha256": entry["sha256"],
    }


def _identifier(name: str) -> str:
    """Return the name of a file as the reference that JSON-LD takes it for."""
    return quote(name)


def _as_text(found: Mapping[str, Any]) -> str:
    return shown_in_json(json.dumps(found, indent=2, ensure_ascii=False)) + "\n"
