"""Checkpointing of jobs, from a survey of users (Lee 2009): the survey, a synthetic one, and what it says of jobs."""
