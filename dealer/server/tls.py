"""The certificate with which the text port is encrypted."""

from __future__ import annotations

import ssl

from dealer.errors import ConfigError, SettingProblem

__all__ = ["tls_context"]


def tls_context(certificate: str, key: str) -> ssl.SSLContext:
    """What a server shows its clients.

    Args:
        certificate: a PEM file.
        key: the file of its key; empty if that is in the same file.

    Raises:
        ConfigError: they cannot be used.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key or None)
    except OSError as error:
        raise ConfigError(SettingProblem("certificate", f"{certificate}: {error.strerror or error}")) from None
    return context
