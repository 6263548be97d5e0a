# SPDX-License-Identifier: BSD-3-Clause
"""How a run is carried out: the event loop, how far it is, and what it calls, compiled or interpreted."""
