"""The lock on the login: a limit of wrong passwords for an account from one address, and one for all addresses."""

from collections.abc import Iterator
from datetime import timedelta

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest

from core import clock
from core.text import counted
from core.web.throttles import client_address

KNOWN_FOR = timedelta(days=30)


class LoginLock(AxesDatabaseHandler):
    """axes' lock of a user name and address, with a second limit for one account over many addresses.

    An attacker can reach the second limit for any account. It therefore does not apply to addresses from which the
    account has logged in lately: otherwise an attack would keep the owner out.
    """

    def is_locked(self, request: HttpRequest, credentials: dict | None = None) -> bool:
        username = get_client_username(request, credentials) or ""
        return bool(super().is_locked(request, credentials)) or _is_beset(username, client_address(request))


def _is_beset(username: str, address: str | None) -> bool:
    now = clock.now()
    recent = AccessAttempt.objects.filter(
        username=username, attempt_time__gt=now - timedelta(hours=settings.AXES_COOLOFF_TIME)
    )
    failures = recent.aggregate(sum=Sum("failures_since_start"))["sum"] or 0
    if failures < settings.LOGIN_FAILURES_OF_ALL:
        return False
    known = AccessLog.objects.filter(username=username, ip_address=address, attempt_time__gt=now - KNOWN_FOR)
    return not known.exists()


def find_unknown_addresses() -> Iterator[tuple[str, str]]:
    """Whether the addresses for which visits are counted are known, by recent logins: a check of ``doctor``."""
    logins = AccessLog.objects.filter(attempt_time__gt=clock.now() - KNOWN_FOR)
    if unknown := logins.filter(ip_address=None).count():
        came = counted(unknown, "login")
        found = f"{came} of {KNOWN_FOR.days} days came from no known address; such visitors share one limit."
        yield found, "PROXY_COUNT=<number of proxies before the site that extend X-Forwarded-For>"
    elif settings.PROXY_COUNT:
        proxies = counted(settings.PROXY_COUNT, "proxy", "proxies")
        yield f"{proxies} counted; with fewer than that before the site, visitors can invent addresses", ""
    else:
        yield "no proxy is counted; behind one, all visitors share its address", ""
