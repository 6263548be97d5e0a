"""Workload models: what is generated rather than read, each in a file of its own."""
