"""Which inputs are tested: plans, and the special values that every plan contains."""
