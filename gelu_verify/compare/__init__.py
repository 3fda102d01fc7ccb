"""What changed between two stored runs, result by result, and over many runs."""
