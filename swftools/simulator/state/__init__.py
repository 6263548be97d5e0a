# SPDX-License-Identifier: BSD-3-Clause
"""The state of a simulation: its arrays declared once (``columns``), in one block of memory (``arena``).

What an array is stands in the named tuple that has it: ``Machine`` and ``Requests`` in ``machine/state.py``,
``WaitingQueue``, and what the engine alone sees in ``engine/replay.py``. Room for jobs, copies, forks, saved states and
episodes that begin anew follow from that.
"""
