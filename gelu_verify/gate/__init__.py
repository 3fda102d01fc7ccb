"""Budgets, and verdicts of a run against them."""
