#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mail the findings of a re-evaluation, with its report if there is one.

In reevaluate.yaml: ``on_finding: ./mail_findings.py operators@example.org``, and ``report: true`` for a page with
figures and pictures, which is attached. Reads the JSON that it is given, and hands a mail to ``sendmail``. It needs
Python alone. Whatever goes wrong is a status other than 0, which makes that of ``swftools reevaluate`` 30.
"""

import json
import subprocess
import sys
from email.message import EmailMessage
from pathlib import Path


def mail_of(told: dict, address: str) -> EmailMessage:
    """Return the mail: a line for each finding, and the report."""
    mail = EmailMessage()
    mail["To"] = address
    mail["Subject"] = f"{told['history']}: {len(told['findings'])} to look at"
    lines = [f"{finding['kind']}: {finding['message']}" for finding in told["findings"]]
    mail.set_content("\n".join([*lines, "", f"{told['path']}/summary.md", ""]))
    report = Path(told.get("report") or "")
    if report.is_file():  # on S3 it is an address
        mail.add_attachment(report.read_text(encoding="utf-8"), subtype="html", filename=report.name)
    return mail


if __name__ == "__main__":
    mail = mail_of(json.load(sys.stdin), sys.argv[1])
    subprocess.run(["sendmail", "-t"], input=mail.as_bytes(), check=True)  # noqa: S607 (of the system)
