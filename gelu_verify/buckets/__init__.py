"""Error statistics per bucket of x: counted by a native reducer, merged exactly, summed up."""
