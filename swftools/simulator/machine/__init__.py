# SPDX-License-Identifier: BSD-3-Clause
"""The machine: its state, what may be looked up of it, and the verbs that change it.

``state`` has the data; ``views`` and ``verbs`` are what policies and predictors use; ``waiting_queue``,
``event_queue``, ``running_jobs`` and ``faults`` are what these and the engine are made of, and no business of policies.
"""
