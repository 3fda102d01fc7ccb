"""Which inputs: plans, and the special values that every plan contains."""
