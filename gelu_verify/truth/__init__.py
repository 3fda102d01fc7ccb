"""What the right result is: the oracle, reference values, the correctly rounded kernels, look-up of one input."""
