# SPDX-License-Identifier: BSD-3-Clause
"""What Prometheus reads, and the examples that read it: names that there are, few series, nothing of a person."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from pipelines.service.service import Service
from tests.folders import ROOT
from tests.pipelines.service.asked import Asker, small_service

EXAMPLES = ROOT / "examples" / "service"

PROMTOOL = shutil.which("promtool")

needs_promtool = [pytest.mark.slow, pytest.mark.skipif(PROMTOOL is None, reason="needs promtool, of Prometheus")]

ODD = ('quo"te', "back\\slash", "two\nlines", "\x1b[31mred", "<b>", "\u202eright", "{}", " ")
"""What queues are called."""


def many(count: int = 500) -> Service:
    """Return a service of a cluster of so many queues, of which as many as are shown have all bounds."""
    # Queues that are named first have jobs more often: 60 queues of 60 jobs, and of others one.
    names = [f"q{number:03}" for number in range(count)]
    return small_service([*names[:60] * 60, *names[60:]], of_each=1, training=0)


def exposed(service: Service) -> str:
    """Return what Prometheus is told."""
    told = Asker(service).ask("/metrics")
    assert told.status == 200
    assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
    return told.body.decode()


def samples(text: str) -> list[Any]:
    """Return all series."""
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def test_500_queues_have_200_series_at_most() -> None:
    """Those of most waits have bounds; nothing is told of a user, an account or a job."""
    service = many()
    assert len(service.clusters["blue"].groups()) == 500
    found = samples(exposed(service))
    assert 100 < len(found) <= 200
    assert len({(each.name, *sorted(each.labels.items())) for each in found}) == len(found)
    bounds = [each for each in found if each.name == "swftools_wait_bound_seconds"]
    assert len({each.labels["queue"] for each in bounds}) == 50
    assert all(each.labels["queue"] < "q060" for each in bounds)
    assert {name for each in found for name in each.labels} == {"cluster", "queue", "quantile", "le", "command"}
    assert not re.search(r"user\d|account|job", " ".join(value for each in found for value in each.labels.values()))


def test_names_that_are_no_words_can_be_read() -> None:
    """Each queue comes out as it went in."""
    found = samples(exposed(small_service(ODD, of_each=60, training=0, name='a"b')))
    assert {each.labels["queue"] for each in found if "queue" in each.labels} == set(ODD)
    assert {each.labels["cluster"] for each in found} == {'a"b'}


def names() -> set[str]:
    """Return the names of all series of a cluster."""
    return {each.name for each in samples(exposed(small_service(of_each=60, training=0)))}


def named(text: str) -> set[str]:
    """Return the metrics that a query names."""
    return set(re.findall(r"\bswftools_\w+", text))


def test_the_dashboard_asks_for_what_there_is() -> None:
    """Each panel has a query, of metrics that the service has; none lies on another."""
    board = json.loads((EXAMPLES / "grafana.json").read_text(encoding="utf-8"))
    there = names()
    places: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        assert panel["title"]
        assert panel["targets"]
        for target in panel["targets"]:
            assert named(target["expr"])
            assert named(target["expr"]) <= there, panel["title"]
            assert 'cluster=~"$cluster"' in target["expr"]
        grid = panel["gridPos"]
        covered = {(grid["x"] + x, grid["y"] + y) for x in range(grid["w"]) for y in range(grid["h"])}
        assert not covered & places
        assert max(x for x, _ in covered) < 24
        places |= covered
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) >= 6
    variables = {each["name"]: each for each in board["templating"]["list"]}
    assert set(variables) == {"source", "cluster"}
    assert named(variables["cluster"]["query"]) <= there
    asked = named(" ".join(target["expr"] for panel in board["panels"] for target in panel["targets"]))
    assert {name.removesuffix("_bucket") for name in asked} >= {
        "swftools_wait_bound_seconds",
        "swftools_bound_kept_ratio",
        "swftools_sensor_last_success_timestamp_seconds",
        "swftools_wait_seconds",
    }


def test_alerts_ask_for_what_there_is() -> None:
    """Of metrics that the service has, and of the job that the example of a scrape configures."""
    rules = yaml.safe_load((EXAMPLES / "alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
    scrape = yaml.safe_load((EXAMPLES / "prometheus.yml").read_text(encoding="utf-8"))
    (job,) = scrape["scrape_configs"]
    assert scrape["rule_files"] == ["alerts.yml"]
    assert len(rules) >= 3
    for rule in rules:
        assert named(rule["expr"]) <= names(), rule["alert"]
        assert named(rule["expr"]) or f'up{{job="{job["job_name"]}"}}' in rule["expr"]
        assert rule["annotations"]["summary"]


@pytest.mark.parametrize(
    "service", [small_service, many, lambda: small_service(ODD, of_each=60, training=0)], ids=["few", "many", "odd"]
)
@pytest.mark.parametrize("mark", [pytest.param(None, marks=needs_promtool)], ids=[""])
def test_promtool_finds_nothing(service: Any, mark: None) -> None:
    """No word of it, and status 0."""
    done = subprocess.run(
        [str(PROMTOOL), "check", "metrics"], input=exposed(service()), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


ALERTS = """
rule_files: [alerts.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'up{job="swftools", instance="a"}'
        values: '1 0x30'
      - series: 'swftools_sensor_last_success_timestamp_seconds{cluster="blue"}'
        values: '0x10 600 660 720 780+60x1000'
      - series: 'swftools_bound_kept_ratio{cluster="blue"}'
        values: '0.89x1000'
      - series: 'swftools_bound_kept_ratio{cluster="red"}'
        values: '0.9x1000'
      - series: 'swftools_wait_seconds_count{cluster="blue"}'
        values: '5x1000'
      - series: 'swftools_wait_seconds_count{cluster="red"}'
        values: '5x1000'
      - series: 'swftools_wait_bound_seconds{cluster="red", queue="q", quantile="0.9"}'
        values: '5x1000'
    alert_rule_test:
      - {eval_time: 5m, alertname: SwftoolsDown, exp_alerts: []}
      - eval_time: 6m
        alertname: SwftoolsDown
        exp_alerts: [{exp_labels: {severity: warning, job: swftools, instance: a}, exp_annotations: &down {
          summary: The service of waits does not answer., description: journalctl --unit swftools-serve says why.}}]
      - {eval_time: 11m, alertname: SwftoolsSensorSilent, exp_alerts: []}
      - {eval_time: 25m, alertname: SwftoolsSensorSilent, exp_alerts: []}
      - {eval_time: 700m, alertname: SwftoolsBoundsBroken, exp_alerts: []}
      - eval_time: 721m
        alertname: SwftoolsBoundsBroken
        exp_alerts: [{exp_labels: {severity: info, cluster: blue}, exp_annotations: {
          summary: "Of blue only 89% of the answers were kept.",
          description: "Is the machine partly down, or are priorities new? The page /queues tells which queue it is."}}]
      - {eval_time: 59m, alertname: SwftoolsNoBounds, exp_alerts: []}
      - eval_time: 61m
        alertname: SwftoolsNoBounds
        exp_alerts: [{exp_labels: {severity: info, cluster: blue}, exp_annotations: {
          summary: "No queue of blue has a bound of waits.",
          description: "After a start that is so until enough jobs have started; later the machine seems to be down.
            Where waits are grouped by user there are never any: leave this rule out."}}]
  - interval: 1m
    input_series:
      - series: 'swftools_sensor_last_success_timestamp_seconds{cluster="blue"}'
        values: '60x1000'
    alert_rule_test:
      - {eval_time: 15m, alertname: SwftoolsSensorSilent, exp_alerts: []}
      - eval_time: 20m
        alertname: SwftoolsSensorSilent
        exp_alerts: [{exp_labels: {severity: warning, cluster: blue}, exp_annotations: {
          summary: "Nothing is heard of blue for 19m 0s.",
          description: "Users get no answers. Do squeue and sacct answer to the user of the service?"}}]
"""


@pytest.mark.parametrize("mark", [pytest.param(None, marks=needs_promtool)], ids=[""])
def test_promtool_understands_the_examples(tmp_path: Path, mark: None) -> None:
    """Scrape configuration and rules; and each rule is quiet first, and then tells."""
    for name in ("prometheus.yml", "alerts.yml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    (tmp_path / "alerts_test.yml").write_text(ALERTS)
    for words in (
        ["check", "config", "prometheus.yml"],
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "alerts_test.yml"],
    ):
        done = subprocess.run([str(PROMTOOL), *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
