"""One file per family of targets, found by looking: what each framework can compute, and what we ship."""
