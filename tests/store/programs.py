"""Server programs with a command line of the test's own, and certificates for them."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examples.valkey import HOST
from tests.nodes.programs import require
from tests.nodes.waiting import wait_until


@contextmanager
def running(binary: Path, *arguments: object, port: int) -> Iterator[int]:
    """Run a server until the end of the block, and give its port once it takes connections."""
    process = subprocess.Popen([binary, *map(str, arguments)], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: _listens(port), f"a server on port {port}")
        yield port
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


class Certificates:
    """A root, and a certificate of it for 127.0.0.1, in files."""

    def __init__(self, folder: Path) -> None:
        self.root, self.certificate, self.key = folder / "ca.pem", folder / "server.pem", folder / "server.key"
        openssl, root_key = require("openssl"), folder / "ca.key"
        make = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
        # Python 3.13 asks of a certificate that may sign that it says so; both may, by openssl's own settings.
        make += ["-addext", "keyUsage=critical,digitalSignature,keyCertSign"]
        for arguments in (
            ["-subj", "/CN=root", "-keyout", root_key, "-out", self.root],
            [
                "-subj",
                "/CN=server",
                "-keyout",
                self.key,
                "-out",
                self.certificate,
                "-CA",
                self.root,
                "-CAkey",
                root_key,
                "-addext",
                f"subjectAltName=IP:{HOST}",
            ],
        ):
            subprocess.run([*make, *map(str, arguments)], check=True, capture_output=True)

    @property
    def of_server(self) -> list[object]:
        return ["--tls-cert-file", self.certificate, "--tls-key-file", self.key, "--tls-ca-cert-file", self.root]

    @property
    def query(self) -> str:
        return f"ssl_ca_certs={self.root}"
