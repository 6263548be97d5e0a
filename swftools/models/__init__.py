"""Workload models: what is generated rather than read, each in a file of its own.

The public names stand in ``__init__.pyi``; each is imported when it is first used. A model of whole workloads is a
module with ``generate``: ``swftools.models.lublin_feitelson.generate(1000)``.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
