#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Post the findings of a re-evaluation to a chat.

In reevaluate.yaml: ``on_finding: ./post_findings.py https://chat.example.org/hooks/KEY``. Reads the JSON that it is
given, and posts ``{"text": ...}``, as Mattermost, Slack and Rocket.Chat take it. It needs Python alone. Whatever goes
wrong is a status other than 0, which makes that of ``swftools reevaluate`` 30.
"""

import json
import sys
from urllib.error import URLError
from urllib.request import Request, urlopen


def text_of(told: dict) -> str:
    """Return what is posted: a line for each finding."""
    page = told.get("report") or f"{told['path']}/summary.md"
    lines = [f"{told['history']}: {len(told['findings'])} to look at, in {page}"]
    return "\n".join([*lines, *(f"* {finding['kind']}: {finding['message']}" for finding in told["findings"])])


def post(address: str, text: str) -> None:
    """Post a text; URLError if it is not taken within half a minute."""
    data = json.dumps({"text": text}).encode()
    with urlopen(Request(address, data, {"Content-Type": "application/json"}), timeout=30):  # noqa: S310 (as told)
        pass


if __name__ == "__main__":
    try:
        post(sys.argv[1], text_of(json.load(sys.stdin)))
    except (URLError, TimeoutError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
