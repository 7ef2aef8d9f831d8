"""Who started a job, and whether they still may. It is stored with the job, checked again at each of its runs, and once
more under the lock before the job spends, publishes, pays or releases.

A job without an account is the operator's, who works on the server: commands, and what the site does by itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.dispatch import Signal

from core.errors import CounterpartError
from core.models import Job

asked_again = Signal()
"""Sent when the authority of a ``job`` is checked, for the apps above: a receiver returns why it has ended, if so."""

KINDS: dict[str, "JobKind"] = {}
"""All kinds of jobs, by the names of their tasks."""

_current: ContextVar[Job | None] = ContextVar("job", default=None)


@dataclass(frozen=True)
class JobKind:
    """Who may ask for a kind of job: accounts with one of the permissions ``needs``; it is never asked again where it
    names none, as for figures of a page. One that ``acts`` spends, publishes, pays, releases or changes rounds, and
    asks once more under the lock."""

    needs: tuple[str, ...]
    acts: bool = False


def asked_by(user: User | None) -> dict[str, Any]:
    """Return what a job keeps of who asked for it: the account's name, and of a call its token and scope."""
    return {"account": user.get_username(), **getattr(user, "asks_with", {})} if user else {}


@contextmanager
def on_behalf_of_author(job: Job) -> Iterator[None]:
    """Let ``check_authority`` check this job within the block."""
    before = _current.set(job)
    try:
        yield
    finally:
        _current.reset(before)


def check_authority(*permissions: str) -> None:
    """Raise CounterpartError if the person who started the running job may no longer do so, or has not all of these
    ``permissions`` in addition to those of its kind. Does nothing outside jobs, as pages, calls and commands check."""
    job = _current.get()
    if job and (lost := lost_authority(job, *permissions)):
        raise CounterpartError(lost)


def lost_authority(job: Job, *permissions: str) -> str:
    """Return a sentence on why the person who started the job may no longer do so; empty if they may."""
    needs = KINDS[job.task].needs if job.task in KINDS else ()
    if not needs or not (job.created_by_id or job.asked):
        return ""
    account = User.objects.filter(pk=job.created_by_id).first() if job.created_by_id else None
    reasons = [_lost_role(job, account, needs, permissions), *(reason for _, reason in asked_again.send(Job, job=job))]
    reason = next(filter(None, reasons), "")
    return f"{reason}, so this job stopped. A person who may do it has to start it again." if reason else ""


def _lost_role(job: Job, account: User | None, needs: tuple[str, ...], permissions: tuple[str, ...]) -> str:
    if account is None:
        return f"The account {job.asked.get('account', '')} was removed"
    if not account.is_active:
        return f"The account {account} is deactivated"
    may = any(map(account.has_perm, needs)) and account.has_perms(permissions)
    return "" if may else f"The role of {account} no longer allows this"
