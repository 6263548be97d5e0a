"""The Standard Workload Format: ``reader.py`` and ``writer.py`` over ``block.py`` over the compiled ``kernel.py``."""
