"""`python -m gelu_verify` is `gelu-verify`."""

from .cli import main

main()
