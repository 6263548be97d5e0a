# SPDX-License-Identifier: BSD-3-Clause
"""A small valid catalogue, for the tests to change."""

from __future__ import annotations

CARD = """\
logs:
  SITE-1:
    title: A log
    producer: A site
    acknowledgement: Somebody
    citation: A paper
    licence: none stated
    sha256: {sha256}
    bytes: 1000
    jobs: 10
    format: swf
    machine:
      name: A machine
      processors: 100
      processors_per_node: 4
      time_zone: Europe/Stockholm
    queues:
      1: {{name: high, priority_rank: 0, why: by name}}
      2: {{name: low, priority_rank: 1, why: by name}}
""".format(sha256="a" * 64)


def with_line(line: str, instead_of: str) -> str:
    """Return the valid catalogue with one line changed."""
    assert CARD.count(instead_of) == 1
    return CARD.replace(instead_of, line)


def second_card(text: str = "", name: str = "SITE-2") -> str:
    """Return the valid catalogue with a second card that is based on the first."""
    lines = ["based_on: SITE-1", "title: B", f"sha256: {'b' * 64}", "bytes: 5", "jobs: 1"]
    return f"{CARD}  {name}:\n" + "".join(f"    {line}\n" for line in lines) + text
