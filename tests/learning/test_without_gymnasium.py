# SPDX-License-Identifier: BSD-3-Clause
"""Gymnasium is an extra: what needs it says so, all else does without, and swftools alone does not load it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.forked import NUMBA
from tests.pipelines.luigi_runs import environment

WITHOUT = """
import sys
sys.modules["gymnasium"] = None
import swftools.learning
from swftools.errors import MissingLibraryError
from swftools.kernel.sources import kernel_modules
for module in kernel_modules():  # which warm_up imports
    __import__(module)
for name in ("SchedulingEnv", "SchedulingVectorEnv"):
    try:
        getattr(swftools.learning, name)
    except MissingLibraryError as error:
        print(error)
try:
    swftools.learning.train(batches=1)
except MissingLibraryError as error:
    print(error)
print(swftools.learning.Network.random(2, 1).hidden.shape)
"""

ALONE = """
import sys, swftools, swftools.simulator
swftools.simulate, swftools.models, swftools.read_log
print("gymnasium" in sys.modules)
import swftools.learning
print("gymnasium" in sys.modules)
"""


def test_without_it(tmp_path: Path) -> None:
    """The environments and ``train`` say what to install; networks and agents are there."""
    done = NUMBA.run([sys.executable, "-c", WITHOUT], tmp_path, environment())
    assert done.returncode == 0, done.stderr
    told = "environments need Gymnasium: pip install swftools[learning]\n"
    assert done.stdout == told * 3 + "(11, 2)\n"


def test_who_does_not_learn_does_not_load_it(tmp_path: Path) -> None:
    """``import swftools.learning`` does, to register the environment."""
    done = NUMBA.run([sys.executable, "-c", ALONE], tmp_path, environment())
    assert (done.stdout, done.stderr) == ("False\nTrue\n", "")
