"""The result of a measurement as a JSON object, and its validation."""
