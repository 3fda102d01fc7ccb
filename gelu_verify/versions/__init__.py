"""How accurate each release of a library is, and at which one that changed."""

HERE = "reports/versions"  # where releases that are measured here are kept
