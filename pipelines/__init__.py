# SPDX-License-Identifier: BSD-3-Clause
"""The tasks one may run, as in ``luigi --module pipelines BuildAugmentedTrace``; nothing else.

Their names stand in ``__init__.pyi``; each is imported when it is first used, so that a program which only reads data
(``from pipelines.store import DataRoot``) loads no luigi and has its logging for itself.
"""

import sys

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

if "luigi.cmdline" in sys.modules:
    # luigi's own command finds those tasks that are defined once it has imported the module it is told to.
    # A task brings along what it requires.
    from pipelines.config import named_tasks, show_progress
    from pipelines.tasks.luigi_settings import check_luigis_command

    for _name in named_tasks(__all__, sys.argv[1:]):
        __getattr__(_name)
    show_progress()
    check_luigis_command()
