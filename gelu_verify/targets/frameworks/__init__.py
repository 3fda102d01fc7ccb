"""One file per family of targets, found automatically: what each framework can compute, and what we ship."""
