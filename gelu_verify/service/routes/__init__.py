"""One file per group of routes, each with a `router`."""
