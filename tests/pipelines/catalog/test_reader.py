# SPDX-License-Identifier: BSD-3-Clause
"""The shipped catalogue says what it should, and a catalogue gives what is asked of it."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.catalog import cards
from pipelines.catalog.cards import RESOURCES, Catalog, LogCard
from pipelines.catalog.reader import INHERITED, read_catalog
from swftools.errors import ParameterError, UnknownLogError
from tests.folders import ROOT
from tests.pipelines.catalog.cards import CARD, second_card, with_line

BLUE = "SDSC-BLUE-2000-4.2-cln"
EXCERPT = f"{BLUE}-5000-9999"
LOGS = [BLUE, EXCERPT, "CTC-SP2-1996-3.1-cln", "SDSC-DS-2004-2.1-cln", "SDSC-SP2-1998-4.2-cln", "KTH-SP2-1996-2.1-cln"]
OPENB = 17
"""Cards of workloads of openb, behind those."""


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str | bytes], Catalog]:
    """Read a catalogue from a string."""

    def run(text: str | bytes) -> Catalog:
        path = tmp_path / "catalog.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_catalog(path)

    return run


# --- machines of nodes


def test_cards_may_describe_nodes(read: Callable[[str | bytes], Catalog], tmp_path: Path) -> None:
    """Beside the numbers, or in a file below the folder of the catalogue; a card based on another has the same."""
    line = "processors_per_node: 4"
    nodes = "nodes: [{kind: a, names: 'n[1,10]', cores: 4}, {kind: b, names: n2, cores: 8}]\n"
    partitions = "partitions: [{name: p, nodes: b}]\n"
    assert read(CARD).log("SITE-1").machine.described() is None
    text = (
        with_line(f"{line}\n      {nodes}      {partitions}      order: names", line) + second_card().partition(CARD)[2]
    )
    for name in read(text).logs:
        described = read(text).log(name).machine.described()
        assert described is not None
        assert described.name == "A machine"
        assert described.table().names == ("n1", "n2", "n10")
        assert described.table().partitions[0].nodes.tolist() == [1]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/m.yaml").write_text(nodes)
    machine = read(with_line(f"{line}\n      description: sub/m.yaml", line)).log("SITE-1").machine
    described = machine.described()
    assert described is not None
    assert described.table().names == ("n1", "n10", "n2")
    (tmp_path / "sub/m.yaml").write_text("nodes: []")
    with pytest.raises(ParameterError, match=r"m\.yaml, line 1: nodes: no nodes"):
        machine.described()


# --- the shipped catalogue


def test_names() -> None:
    """The five logs and the shipped excerpt have a card each."""
    names = list(read_catalog().logs)
    assert names[: len(LOGS)] == LOGS
    assert [name.startswith("openb_pod_list_") for name in names[len(LOGS) :]] == [True] * OPENB
    assert all(card.name == name for name, card in read_catalog().logs.items())


def test_default_is_the_file_of_the_repository() -> None:
    """The packaged catalogue is the one at the top of the repository."""
    top = ROOT / "data_catalog.yaml"
    assert read_catalog() == read_catalog(top) == read_catalog(str(top))
    assert Path(str(RESOURCES / "data_catalog.yaml")).read_bytes() == top.read_bytes()


@pytest.mark.parametrize("name", LOGS)
def test_addresses(name: str) -> None:
    """A log of the archive has its address there, the excerpt is shipped."""
    card = read_catalog().log(name)
    if name == EXCERPT:
        assert card.url is None
        assert card.file == f"logs/{name}.swf.gz"
    else:
        assert card.file is None
        directory = "l_" + "_".join(name.lower().split("-")[:2])
        assert card.url == f"https://www.cs.huji.ac.il/labs/parallel/workload/{directory}/{name}.swf.gz"


def test_machines() -> None:
    """The machines are those that the papers simulate; CTC's card says why it is not the header's 338."""
    machines = {name: card.machine for name, card in read_catalog().logs.items()}
    assert [machines[name].processors for name in LOGS] == [1152, 1152, 430, 1664, 128, 100]
    assert [machines[name].processors_per_node for name in LOGS] == [8, 8, 1, 8, 1, 1]
    assert "338" in (machines["CTC-SP2-1996-3.1-cln"].why or "")


def test_licences() -> None:
    """A log with a copyright text says that the notice must stay; the others state nothing."""
    licences = {name: card.licence for name, card in read_catalog().logs.items()}
    copyrighted = {name for name, licence in licences.items() if "preserved in every copy" in licence}
    assert copyrighted == {"SDSC-DS-2004-2.1-cln", "SDSC-SP2-1998-4.2-cln"}
    assert {licences[name] for name in set(LOGS) - copyrighted} == {"none stated"}


def test_ranks_by_price() -> None:
    """Blue Horizon's queues rank by price: high, express, normal, low, standby, interactive; others as normal."""
    card = read_catalog().log(BLUE)
    by_name = {queue.name: queue.priority_rank for queue in card.queues.values()}
    main = ["high", "express", "normal", "low", "standby", "interactive"]
    assert [by_name.pop(name) for name in main] == [0, 1, 2, 3, 4, 5]
    assert set(by_name.values()) == {2}
    assert sorted(card.queue_ranks) == list(range(24))


def test_over_fitted_ranks() -> None:
    """The ranking that fits a published table best is offered, and says that it is over-fitted."""
    card = read_catalog().log(EXCERPT)
    ranks = card.ranks("over-fitted")
    assert {number: ranks[number] for number in range(6)} == {2: 0, 0: 1, 3: 2, 1: 3, 4: 4, 5: 5}
    assert {ranks[number] for number in range(6, 24)} == {2}
    assert "over-fitted" in card.alternatives["over-fitted"].why
    assert card.ranks() == card.queue_ranks != ranks


def test_unknown_ranking() -> None:
    """An unknown ranking is refused with those that there are."""
    with pytest.raises(ParameterError, match=r"'best'; there are: over-fitted"):
        read_catalog().log(BLUE).ranks("best")


def test_other_ranks() -> None:
    """DataStar's variants of a queue share its rank; CTC and KTH have one rank."""
    logs = read_catalog().logs
    star = logs["SDSC-DS-2004-2.1-cln"]
    stems = {0: "high", 1: "express", 2: "normal", 3: "interactive"}
    for queue in star.queues.values():
        stem = re.sub(r"^TG|32$|L$", "", queue.name)
        if stem in stems.values():
            assert stems[queue.priority_rank] == stem
        else:
            assert queue.priority_rank == 2
    assert set(logs["CTC-SP2-1996-3.1-cln"].queue_ranks.values()) == {0}
    assert logs["KTH-SP2-1996-2.1-cln"].queue_ranks == {}


def test_excerpt_inherits() -> None:
    """The excerpt's card takes machine, queues and terms from the whole log's, and has its own sums and anomalies."""
    whole, part = read_catalog().log(BLUE), read_catalog().log(EXCERPT)
    for key in INHERITED:
        assert getattr(part, key) == getattr(whole, key)
    for key in ("title", "sha256", "bytes", "jobs", "anomalies", "notes"):
        assert getattr(part, key) != getattr(whole, key)


def test_data_sets() -> None:
    """The data set that is published by default has a card, which names its log."""
    card = read_catalog().data_sets[EXCERPT]
    assert card.log == EXCERPT
    assert card.title
    assert card.description


def test_every_key_is_explained() -> None:
    """The comment at the top of the file explains every key of a log's card."""
    text = (ROOT / "data_catalog.yaml").read_text(encoding="utf-8")
    comment = text[: text.index("\nlogs:")]
    for item in dataclasses.fields(LogCard):
        assert item.name == "name" or re.search(rf"^#   {item.name} ", comment, re.MULTILINE), item.name
    for kind in (cards.MachineCard, cards.QueueCard, cards.RanksCard, cards.FilterCard, cards.DataSetCard):
        for item in dataclasses.fields(kind):
            assert re.search(rf"\b{item.name}\b", comment), item.name


# --- using a catalogue


def test_log_by_name() -> None:
    """A card is found by its name; an unknown name is answered with near matches and all names."""
    shipped = read_catalog()
    assert shipped.log("KTH-SP2-1996-2.1-cln").jobs == 28476
    with pytest.raises(UnknownLogError, match=r"did you mean KTH-SP2-1996-2\.1-cln") as caught:
        shipped.log("KTH-SP2-1996-2.1")
    assert all(name in str(caught.value) for name in LOGS)
    with pytest.raises(UnknownLogError, match=r"did you mean CTC-SP2-1996-3\.1-cln"):
        shipped.log("ctc")
    with pytest.raises(UnknownLogError) as caught:
        shipped.log("x")
    assert "did you mean" not in str(caught.value)


def test_card_by_checksum() -> None:
    """A card is found by the checksum of the text, in either case; there may be none."""
    shipped = read_catalog()
    for card in shipped.logs.values():
        assert shipped.card_of(card.sha256) is card
        assert shipped.card_of(card.sha256.upper()) is card
    assert shipped.card_of("0" * 64) is None


def test_cards_are_frozen() -> None:
    """A card cannot be changed, and can be sent to another process."""
    card = read_catalog().log(BLUE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        card.jobs = 3  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(card)) == card


def test_smallest_card(read: Callable[[str | bytes], Catalog]) -> None:
    """A log that is given by path needs neither url nor file, and optional keys may be left out."""
    card = read(CARD).log("SITE-1")
    assert (card.url, card.file, card.cleaning, card.anomalies) == (None, None, (), ())
    assert card.queue_ranks == {1: 0, 2: 1}


def test_cleaning_rules(read: Callable[[str | bytes], Catalog]) -> None:
    """A cleaning rule is a name, or a name beside its parameters, which are passed on as they are."""
    text = "    cleaning:\n    - duplicates\n    - {rule: flurries, ranges: [{user: 1, first_job: 2, last_job: 3}]}\n"
    steps = read(CARD + text).log("SITE-1").cleaning
    assert [step.rule for step in steps] == ["duplicates", "flurries"]
    assert [step.parameters for step in steps] == [{}, {"ranges": [{"user": 1, "first_job": 2, "last_job": 3}]}]


def test_based_on(read: Callable[[str | bytes], Catalog]) -> None:
    """A card that is based on another may override what it inherits."""
    read_logs = read(second_card("    licence: ask\n")).logs
    assert read_logs["SITE-2"].machine == read_logs["SITE-1"].machine
    assert (read_logs["SITE-1"].licence, read_logs["SITE-2"].licence) == ("none stated", "ask")


def test_local_server(read: Callable[[str | bytes], Catalog]) -> None:
    """An unencrypted address is accepted on this machine only."""
    for host in ("127.0.0.1:8000", "localhost", "[::1]:1"):
        assert read(f"{CARD}    url: http://{host}/x\n").log("SITE-1").url == f"http://{host}/x"


def test_plain_words(read: Callable[[str | bytes], Catalog]) -> None:
    """Words that old YAML takes for truth values, dates or sexagesimals stay what was written."""
    for word in ("no", "on", "2004-03-06", "1:30"):
        assert read(with_line(f"name: {word}\n", "name: A machine\n")).log("SITE-1").machine.name == word
