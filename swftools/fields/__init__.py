"""The column dictionary: every column of every table, once; ``dictionary.py`` looks them up."""
