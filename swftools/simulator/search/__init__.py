"""Search: at each decision many orders of the waiting jobs are planned, and the best by a stated objective is kept.

``objectives`` says what the best is, in measures that stand in ``measures``; ``explaining`` tells of one decision why
a job went first. The policy that searches is ``swftools.simulator.policies.search``.

References
----------
Chiang and Vasupongayya (2008). Design and potential performance of goal-oriented job scheduling policies for parallel
computer workloads. IEEE Transactions on Parallel and Distributed Systems 19.
"""
