"""Short signatures in the codes that workers keep: made with the site's key, and still valid after a key change."""

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac


def signature(purpose: str, text: str, *, length: int) -> str:
    """Return the first ``length`` hexadecimal digits of the signature of ``text`` for this purpose."""
    return _signed(purpose, text, settings.SECRET_KEY)[:length]


def is_signature(given: str, purpose: str, text: str, *, length: int) -> bool:
    """Tell whether ``given`` is a signature of ``text`` by SECRET_KEY or one of SECRET_KEY_FALLBACKS."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(constant_time_compare(given, _signed(purpose, text, key)[:length]) for key in keys)


def _signed(purpose: str, text: str, key: str) -> str:
    return salted_hmac(purpose, text, secret=key).hexdigest()
