# SPDX-License-Identifier: BSD-3-Clause
"""What the gallery of policies says of each: what it promises, which paper it is from."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping

from site_pages.written import one_line
from swftools.simulator.registry import Policy


def promises(policy: Policy) -> str:
    """Return what ``validate`` holds the schedules of a policy to."""
    always = [f"`{name}`" for name in policy.promises]
    some = [f"`{name}` with {_options(options)}" for name, options in policy.promises_where.items()]
    told = ", ".join([*always, *some])
    return f"**Promises** {told} ([checked](../../validation.md) by `validate`)." if told else "**Promises** nothing."


def paper(policy: Policy) -> str:
    """Return what the module of a policy refers to."""
    module = inspect.cleandoc(sys.modules[policy.decide.__module__].__doc__ or "")
    found = re.search(r"^References\n-+\n(.*?)(?=\n\n|\Z)", module, re.DOTALL | re.MULTILINE)
    return f"**From** {one_line(found[1]).rstrip('.')}." if found else ""


def _options(options: Mapping[str, object]) -> str:
    return ", ".join(f"`{key}={str(value).lower() if value is True else value}`" for key, value in options.items())
