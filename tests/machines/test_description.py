# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of machines: what they say as arrays, what is refused and where, how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import MachineDescription, read_machine
from swftools.errors import ParameterError
from swftools.machines.amounts import MOST_MEMORY, megabytes_of
from tests.machines.same_tables import differences

SITE = """\
name: A site
nodes:
  - kind: thin
    names: n[01-04],n7
    cores: 16
    memory: 64G
    features: [cpu, ib]
    weight: 10
  - kind: fat
    count: 2
    cores: 64
    threads_per_core: 2
    memory: 1.5T
    gpus: {a100: 4, v100: 2}
    speed: 1.5
    switch: s1
    power: {busy: 10, idle: 5}
partitions:
  - name: batch
    nodes: [thin, fat2]
    default: true
    max_time: 2d
    max_nodes: 4
    default_memory_per_core: 2G
  - {name: gpu, nodes: fat, tier: 5, exclusive: true, min_nodes: 2, max_cores: 32, max_memory_per_core: 8000}
  - {name: short, nodes: ALL, max_time: 3600, allow: {accounts: a, users: [b, c]}}
outages:
  - {nodes: "n[01-02]", begin: 3h, end: 5h}
  - {nodes: fat, kind: reservation, begin: 2026-01-31T08:00, users: root}
licences: {matlab: 3}
"""


def site(tmp_path: Path, text: str = SITE) -> MachineDescription:
    """Return what a file says."""
    path = tmp_path / "site.yaml"
    path.write_text(text)
    return read_machine(path)


def test_as_arrays(tmp_path: Path) -> None:
    """Each number of each node, and the limits of partitions."""
    table = site(tmp_path).table()
    assert table.names == ("n01", "n02", "n03", "n04", "n7", "fat1", "fat2")
    assert table.kinds == ("thin", "fat")
    assert table.kind.tolist() == [0] * 5 + [1] * 2
    assert table.cores.tolist() == [16] * 5 + [64] * 2
    assert table.memory.tolist() == [65_536] * 5 + [1_572_864] * 2
    assert table.gpus.tolist() == [0] * 5 + [6000] * 2
    assert table.weight.tolist() == [10] * 5 + [1] * 2
    assert table.speed.tolist() == [1.0] * 5 + [1.5] * 2
    assert table.gpu_types == (frozenset(), frozenset({"a100", "v100"}))
    assert table.features == (frozenset({"cpu", "ib"}), frozenset())
    assert table.processors == 5 * 16 + 2 * 64
    batch, gpu, short = table.partitions
    assert batch.nodes.tolist() == [0, 1, 2, 3, 4, 6]
    assert gpu.nodes.tolist() == [5, 6]
    assert short.nodes.tolist() == list(range(7))
    assert (batch.max_time, batch.max_nodes, batch.min_nodes, batch.is_default) == (172_800.0, 4, 0, True)
    assert (batch.default_memory_per_core, batch.max_memory_per_core, batch.tier) == (2048, 0, 1)
    assert (gpu.max_time, gpu.min_nodes, gpu.max_cores, gpu.is_exclusive) == (np.inf, 2, 32, True)
    assert (gpu.max_memory_per_core, gpu.tier, gpu.is_default) == (8000, 5, False)
    assert (short.max_time, short.is_exclusive) == (3600.0, False)


def test_without_partitions(tmp_path: Path) -> None:
    """One of all nodes; what is not told of nodes is as little as can be, and memory never lacks."""
    table = site(tmp_path, "nodes: [{kind: a9, count: 3, cores: 8, gpus: 2}, {names: m1, cores: 1}]").table()
    assert table.names == ("a9-1", "a9-2", "a9-3", "m1")
    assert table.kinds == ("a9", "m1")
    (only,) = table.partitions
    assert (only.name, only.nodes.tolist(), only.is_default) == ("all", [0, 1, 2, 3], True)
    assert table.memory.tolist() == [MOST_MEMORY] * 4
    assert table.gpus.tolist() == [2000] * 3 + [0]
    assert table.gpu_types == (frozenset(), frozenset())
    assert table.weight.tolist() == [1] * 4


def test_numbered_by_names(tmp_path: Path) -> None:
    """Nodes of several kinds are mixed as their names are."""
    text = "nodes: [{kind: a, names: 'n[1,10]', cores: 8}, {kind: b, names: 'n[2-3]', cores: 4}]\n"
    by_kinds = site(tmp_path, text).table()
    by_names = site(tmp_path, f"{text}order: names\npartitions: [{{name: x, nodes: a}}]\n").table()
    assert by_kinds.names == ("n1", "n10", "n2", "n3")
    assert by_names.names == ("n1", "n2", "n3", "n10")
    assert by_names.kind.tolist() == [0, 1, 1, 0]
    assert by_names.cores.tolist() == [8, 4, 4, 8]
    assert by_names.partitions[0].nodes.tolist() == [0, 3]


def test_what_is_not_simulated_is_told(tmp_path: Path) -> None:
    """Whatever the description has that simulations pass over, by the names that it concerns."""
    text = SITE.replace("    memory: 64G\n", "").replace("licences:", "burst_buffers: datawarp\nlicences:")
    text = text.replace("max_nodes: 4", "max_nodes: 4\n    default_time: 1h")
    assert site(tmp_path, text).not_simulated() == (
        "threads: those that a log counts become cores (fat)",
        "GPUs of several types on a node are counted together (fat)",
        "memory is not known, and never lacks (thin)",
        "speed: told, not simulated (fat)",
        "power: told, not simulated (fat)",
        "who may use a partition: told, not simulated (short)",
        "times of jobs that request none: told, not simulated (batch)",
        "1 outage at dates: simulated for a log that says when it began (UnixStartTime)",
        "licences: not modelled (matlab 3)",
        "burst buffers: not modelled (datawarp)",
    )
    assert site(tmp_path, "nodes: [{names: a, cores: 1, memory: 1}]").not_simulated() == ()


def test_outages_are_kept(tmp_path: Path) -> None:
    """Times as seconds, dates as they are."""
    away, kept = site(tmp_path).outages
    assert (away.nodes, away.kind, away.begin, away.end) == (("n[01-02]",), "down", 10_800.0, 18_000.0)
    assert (kept.kind, kept.begin, kept.end, kept.users) == ("reservation", "2026-01-31T08:00", None, ("root",))


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ({}, "of the moment: kept, not simulated"),
        ({"begin": "2026-01-31T08:00"}, "at dates: simulated for a log that says when it began (UnixStartTime)"),
        (
            {"begin": "2026-01-31T08:00", "end": 7200},
            "at dates: simulated for a log that says when it began (UnixStartTime)",
        ),
    ],
)
def test_outages_at_no_time_of_the_log_are_told(when: dict[str, object], told: str) -> None:
    """Those of a date need the log's; those of the moment at which a batch system told them are not simulated."""
    nodes = [{"names": "a[1-2]", "cores": 1, "memory": 1}]
    table = MachineDescription.from_mapping({"nodes": nodes, "outages": [{"nodes": "a1", **when}]}).simulated()
    assert table.told == (f"1 outage {told}",)
    assert len(table.outages) == 0


def test_outages_at_times_of_the_log_as_arrays() -> None:
    """A row for each node of each; drains and reservations are known before, and what is down is not, unless said."""
    outages = [
        {"nodes": "a[1-2]", "begin": 3600},
        {"nodes": "a2", "begin": 5, "end": 9, "known": True},
        {"nodes": "a1", "end": "2h", "kind": "drain"},
        {"nodes": "a1", "begin": 7, "kind": "reservation", "users": ["root", "7"], "known": "1h"},
        {"nodes": "a2", "begin": 8, "kind": "reservation", "users": ["root", "7"]},
    ]
    nodes = [{"names": "a[1-2]", "cores": 1, "memory": 1}]
    found = MachineDescription.from_mapping({"nodes": nodes, "outages": outages}).table().outages
    inf = float("inf")
    assert found.node.tolist() == [0, 1, 1, 0, 0, 1]
    assert found.begin.tolist() == [3600, 3600, 5, -inf, 7, 8]
    assert found.end.tolist() == [inf, inf, 9, 7200, inf, inf]
    assert found.kind.tolist() == [0, 0, 0, 1, 2, 2]
    assert found.known.tolist() == [inf, inf, -inf, -inf, 3600, -inf]
    assert found.who.tolist() == [-1, -1, -1, -1, 0, 0]
    assert [tuple(each) for each in found.holders] == [(("root", "7"), ())]


def test_written_and_read_again(tmp_path: Path) -> None:
    """It is the same description and the same table; what is as by default is not written."""
    machine = site(tmp_path)
    again = site(tmp_path, machine.to_yaml())
    assert again == machine
    assert again.to_yaml() == machine.to_yaml()
    assert differences(again.table(), machine.table()) == []
    assert "tier: 1\n" not in machine.to_yaml()
    assert "{}" not in machine.to_yaml()
    assert site(tmp_path, SITE.replace("cores: 16", "cores: 17")) != machine


NAMES = st.text("abN0179._-e~", min_size=1, max_size=5)


@given(NAMES, st.lists(NAMES, max_size=2), st.text(min_size=1, max_size=5).filter(str.isprintable))
def test_odd_names_are_read_back(kind: str, features: list[str], name: str) -> None:
    """Names that look like numbers, nothing, or a truth value."""
    content: dict[str, Any] = {
        "name": name,
        "nodes": [{"kind": f"{kind}x", "names": f"n{kind}", "cores": 1, "features": features, "gpus": {kind: 1}}],
        "partitions": [{"name": kind}],
    }
    machine = MachineDescription.from_mapping(content)
    from swftools.machines.formats.own_yaml import read_own_yaml  # noqa: PLC0415

    found = read_own_yaml(machine.to_yaml(), "written")
    assert MachineDescription.from_mapping(found.content, "written", found.yaml) == machine


def test_texts_that_look_like_something_else(tmp_path: Path) -> None:
    """Are written so that they are read as texts."""
    words = ["1e9", "0o17", "0x1F", "1_0", "~", "null", "no", ".5", "- a", "a: b", "#c", "'", '"', "2026-01-31"]
    machine = MachineDescription.from_mapping({"nodes": [{"names": "n1", "cores": 1, "features": words}]})
    assert site(tmp_path, machine.to_yaml()) == machine


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "names: n[01-04],n7",
            "names: n[1-1000000]",
            r"line 4: nodes > 0 > names: .* names 1,000,000 nodes, more than",
        ),
        ("names: n[01-04],n7", "names: n[01-04],n04", r"line 4: .*node 'n04' is named twice"),
        ("names: n[01-04],n7", "names: n[01-04],n01,n7", r"line 4: .*node 'n01' is named twice"),
        ("names: n[01-04],n7", "names: n[01-04],fat1", r"line 9: .*node 'fat1' is named twice"),
        ("names: n[01-04],n7", "names: n[01-04", r"line 4: nodes > 0 > names: .* a bracket is not closed"),
        ("    names: n[01-04],n7\n", "", r"line 3: nodes > 0: give names: .*; or kind and count"),
        (
            "    count: 2\n",
            "    count: 2\n    names: f[1-3]\n",
            "line 10: .*count: 2, but names has 3; leave count out",
        ),
        ("    cores: 16\n", "", "line 3: nodes > 0 > cores: missing; add it"),
        ("cores: 16", "cores: 0", "line 5: .*should be greater than or equal to 1, not 0"),
        ("cores: 16", "cores: 1.5", "line 5: .*should be a valid integer, not 1.5"),
        ("memory: 64G", "memory: 64GB", "line 6: .*'64GB' is no amount of memory: GB is not known"),
        ("memory: 64G", "memory: -1", "line 6: .*should be greater than or equal to 0"),
        ("memory: 64G", "memry: 64G", "line 6: nodes > 0 > memry: unknown key; did you mean memory"),
        ("{a100: 4, v100: 2}", "3.5", "line 14: .*gpus: 3.5 is neither a whole number of GPUs nor"),
        ("{a100: 4, v100: 2}", "{a100: 4.5}", "line 14: .*a100: should be a valid integer"),
        ("{a100: 4, v100: 2}", "yes", "line 14: .*'yes' is neither"),
        ("kind: fat", "kind: thin", "line 9: .*another kind is called 'thin'"),
        ("kind: fat", "kind: all", "line 9: .*'all' stands for all nodes"),
        ("kind: fat", "kind: n7", "line 9: .*'n7' is the name of a node of another kind too"),
        ("kind: fat", "kind: f t", "line 9: .*has no blanks"),
        ("nodes: [thin, fat2]", "nodes: [thin, fat3]", "line 20: partitions > 0 > nodes: no node 'fat3' is in nodes"),
        ("nodes: [thin, fat2]", "nodes: n[03-09]", "line 20: .*no node 'n05' and 4 more is in nodes.*ALL, thin, fat"),
        ("nodes: [thin, fat2]", "nodes: thinn", "line 20: .*no node 'thinn' .*; did you mean thin"),
        ("nodes: [thin, fat2]", "nodes: []", "line 20: .*nodes: is empty; give at least one"),
        ("nodes: [thin, fat2]", "nodes: 'n['", "line 20: .*a bracket is not closed"),
        ("max_time: 2d", "max_time: 2 days", "line 22: .*'2 days' is no time such as"),
        ("max_time: 2d", "max_time: 0", "line 22: .*should be greater than 0"),
        ("min_nodes: 2", "min_nodes: 3", "line 25: .*min_nodes: 3 is more than it has, which is 2"),
        ("end: 5h", "end: 3h", "line 28: outages > 0 > end: 10800.0 is not after begin, 10800.0"),
        ("users: root}", "users: root, end: 2026-01-31}", "outages > 1 > end: '2026-01-31' is not after begin"),
        ("max_nodes: 4", "max_nodes: 4\n    min_nodes: 5", "line 24: .*min_nodes: 5 is above max_nodes, 4"),
        (
            "default_memory_per_core: 2G",
            "default_memory_per_core: 2G\n    max_memory_per_core: 1G",
            "line 24: .*2,048 MB is above max_memory_per_core, 1,024 MB",
        ),
        ("name: gpu", "name: batch", "line 25: partitions > 1 > name: another partition is called 'batch'"),
        ("tier: 5", "default: true", "line 25: .*'batch' is the default too; leave one"),
        ("name: gpu", "nme: gpu", "line 25: .*nme: unknown key; did you mean name"),
        ("tier: 5", "teir: 5", "line 25: .*teir: unknown key; did you mean tier"),
        ("begin: 3h", "begin: soon", "line 28: outages > 0 > begin: 'soon' is neither a date .* nor a time"),
        ('"n[01-02]"', "m1", "line 28: outages > 0 > nodes: no node 'm1' is in nodes"),
        ("kind: reservation", "kind: gone", "line 29: .*'down', 'drain' or 'reservation'"),
        ("{accounts: a, users", "{acounts: a, users", "line 26: .*allow > acounts: unknown key; did you mean accounts"),
        ("{busy: 10", "{bussy: 10", "line 17: .*power > bussy: unknown key; did you mean busy"),
        ("name: A site", "naem: A site", "line 1: naem: unknown key; did you mean name"),
        ("name: A site", "name: A site\nname: B", "line 2: .*duplicate key"),
        (SITE, "nodes: []", "nodes: no nodes; name at least one kind"),
        (SITE, "nodes: 5", "line 1: nodes: should be a list"),
        (SITE, "node: []", "line 1: node: unknown key; did you mean nodes"),
        (SITE, "nodes: [{kind: a, count: 200000, cores: 1}, {names: b, cores: 1}]", "200,001 nodes in all, more than"),
        (SITE, "nodes: {names: a}", r"line 1: nodes: should be a list \(- ITEM\)"),
    ],
)
def test_what_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    """By file and line, with what to do."""
    assert SITE.count(old) == 1
    with pytest.raises(ParameterError, match=said) as caught:
        site(tmp_path, SITE.replace(old, new))
    assert str(caught.value).startswith(str(tmp_path / "site.yaml"))


def test_several_mistakes_at_once(tmp_path: Path) -> None:
    """Each in a line of its own."""
    text = SITE.replace("cores: 16", "cores: x").replace("tier: 5", "tier: -1")
    with pytest.raises(ParameterError, match=r"2 problems\n  line 5: .*\n  line 25: "):
        site(tmp_path, text)


def test_mappings_are_refused_by_their_keys() -> None:
    """What has no lines is told by its place."""
    with pytest.raises(ParameterError, match=r"machine: nodes\.0\.cores: missing"):
        MachineDescription.from_mapping({"nodes": [{"names": "a"}]})
    with pytest.raises(ParameterError, match=r"site: partitions\.0\.nodes: no node 'b'"):
        MachineDescription.from_mapping(
            {"nodes": [{"names": "a", "cores": 1}], "partitions": [{"name": "x", "nodes": "b"}]}, "site"
        )
    two = MachineDescription(nodes=({"names": "a", "cores": 1}, {"names": "a", "cores": 2}))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"machine: nodes\.1\.kind: another kind is called 'a'"):
        two.table()


def test_how_it_shows_itself(tmp_path: Path) -> None:
    """Three lines; in a notebook a table of kinds below them, which a name cannot break."""
    machine = site(tmp_path, SITE.replace("A site", '"<b>"'))
    assert str(machine).splitlines() == [
        "MachineDescription: <b>, 7 nodes of 2 kinds, 208 cores, 12 GPUs",
        "nodes: thin 5, fat 2",
        "partitions: batch 6 (default), gpu 2, short 7",
    ]
    html = machine._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>," not in html
    assert html.count("<tr>") == 3


def test_tables_of_kinds_and_partitions(tmp_path: Path) -> None:
    """Memory that is not told is missing; a node of several partitions counts in each."""
    machine = site(tmp_path, SITE.replace("    memory: 64G\n", ""))
    kinds = machine.kinds()
    assert kinds["nodes"].tolist() == [5, 2]
    assert kinds["memory"].isna().tolist() == [True, False]
    assert kinds["gpu_types"].tolist() == ["", "a100,v100"]
    parts = machine.by_partition().set_index(["partition", "kind"])
    assert parts["nodes"].to_dict() == {
        ("batch", "thin"): 5,
        ("batch", "fat"): 1,
        ("gpu", "fat"): 2,
        ("short", "thin"): 5,
        ("short", "fat"): 2,
    }
    assert parts.loc[("gpu", "fat"), ["cores", "memory", "gpus"]].tolist() == [128, 3_145_728, 12]


@pytest.mark.parametrize(
    ("text", "megabytes"),
    [("1", 1), ("64000", 64_000), ("64g", 65_536), ("512000M", 512_000), ("0.5G", 512), (" 2T ", 2_097_152)],
)
def test_memory(text: str, megabytes: int) -> None:
    """Units of 1024 each."""
    assert megabytes_of(text) == megabytes


@pytest.mark.parametrize("text", ["", "G", "1K", "64GB", "64GiB", "1.3M", "-1", "1e3", "64 G", "٣"])
def test_odd_memory(text: str) -> None:
    """Is refused, by what it is."""
    with pytest.raises(ParameterError, match="MB"):
        megabytes_of(text)
