"""The formats of published tables, one a file; each is imported by a line of ``detect.py``."""
