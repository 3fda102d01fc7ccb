"""Budgets: what they are made from, whether results comply with them, what changes between two sets."""
