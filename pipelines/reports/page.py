"""A report as one HTML file: it needs no network and no script, prints, and reads on a phone, dark or light."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from pipelines.reports.report import Section, Shown, Version, parts_of
from pipelines.store.bibtex import bibtex_text, references_of_version
from pipelines.store.data_root import DataRoot
from pipelines.store.readme import sources_of
from swftools.errors import MissingLibraryError
from swftools.output.shown_text import shown

_MISSING = "reports need Jinja2 and matplotlib: pip install swftools[report]"


def check_libraries() -> None:
    """Raise MissingLibraryError if what reports take is not installed; it is not imported."""
    if not all(find_spec(name) for name in ("jinja2", "matplotlib")):
        raise MissingLibraryError(_MISSING)


def put_report(root: DataRoot, data_set: str, version: str) -> str:
    """Write the report on a version beside it, as ``VERSION.html``; return its path.

    Parameters
    ----------
    root : DataRoot
        Where the version is published.
    data_set, version : str
        The version, by its whole name.
    """
    return root.put_report(data_set, version, report_page(Version(root, root.manifest(data_set, version))))


def report_page(version: Version, other: Version | None = None) -> str:
    """Return the report on a version, maybe beside another.

    Parameters
    ----------
    version : Version
        What it is about.
    other : Version, optional
        Of the same kind.

    Returns
    -------
    str
        HTML. Equal versions and libraries give equal text.

    Raises
    ------
    ParameterError
        There is no report on such versions.
    MissingLibraryError
        Jinja2 or matplotlib is not installed.
    """
    template = _template()
    what, parts = parts_of(version, other)
    numbers = itertools.count()
    drawn = [(part, list(_drawn(part, numbers))) for part in parts]
    return str(
        template.render(
            title=version.manifest.get("title") or version.data_set,
            what=what,
            version=version,
            other=other,
            facts=list(_facts(version.manifest)),
            parts=drawn,
            provenance=list(_provenance(version.manifest)),
            bibtex=bibtex_text(references_of_version(version.manifest, None)).strip(),
        )
    )


def _template() -> Any:
    """Return the page's template, which escapes all that it is given."""
    try:
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise MissingLibraryError(_MISSING) from error
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalized,
    )
    environment.filters["cell"] = _cell
    environment.tests["number"] = _is_number
    return environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))


def _finalized(value: object) -> object:
    """Take from a text what would turn its order or is not seen; what is marked as safe is ours."""
    return shown(value) if type(value) is str else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    """Return a cell as it is shown."""
    if value is None or value != value:  # noqa: PLR0124 (NaN)
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,.0f}" if _is_number(value) else str(value)


def _drawn(part: Section, numbers: Iterator[int]) -> Iterator[tuple[Any, str]]:
    """Yield the pictures of a part: the drawing, which gets the next number, and what it shows in words."""
    from markupsafe import Markup  # noqa: PLC0415 (comes with Jinja2)

    for picture in part.pictures:
        drawing, words = _svg(picture, next(numbers))
        yield Markup(drawing), words  # noqa: S704 (matplotlib's own, which escapes what it writes)


def _svg(picture: Shown, number: int) -> tuple[str, str]:
    """Return a picture as an element of a page, and its caption."""
    from swftools.plots import caption, plot, style  # noqa: PLC0415 (an extra)

    with style():
        figure: Any = plot(picture.subject, picture.name, **picture.chosen).figure
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    words = caption(picture.subject, picture.name, **picture.chosen)
    whole = text.getvalue()
    return _unique(whole[whole.index("<svg") :], f"{picture.name}-{number}"), words


def _unique(svg: str, name: str) -> str:
    """Return a drawing whose names of parts are its own, so that several can stand on a page."""
    return re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)


def _facts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield what a version is, and on which terms."""
    logs = [str(source["log"]["name"]) for source in sources_of(manifest)]
    yield "Logs" if len(logs) > 1 else "Log", ", ".join(logs)
    for name, words in {
        "installation": "Site",
        "computer": "Computer",
        "machine_processors": "Processors",
        "licence": "Licence",
        "acknowledgement": "Acknowledgement",
        "citation": "To cite",
    }.items():
        for told in dict.fromkeys(source[name] for source in sources_of(manifest) if source.get(name)):
            yield words, told


def _provenance(manifest: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield how a version was made."""
    yield "Version", manifest["version"]
    yield "Made by", manifest.get("made_by")
    for name, words in {"code_versions": "Versions of the stages", "software": "Software"}.items():
        if manifest.get(name):
            yield words, ", ".join(f"{key} {value}" for key, value in manifest[name].items())
    if manifest.get("log", {}).get("sha256"):
        yield "sha256 of the log's text", manifest["log"]["sha256"]
