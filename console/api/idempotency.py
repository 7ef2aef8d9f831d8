"""Calls that change something are made once: the answer is stored by its Idempotency-Key in the transaction of the
change, and a repeated call gets the same answer."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import OperationalError, connection, transaction
from django.http import HttpRequest, HttpResponse

from console.api.problems import Problem, problem
from core import clock
from integrations.models import KeptAnswer, Token

HEADER = "Idempotency-Key"
PATIENCE = "2s"  # for another call with the same key, on PostgreSQL
LONGEST_KEY = 255
Run = Callable[..., HttpResponse]


def once(run: Run) -> Run:
    """Run an operation once for each key of a token. Of a call whose process died, nothing is committed."""

    @wraps(run)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        token: Token | None = getattr(request, "token", None)
        if token is None:
            return run(request, *args, **kwargs)  # refuses it
        try:
            key = key_of(request)
            with transaction.atomic():
                return _answered_once(token, key, request, lambda: run(request, *args, **kwargs))
        except Problem as refusal:
            return problem(refusal.status, refusal.detail, refusal.headers)

    return answer


def key_of(request: HttpRequest) -> str:
    """Return the key of a call. Raises Problem for a missing or invalid key."""
    key = request.headers.get(HEADER, "")
    if not key or len(key) > LONGEST_KEY or not key.isprintable():
        raise Problem(400, f"Send the header {HEADER} with 1 to {LONGEST_KEY} characters, such as a new UUID.")
    return key


def _answered_once(token: Token, key: str, request: HttpRequest, run: Callable[[], HttpResponse]) -> HttpResponse:
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode() + request.body).hexdigest()
    kept, is_first = _claim(token, key, digest)
    if not is_first:
        return _again(kept, digest)
    response = run()
    if response.status_code >= 400:
        transaction.set_rollback(True)  # nothing has changed, and the call may be made again
        return response
    kept.status = response.status_code
    kept.body = response.content.decode()
    kept.save(update_fields=["status", "body"])
    return response


def _claim(token: Token, key: str, digest: str) -> tuple[KeptAnswer, bool]:
    """Return the row of the key, and whether it is new. Waits for another call with the key, but not long."""
    KeptAnswer.objects.filter(token=token, key=key, at__lt=clock.now() - KeptAnswer.KEPT).delete()
    if connection.vendor == "sqlite":  # whose transactions that write come one after the other
        return KeptAnswer.objects.get_or_create(token=token, key=key, defaults={"digest": digest})
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
        try:
            return KeptAnswer.objects.get_or_create(token=token, key=key, defaults={"digest": digest})
        except OperationalError as error:
            raise Problem(409, f"A call with this {HEADER} is still running.", {"Retry-After": "2"}) from error
        finally:
            if not connection.needs_rollback:
                cursor.execute("SET LOCAL lock_timeout = DEFAULT")


def _again(kept: KeptAnswer, digest: str) -> HttpResponse:
    if kept.digest != digest:
        return problem(409, f"This {HEADER} was used for another call. Use a new one.")
    headers = {"Idempotent-Replayed": "true"}
    return HttpResponse(kept.body, status=kept.status, content_type="application/json", headers=headers)
