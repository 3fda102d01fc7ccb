"""Error statistics per bucket of x, counted by a native reducer and merged exactly."""
