"""Caddy and nginx with the files of deploy/, in front of a server on this machine."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import time

import requiring
from repository import ROOT

DEPLOY = ROOT / "deploy"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def certificate(folder):
    key, found = folder / "key.pem", folder / "certificate.pem"
    made = [requiring.program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", found]  # fmt: skip
    subprocess.run(made, check=True, capture_output=True)
    return key, found


@contextlib.contextmanager
def running(command, port):
    """A program, as soon as it listens."""
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.communicate(timeout=10)


def nginx_files(folder, upstream, port, plain):
    """The site with addresses of this machine, in a configuration of its own; its path."""
    key, found = certificate(folder)
    site = (DEPLOY / "nginx.conf").read_text()
    for old, new in {
        r"(ssl_certificate) .*;": rf"\1 {found};",
        r"(ssl_certificate_key) .*;": rf"\1 {key};",
        r"(proxy_cache_path) \S+": rf"\1 {folder}/cache",
        r"server 127\.0\.0\.1:8000": f"server 127.0.0.1:{upstream}",
        r"listen 443": f"listen 127.0.0.1:{port}",
        r"listen \[::\]:443": f"listen [::1]:{port}",
        r"listen 80;": f"listen 127.0.0.1:{plain};",
        r"listen \[::\]:80;": f"listen [::1]:{plain};",
    }.items():
        site, count = re.subn(old, new, site)
        assert count == 1, old
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(
        f"user root;\ndaemon off;\npid {folder}/pid;\nerror_log {folder}/log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{site}}}\n"
    )
    return main


@contextlib.contextmanager
def nginx(folder, upstream):
    """nginx in front of a port; the port on which it speaks TLS. That for plain HTTP is in the file `plain`."""
    port, plain = free_port(), free_port()
    with running([requiring.program("nginx"), "-c", nginx_files(folder, upstream, port, plain)], port):
        (folder / "plain").write_text(str(plain))
        yield port


@contextlib.contextmanager
def caddy(folder, upstream):
    """Caddy in front of a port; the port on which it speaks plain HTTP."""
    port, file = free_port(), folder / "Caddyfile"
    text = (DEPLOY / "Caddyfile").read_text()
    file.write_text(text.replace("{\n", "{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n", 1))
    variables = [
        f"GELU_VERIFY_SITE=http://127.0.0.1:{port}",
        f"GELU_VERIFY_UPSTREAM=127.0.0.1:{upstream}",
        f"HOME={folder}",
    ]
    command = ["env", *variables, requiring.program("caddy"), "run", "--adapter", "caddyfile", "--config", file]
    with running(command, port):
        yield port
