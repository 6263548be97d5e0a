# SPDX-License-Identifier: BSD-3-Clause
"""The example of settings has every key, with its default."""

from __future__ import annotations

import dataclasses
from typing import Any

import yaml

from pipelines.service.settings import ClusterSettings, ServiceSettings, read_service_settings
from tests.folders import ROOT

EXAMPLE = ROOT / "examples" / "service" / "service.yaml"


def test_the_example_has_every_key_with_its_default() -> None:
    """So what is deleted of it means the same."""
    content: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    assert set(content) == {field.name for field in dataclasses.fields(ServiceSettings)}
    (cluster,) = content["clusters"].values()
    assert set(cluster) == {field.name for field in dataclasses.fields(ClusterSettings)}
    settings = read_service_settings(EXAMPLE)
    assert settings == ServiceSettings(clusters={"blue": ClusterSettings(sensor={"kind": "slurm"})})
