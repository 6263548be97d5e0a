# SPDX-License-Identifier: BSD-3-Clause
"""Luigi tasks, and their parameters: each in a file.

Whoever imports a task, in Python too, gets luigi with the shipped settings wherever no luigi.cfg sets another.
"""

from pipelines.tasks.luigi_settings import apply_defaults

apply_defaults()
