# SPDX-License-Identifier: BSD-3-Clause
"""Histories: data sets that grow by what arrives in an inbox, and are evaluated each time.

``settings`` says what is wanted, ``inbox`` what has arrived, ``state`` what the last version has; ``ingest`` puts the
one into the other; ``months``, ``waits`` and ``policy_watch`` make of it what is published, ``findings`` what is told.
"""
