"""Logs by name: cards, paths and models; finding, fetching and generating them."""
