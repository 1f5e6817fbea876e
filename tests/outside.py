"""Programs of the system that some tests need; a test is skipped, with a reason, if its program is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHELL = "/bin/sh"
"""The shell of POSIX, whose path does not depend on `PATH`."""
COMPILERS = ("cc", "gcc", "clang")


def find_program(*names: str) -> str | None:
    """Path of the first of these programs that is installed."""
    return next((path for name in names if (path := shutil.which(name))), None)


def require(*names: str) -> str:
    """Path of the first of these programs that is installed; skip the test if none is."""
    path = find_program(*names)
    if path is None:
        pytest.skip(_reason(names))
    return path


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark for tests that need one of these programs."""
    return pytest.mark.skipif(find_program(*names) is None, reason=_reason(names))


def require_compiler() -> str:
    """Path of a C compiler with the headers of POSIX; skip the test if none is installed."""
    if sys.platform == "win32":
        pytest.skip("needs a C compiler for POSIX")
    return require(*COMPILERS)


def _reason(names: tuple[str, ...]) -> str:
    return f"needs {' or '.join(names)}, not installed"


def make_certificate(folder: Path, name: str, alternative: str, *, days: int = 2) -> tuple[Path, Path]:
    """Write a self-signed certificate and its key, ``NAME.pem`` and ``NAME.key``; skip the test without openssl.

    Args:
        alternative: the subject's alternative name, such as ``IP:127.0.0.1``.
    """
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    # An RSA key takes a third of a second.
    key_words = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    words = f"req -x509 {key_words} -days {days} -subj /CN=localhost -addext subjectAltName={alternative}"
    command = [require("openssl"), *words.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key
