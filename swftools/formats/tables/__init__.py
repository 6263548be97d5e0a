# SPDX-License-Identifier: BSD-3-Clause
"""Tables of jobs as sites and researchers publish them: CSV, JSON, Parquet, read by what a format declares of columns.

``columns.py`` has the words of a declaration, ``table_format.py`` the base of formats, ``published`` one file for each
format, ``mapping.py`` a user's own declaration in YAML, and ``mapping_proposal.py`` what writes a first one.
"""
