"""Decisions from outside: a simulation that stops before each, is looked at, acted on, and goes on."""
