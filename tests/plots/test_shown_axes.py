# SPDX-License-Identifier: BSD-3-Clause
"""Pictures show themselves in a notebook, once, and by pyplot where that is in use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from swftools.plots import plot_and_tell, shown_axes
from swftools.trace import Trace
from tests.folders import ROOT

TRACE = Trace.from_columns(job_number=[1, 2], submit_time=[0, 7200], run_time=[60, 60])


@pytest.fixture
def axes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Axes as they are in a script that does without pyplot."""
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    return TRACE.plot("arrivals")


def test_they_have_images(axes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """PNG and SVG; not an SVG that is larger than a notebook should hold."""
    assert axes._repr_png_().startswith(b"\x89PNG")
    assert "share of jobs" in axes._repr_svg_()
    monkeypatch.setattr(shown_axes, "LARGEST_SVG", 100)
    assert axes._repr_svg_() is None


def test_a_window_is_enough(axes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in a window of its own has no image."""
    monkeypatch.setattr(type(axes.figure.canvas), "required_interactive_framework", "tk", raising=False)
    assert axes._repr_png_() is None
    assert axes._repr_svg_() is None


def test_pyplot_knows_them_where_it_is_in_use() -> None:
    """Their figure is the current one, so that ``plt.show()`` shows it; given axes are returned as they are."""
    plt.close("all")
    axes = TRACE.plot("arrivals")
    assert plt.gcf() is axes.figure
    other = Figure().add_subplot()
    assert TRACE.plot("arrivals", ax=other) is other
    assert len(plt.get_fignums()) == 1
    for_a_file, _ = plot_and_tell(TRACE, "arrivals")
    assert type(for_a_file) is Axes
    assert len(plt.get_fignums()) == 1
    plt.close("all")


def test_a_script_does_without_pyplot(axes: Any) -> None:
    """It chooses a backend, which a script that only writes files does not want."""
    assert "matplotlib.pyplot" not in sys.modules


CELLS = {
    "last line": "trace.plot('load')",
    "with the magic": "%matplotlib inline\ntrace.plot('load')",
    "shown by pyplot": "import matplotlib.pyplot as plt\ntrace.plot('load')\nplt.show()",
    "not the last line": "trace.plot('load')\nlen(trace)",
    "on given axes": "figure, ax = plt.subplots()\ntrace.plot('load', ax=ax)",
}


@pytest.mark.slow
def test_a_notebook_shows_each_picture_once(shipped_log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook is run by nbconvert; each cell has one image."""
    import nbformat  # noqa: PLC0415 (it takes a second to load)
    from nbconvert.preprocessors import ExecutePreprocessor  # noqa: PLC0415

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    first = f"import swftools\ntrace = swftools.read_log({str(shipped_log)!r})"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (first, *CELLS.values())])
    ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    images = [sum("image/png" in each.get("data", {}) for each in cell["outputs"]) for cell in notebook.cells[1:]]
    assert dict(zip(CELLS, images, strict=True)) == dict.fromkeys(CELLS, 1)
