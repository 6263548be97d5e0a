# SPDX-License-Identifier: BSD-3-Clause
"""The machine of nodes that is named: by a file, a description, a card; what is changed; and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pipelines.logs.find import Log, find_log
from pipelines.logs.how_read import HowRead
from pipelines.logs.machine import ChosenMachine, changes_text, chosen_machine, machine_text
from swftools import read_machine
from swftools.errors import ParameterError

TWO: dict[str, Any] = {"name": "site", "nodes": [{"kind": "a", "count": 2, "cores": 2, "speed": 2}]}
TEXT = json.dumps(TWO, sort_keys=True, separators=(",", ":"))
LOG = Log("a log")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A description without a name."""
    path = tmp_path / "site.v1.yaml"
    path.write_text("# two nodes\nnodes: [{cores: 2, speed: 2.0, kind: a, count: 2}]\n")
    return path


def test_one_form_of_a_machine(site: Path) -> None:
    """Path, description, mapping and JSON say the same; a file without a name is called as it is."""
    described = read_machine(site)
    assert machine_text(str(site)) == machine_text(site) == machine_text(TEXT) == machine_text(TWO) == TEXT
    assert "name" not in json.loads(machine_text(described))
    assert machine_text(machine_text(TEXT)) == TEXT
    assert [machine_text(word) for word in ("", None, "pool", "card")] == ["", "", "", "card"]


def test_one_form_of_changes() -> None:
    """One text, a list, JSON; blanks around do not count."""
    assert changes_text(" a=1 ") == changes_text(["a=1"]) == changes_text('["a=1"]') == '["a=1"]'
    assert [changes_text(none) for none in ("", " ", [], "[]", ())] == ["[]"] * 5
    assert changes_text(("a=1", "b=2")) == '["a=1","b=2"]'
    for wrong in (3, [3], ["a=1", " "], {"a": 1}):
        with pytest.raises(ParameterError, match=r"give a text such as 'nodes.gpu.count"):
            changes_text(wrong)
    with pytest.raises(ParameterError, match=r"^changes='\[a' is not JSON"):
        changes_text("[a")
    with pytest.raises(ParameterError, match=r"^machine='{a' is not JSON"):
        machine_text("{a")


def test_what_is_chosen() -> None:
    """The machine with its changes, apart from those of the policy; of a pool nothing is told."""
    assert chosen_machine(LOG, "", "[]") == ChosenMachine()
    assert (ChosenMachine().told, ChosenMachine().assumptions) == ({}, ())
    found = chosen_machine(LOG, TEXT, '["nodes.a.count+=3","priority.reservations=2"]')
    assert found.description is not None
    assert len(found.description.table()) == 5
    assert found.of_policy == {"reservations": 2}
    larger = {"nodes": [{**TWO["nodes"][0], "count": 5}]}  # without its name, by which nothing is simulated
    assert found.told == {"machine": larger, "policy_changes": {"reservations": 2}}
    assert found.assumptions == ("the machine is changed: nodes.a.count+=3",)
    assert found.description.simulated().told == (
        "memory is not known, and never lacks (a)",
        "speed: told, not simulated (a)",
    )
    of_pool = chosen_machine(LOG, "", '["priority.reservations=2"]', 7)
    assert (of_pool.description, of_pool.told) == (None, {"policy_changes": {"reservations": 2}})
    assert of_pool.assumptions == ()


def test_what_is_the_same_after_changes_has_one_key() -> None:
    """Whoever describes five nodes, and whoever adds three to two."""
    larger = json.dumps({**TWO, "nodes": [{**TWO["nodes"][0], "count": 5}]})
    assert chosen_machine(LOG, machine_text(larger), "").told == chosen_machine(LOG, TEXT, '["nodes.a.count=5"]').told


@pytest.mark.parametrize(
    ("machine", "changes", "processors", "message"),
    [
        (TEXT, "[]", 4, "--processors and --machine are both given: they are two machines; give one"),
        (
            "",
            '["nodes.a.count+=1"]',
            4,
            "change 'nodes.a.count+=1': a pool of processors has no nodes or partitions; give",
        ),
        (TEXT, '["nodes.b.count+=1"]', None, "change 'nodes.b.count+=1': no kind of nodes 'b'"),
        ("card", "[]", None, "--machine card: log a log: it has no card; give the path of a file that does"),
    ],
)
def test_what_is_refused(machine: str, changes: str, processors: int | None, message: str) -> None:
    """In one sentence that says what to give."""
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}"):
        chosen_machine(LOG, machine, changes, processors)


def test_a_card_without_nodes() -> None:
    """It is a pool, and stays one."""
    with pytest.raises(ParameterError, match="its card describes no nodes; give the path of a file that does"):
        chosen_machine(find_log("SDSC-BLUE-2000-4.2-cln-5000-9999"), "card", "[]")


def test_machines_beside_a_log(tmp_path: Path) -> None:
    """What the format names must be the same machine, by whatever path."""
    for name, nodes in (("one", 2), ("same", 2), ("other", 3)):
        (tmp_path / f"{name}.machines").write_text(f"0 a {nodes} 4 1.0 1024\n")
    text = machine_text(tmp_path / "one.machines")
    for name in ("one", "same"):
        log = Log("a log", how=HowRead(f"swf:machines={tmp_path / name}.machines"))
        assert chosen_machine(log, text, "[]").description is not None
    other = Log("a log", how=HowRead(f"swf:machines={tmp_path}/other.machines"))
    with pytest.raises(
        ParameterError, match=r"^--format names .*other.machines, and --machine another machine; give both"
    ):
        chosen_machine(other, text, "[]")
    plain = chosen_machine(Log("a log", how=HowRead("swf")), text, "[]")
    assert plain.description is not None
