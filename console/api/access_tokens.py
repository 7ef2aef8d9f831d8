"""Tokens of programs: made and shown once, found by their identifier, checked by their digest.

A token is ``cp_``, an identifier of 8 characters, 32 random bytes in 43, and a checksum in 6, so that scanners of
repositories recognise one that was published.
"""

import hashlib
import secrets
import string
import zlib
from collections.abc import Sequence
from datetime import timedelta
from ipaddress import ip_address, ip_network

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.crypto import constant_time_compare

from console.api.scopes import SCOPES, scopes_of
from core import clock
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import check_words, counted
from integrations.models import Token

DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
PREFIX = "cp_"
IDENTIFIER_LENGTH = 8
SECRET_LENGTH = 43
CHECKSUM_LENGTH = 6
LENGTH = len(PREFIX) + IDENTIFIER_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH

USUAL_DAYS = 90
MOST_DAYS = 365


def make_token(
    owner: User, name: str, scopes: Sequence[str], *, days: int = USUAL_DAYS, networks: Sequence[str] = ()
) -> tuple[Token, str]:
    """Return a new token and its text. The text is not stored.

    Raises CounterpartError for no scopes, those that the owner's role does not allow, more than a year, and invalid
    networks.
    """
    name = check_words(name, what="name", at_most=80)
    if not scopes:
        raise CounterpartError("The token has no scope. Choose at least one.")
    if above := sorted({*scopes} - {*scopes_of(owner)}):
        raise CounterpartError(f"Your role does not allow {counted(len(above), 'scope')}: {some_of(above)}.")
    if not 1 <= days <= MOST_DAYS:
        raise CounterpartError(f"Invalid number of days {days}: use 1 to {MOST_DAYS}.")
    places = [_network(network) for network in networks]
    identifier = _random(IDENTIFIER_LENGTH)
    secret = _random(SECRET_LENGTH)
    text = PREFIX + identifier + secret
    text += _checksum(text)
    with transaction.atomic():
        token = Token.objects.create(
            owner=owner,
            name=name,
            identifier=identifier,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            scopes=[scope for scope in SCOPES if scope in scopes],
            networks=places,
            expires_at=clock.now() + timedelta(days=days),
        )
        record("token made", token, actor=owner.get_username(), scopes=", ".join(token.scopes))
    return token, text


def revoke_token(token: Token, *, by: User) -> bool:
    """End a token at once; False if it had been revoked."""
    with transaction.atomic():
        if not Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=clock.now()):
            return False
        record("token revoked", token, actor=by.get_username())
    return True


def looks_like_token(text: str) -> bool:
    """Whether the text has the form of a token and its checksum is right."""
    return (
        len(text) == LENGTH
        and text.startswith(PREFIX)
        and text.isascii()
        and _checksum(text[:-CHECKSUM_LENGTH]) == text[-CHECKSUM_LENGTH:]
    )


def find_token(text: str) -> Token | None:
    """Return the token with this text in any state; None without one."""
    if not looks_like_token(text):
        return None
    identifier = text[len(PREFIX) : len(PREFIX) + IDENTIFIER_LENGTH]
    token = Token.objects.select_related("owner").filter(identifier=identifier).first()
    digest = hashlib.sha256(text.encode()).hexdigest()
    return token if token and constant_time_compare(token.sha256, digest) else None


def may_come_from(token: Token, address: str | None) -> bool:
    """Whether the token may be used from this address. None, an unknown address, is in no network."""
    if not token.networks:
        return True
    return address is not None and any(ip_address(address) in ip_network(place) for place in token.networks)


def note_use(token: Token) -> None:
    """Keep the hour in which the token was last used."""
    hour = clock.now().replace(minute=0, second=0, microsecond=0)
    if token.last_used_at != hour:
        Token.objects.filter(pk=token.pk).update(last_used_at=hour)


def _random(length: int) -> str:
    return "".join(secrets.choice(DIGITS) for _ in range(length))


def _checksum(text: str) -> str:
    """Return the CRC-32 of the text in six digits of base 62."""
    left = zlib.crc32(text.encode())
    digits = []
    for _ in range(CHECKSUM_LENGTH):
        left, digit = divmod(left, len(DIGITS))
        digits.append(DIGITS[digit])
    return "".join(reversed(digits))


def _network(text: str) -> str:
    try:
        return str(ip_network(text.strip()))
    except ValueError as error:
        raise CounterpartError(f"Invalid network {text.strip()!r}: write it as 192.0.2.0/24 or 192.0.2.7.") from error
