# SPDX-License-Identifier: BSD-3-Clause
"""Modules of one's own are found in the current folder too, behind all others."""

import sys

import pytest

from swftools.errors import ParameterError
from swftools.parameters.registry import Registry, import_own


def test_a_module_of_the_current_folder(tmp_path, monkeypatch):
    """A module of the current folder."""
    (tmp_path / "found_right_here.py").write_text("ANSWER = 7\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.chdir(tmp_path)
    assert import_own("found_right_here").ANSWER == 7
    assert sys.path[-1] == str(tmp_path)


def test_no_file_there_takes_the_place_of_an_installed_module(tmp_path, monkeypatch):
    """No file there takes the place of an installed module."""
    (tmp_path / "wsgiref.py").write_text("raise SystemExit('a file that lies about')\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.delitem(sys.modules, "wsgiref", raising=False)
    monkeypatch.chdir(tmp_path)
    assert hasattr(import_own("wsgiref"), "__path__")


def test_the_error_says_where_it_was_looked_for(tmp_path, monkeypatch):
    """The error says where it was looked for."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError) as caught:
        Registry("policy").find("not_here_at_all:mine")
    assert str(tmp_path) in str(caught.value)
    assert "PYTHONPATH" in str(caught.value)
