"""The correct values: oracle, reference values, correctly rounded kernels, look-up of one input."""
