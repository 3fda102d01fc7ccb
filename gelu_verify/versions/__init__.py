"""The observatory: how accurate each release of a library is, and at which one that changed."""
