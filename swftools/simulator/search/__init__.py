# SPDX-License-Identifier: BSD-3-Clause
"""Search: plan many orders of the waiting jobs at each decision, and keep the best by a stated objective.

``objectives`` defines what the best is, by the measures in ``measures``. ``decision`` tells why a job went first in a
decision. The policy that searches is ``swftools.simulator.policies.search``.

References
----------
Chiang and Vasupongayya (2008). Design and potential performance of goal-oriented job scheduling policies for parallel
computer workloads. IEEE Transactions on Parallel and Distributed Systems 19.
"""
