"""The search for the worst input of one implementation: which inputs are tried next, from what was found so far."""
