"""Signatures and keys made with the site's key, which stay valid after a key change: short signatures in the codes that
workers keep, and keys that other programs hold."""

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac


def signature(purpose: str, text: str, *, length: int) -> str:
    """Return the first ``length`` hexadecimal digits of the signature of ``text`` for this purpose."""
    return signatures(purpose, text, length=length)[0]


def signatures(purpose: str, text: str, *, length: int) -> list[str]:
    """Return the signatures of ``text`` by SECRET_KEY and then by each of SECRET_KEY_FALLBACKS."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [salted_hmac(purpose, text, secret=key).hexdigest()[:length] for key in keys]


def is_signature(given: str, purpose: str, text: str, *, length: int) -> bool:
    """Whether ``given`` is one of the ``signatures`` of ``text``."""
    return any(constant_time_compare(given, valid) for valid in signatures(purpose, text, length=length))


def keys_for(purpose: str, text: str) -> list[bytes]:
    """Return keys of 32 bytes for ``text`` and this purpose: by SECRET_KEY, then by each of SECRET_KEY_FALLBACKS."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [salted_hmac(purpose, text, secret=key, algorithm="sha256").digest() for key in keys]
