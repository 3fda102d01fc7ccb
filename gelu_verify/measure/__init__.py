"""From a target and a plan to a result: calls, errors, checks, minimized failures."""
