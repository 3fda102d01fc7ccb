"""What a server is started with: where its data are, and the limits of what clients may use."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

from ..errors import UsageError
from .tokens import Token

LOOPBACK = ("127.0.0.1", "::1", "localhost")
DIGITS = 20
"""Digits of decimals unless the client asks for another number: as many as the native core decides."""


@dataclass(frozen=True)
class ServiceLimits:
    """Bytes, values, seconds and counts; docs/deploy.md explains them."""

    body_bytes: int = 64 << 20
    json_bytes: int = 4 << 20
    json_values: int = 1 << 16
    file_values: int = 1 << 20  # inputs of a Parquet or npy file
    head_bytes: int = 32 << 10
    digits: int = 1000
    number_text: int = 1100  # the longest float64 has 767 digits
    plan_inputs: int = 1 << 24
    connections: int = 512
    connections_per_client: int = 128
    connections_per_s: int = 100  # new ones of a client, after connections_per_client at once
    pipelined: int = 16  # requests of a connection that wait for the response before
    spool_bytes: int = 1 << 30  # bodies and results of all clients that are kept at the same time
    spool_bytes_per_client: int = 1 << 28
    bodies_per_client: int = 16  # that arrive at the same time
    body_bytes_per_s: int = 8 << 10  # the least, after the first body_idle_s
    head_s: float = 10.0
    body_idle_s: float = 10.0
    body_s: float = 120.0
    send_s: float = 30.0
    response_s: float = 600.0
    wait_s: float = 2.0  # an upload that takes longer is answered with 202
    job_ttl_s: float = 900.0
    jobs_max: int = 256
    jobs_bytes: int = 1 << 28  # of all results that are kept
    look_up_cache_bytes: int = 1 << 22
    file_cache_bytes: int = 1 << 27  # tables and inputs that were asked for, on disk
    small_cost_s: float = 0.02  # estimated seconds up to which a request is small
    small_processes: int = 2
    small_queue: int = 62
    small_s: float = 1.0  # beyond it a request goes on as a batch
    batch_processes: int = 2
    batch_queue: int = 14
    call_s: float = 60.0  # one call of a process that computes a batch
    batch_s: float = 20.0  # of a core, for all parts of a batch
    verify_processes: int = 2
    verify_queue: int = 8
    verify_s: float = 120.0
    process_bytes: int = 1 << 23  # that the memory of a process may grow before it is replaced
    work_threads: int = 2
    work_queue: int = 16
    library_threads: int = 2  # libraries that compute at the same time, one call each
    library_queue: int = 8  # of each library
    libraries_running: int = 8  # processes
    library_bytes: int = 1 << 30  # beyond what loading the library took
    library_call_s: float = 15.0
    library_s: float = 45.0  # for all calls of one request; then the process is ended
    library_wait_s: float = 60.0
    library_idle_s: float = 300.0
    library_retry_s: float = 60.0  # a failure is remembered for so long
    library_cache: int = 1024  # results remembered for each library


@dataclass(frozen=True)
class Settings:
    """What `gelu-verify serve` was started with; `tokens` permit writing to `store`."""

    host: str = "127.0.0.1"
    port: int = 8000
    unix_socket: Path | None = None  # instead of host and port
    workers: int = 1
    allowed_hosts: tuple[str, ...] | None = None  # names in `Host`; None: any, or loopback if `host` is
    trusted_proxies: tuple[str, ...] = ()  # addresses whose X-Forwarded-For is believed
    store: Path | None = None
    store_bytes: int | None = None  # beyond it no run is stored
    retain_days: float | None = None  # older stored runs are deleted
    tokens: tuple[Token, ...] = ()
    runs: Path | None = None  # folder of stored runs to publish
    versions: Path | None = None  # folder of measured releases of libraries; None: those that the package has
    families: tuple[str, ...] | None = None  # target families for /v1/answers; None: `library_pool.default_families`
    spool: Path | None = None  # folder for bodies while they are used; None: the system's for temporary files
    jobs_folder: Path | None = None  # folder of the table of jobs, if it is to outlive the server
    documentation: str | None = None  # URLs to which the page links
    source: str | None = None
    log_requests: str = "all"  # or "errors"
    shutdown_delay_s: float = 0.0  # from SIGTERM, in which /readyz is 503 and requests are still accepted
    drain_s: float = 10.0  # that running requests then get
    limits: ServiceLimits = ServiceLimits()

    def __post_init__(self) -> None:
        for place in () if self.trusted_proxies == ("*",) else self.trusted_proxies:
            try:
                ip_network(place)
            except ValueError as error:  # a name, for example: no client has one
                accepted = "127.0.0.1, 10.0.0.0/8, or * alone"
                raise UsageError(f"--trusted-proxies: {error} (accepted: {accepted})") from None

    @property
    def hosts(self) -> frozenset[str] | None:
        """Names that `Host` may have; None: any."""
        if self.allowed_hosts is not None:
            return frozenset(self.allowed_hosts)
        return frozenset(LOOPBACK) if self.host in LOOPBACK and self.unix_socket is None else None
