"""IBM LoadLeveler: the long listings of ``llsummary -l`` and ``llq -l``."""

from swftools.formats.loadleveler.reader import LoadLeveler

__all__ = ["LoadLeveler"]
