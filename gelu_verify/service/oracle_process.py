"""A process that computes look-ups which need the oracle: requests on stdin and responses on stdout, one a line.

    python -m gelu_verify.service.oracle_process

A request is a JSON array, the arguments of `encoding.look_up`. A response is `+` and the body, or `-` and the kind and
the text of an error. The process ends when its stdin does.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress

from ..errors import GeluVerifyError, OracleError
from .encoding import look_up

NICENESS = 5


def main() -> None:
    """Answer until stdin ends."""
    with suppress(OSError):
        os.nice(NICENESS)
    for line in sys.stdin.buffer:
        try:
            answer = b"+" + look_up(*json.loads(line))
        except GeluVerifyError as error:
            kind = "undecided" if isinstance(error, OracleError) else "invalid"
            answer = b"-" + json.dumps([kind, str(error)]).encode()
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
