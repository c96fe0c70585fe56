"""Mutual TLS: the three files every broker and client has, and a private authority for one run.

Certificates are made with the `openssl` command. Each names its holder (broker or client id) as common name
and as DNS name, and the holder's addresses, so that an id cannot be claimed by someone else.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from broker_grpc.errors import BrokerError

DAYS = "30"
CONTROL_ROLE = "testbed:role:control"  # in a certificate: its holder may give orders to brokers


class TlsError(BrokerError):
    """A certificate could not be made or read."""

    reason = "tls"


class TlsFiles(msgspec.Struct, frozen=True):
    ca: str
    cert: str
    key: str


class Authority:
    """A certificate authority that lives in one folder, which nobody else may read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = folder / "ca.key"
        self._cert = folder / "ca.pem"

    @classmethod
    def create(cls, folder: Path, name: str = "testbed run") -> Authority:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        authority = cls(folder)
        _new_key(authority._key)
        extensions = [
            "-addext",
            "basicConstraints=critical,CA:TRUE",
            "-addext",
            "keyUsage=keyCertSign,cRLSign",
        ]
        files = ["-key", str(authority._key), "-out", str(authority._cert)]
        _openssl(["req", "-x509", "-new", *files, "-days", DAYS, "-subj", f"/CN={name}", *extensions])
        return authority

    def issue(
        self, holder: str, addresses: Sequence[str] = (), also: Sequence[str] = (), roles: Sequence[str] = ()
    ) -> TlsFiles:
        """Key and certificate of one process, in the authority's folder.

        `also`: more ids that it may use, for a process that runs many clients. `roles`: CONTROL_ROLE.
        """
        key, cert = self.folder / f"{holder}.key", self.folder / f"{holder}.pem"
        request, extensions = self.folder / f"{holder}.csr", self.folder / f"{holder}.ext"
        names = [f"DNS:{name}" for name in (holder, *also)] + [f"IP:{address}" for address in addresses]
        names += [f"URI:{role}" for role in roles]
        extensions.write_text(
            f"subjectAltName={','.join(names)}\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n"
        )
        _new_key(key)
        _openssl(["req", "-new", "-key", str(key), "-out", str(request), "-subj", f"/CN={holder}"])
        signer = ["-CA", str(self._cert), "-CAkey", str(self._key), "-CAcreateserial", "-days", DAYS]
        files = ["-in", str(request), "-extfile", str(extensions), "-out", str(cert)]
        _openssl(["x509", "-req", *signer, *files])
        request.unlink()
        extensions.unlink()
        return TlsFiles(ca=str(self._cert), cert=str(cert), key=str(key))


def _new_key(path: Path) -> None:
    path.touch(mode=0o600)
    _openssl(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(path)])


def _openssl(arguments: list[str]) -> None:
    if shutil.which("openssl") is None:
        raise TlsError("the openssl command is not installed; without it no certificates can be made")
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise TlsError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise TlsError(f"{path}: {error.strerror}") from None


def server_credentials(files: TlsFiles) -> Any:
    """Demands a certificate of the same authority from every peer."""
    import grpc

    pair = (_read(files.key), _read(files.cert))
    return grpc.ssl_server_credentials([pair], root_certificates=_read(files.ca), require_client_auth=True)


def channel_credentials(files: TlsFiles) -> Any:
    import grpc

    return grpc.ssl_channel_credentials(_read(files.ca), _read(files.key), _read(files.cert))
