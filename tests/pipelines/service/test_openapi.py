# SPDX-License-Identifier: BSD-3-Clause
"""The document for programs is what is answered."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Route
from starlette.testclient import TestClient

from pipelines.service.clusters import Cluster
from pipelines.service.openapi import describe
from pipelines.service.schemas import SCHEMAS
from tests.pipelines.service.small_cluster import Hand
from tests.pipelines.service.two_clusters import waiting_job


def test_the_document_has_every_address_and_parameter(client: TestClient) -> None:
    """And no other: of each parameter that it names the address knows it, and refuses one that it does not name."""
    paths = describe()["paths"]
    routes = [route.path.replace(":path", "") for route in client.app.routes if isinstance(route, Route)]  # type: ignore[attr-defined]
    assert {path for path in routes if path.startswith("/api/v1/")} == {*paths, "/api/v1/openapi.json"}
    for path, told in paths.items():
        named = {each["name"] for each in told["get"]["parameters"] if each["in"] == "query"}
        assert {each["name"] for each in told["get"]["parameters"] if each["in"] == "path"} == (
            {"id"} if "{id}" in path else set()
        )
        refused = client.get(path.replace("{id}", "1"), params={"no": "1"}).json()["detail"]
        known = refused.partition("; there are: ")[2].split(", ")
        assert {name for name in known if name} == named
        several = {e["name"] for e in told["get"]["parameters"] if e["schema"]["type"] == "array"}
        for each in told["get"]["parameters"]:
            most = {"quantile": 20, "piece": 8}.get(each["name"]) if each["name"] in several else None
            assert each["schema"].get("maxItems") == most
            assert most is None or f"up to {most} times" in each["description"]
        for name in named:
            twice = client.get(f"{path.replace('{id}', '1')}?{name}=%FF&{name}=%FF")
            assert ("is there twice" in twice.json().get("detail", "")) is (name not in several)


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("where?time=1h", "Where"),
        ("wait?cluster=red&at=2000-01-01T04:20Z", "Wait"),
        ("start?cluster=red&processors=4&time=1h", "Start"),
        ("reserve?cluster=blue&queue=batch&processors=4&time=1h&by=30m", "Reservation"),
        ("reserve?cluster=blue&queue=batch&processors=4&time=1h&start=2000-01-01T03:50Z", "Reservation"),
        ("reserve?cluster=red&processors=4&time=1h&by=60&probability=.99", "Reservation"),
        ("plan?piece=cluster=blue,processors=4,time=1h&piece=cluster=red,processors=4,time=1h&by=1h", "Plan"),
        ("plan?piece=cluster=blue,processors=4,time=1h&by=2s", "Plan"),
        ("jobs/{id}?cluster=blue", "Job"),
        ("clusters", "Clusters"),
    ],
)
def test_json_is_as_the_document_says(
    client: TestClient, clusters: list[Cluster], clock: Hand, path: str, schema: str
) -> None:
    """Every answer, with a tag that does not change by age alone: unless it tells moments from now on."""
    address = f"/api/v1/{path.replace('{id}', waiting_job(clusters[0]).id)}"
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    Draft202012Validator(SCHEMAS[schema]).validate(answer.json())
    assert "NaN" not in answer.text
    tag = {"if-none-match": answer.headers["etag"]}
    assert client.get(address, headers=tag).status_code == 304
    clock.time += 1.0
    is_new = schema in ("Reservation", "Plan")
    assert client.get(address, headers=tag).status_code == (200 if is_new else 304)
