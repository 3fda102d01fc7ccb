"""Long work: items that go through an executor, and results that are kept; it knows nothing of what they are."""
