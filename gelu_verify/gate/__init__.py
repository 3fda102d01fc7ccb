"""Accuracy budgets, and the verdicts of a run against them."""
