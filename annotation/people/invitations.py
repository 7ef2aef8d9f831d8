"""Invitations to a round of the browser pool: each lets one person join, once."""

from collections.abc import Iterable

from django.db import transaction

from annotation.models import Invitation, Worker
from annotation.people.workers import actor_of
from core import clock
from core.errors import CounterpartError, some_of
from core.events import record
from hits.models import Round

MOST = 1_000  # at a time


def make_invitations(round: Round, count: int, *, by: str) -> list[Invitation]:
    """Make unused invitations. Raises CounterpartError for a round that is not open in the browser pool, or a count out
    of range."""
    if not 1 <= count <= MOST:
        raise CounterpartError(f"Invalid number of invitations {count}: use 1 to {MOST:,}.")
    if round.channel != "browser" or round.state != "open":
        raise CounterpartError(
            f"Round {round} is not open in the browser pool: publish it with --channel browser first."
        )
    with transaction.atomic():
        made = Invitation.objects.bulk_create(Invitation(round=round, by=by) for _ in range(count))
        record("made invitations", round, actor=by, count=count, first=made[0].pk, last=made[-1].pk)
    return made


def revoke_invitations(round: Round, numbers: Iterable[int], *, by: str) -> int:
    """Make unused invitations void. Returns how many were not void before.

    Raises CounterpartError, and revokes none, for numbers that do not belong to the round or were used.
    """
    wanted = set(numbers)
    with transaction.atomic():
        found = {one.pk: one for one in round.invitations.select_for_update().filter(pk__in=wanted)}
        if unknown := sorted(wanted - found.keys()):
            raise CounterpartError(f"Round {round} has no invitation {some_of(unknown)}.")
        if used := sorted(one.pk for one in found.values() if one.used_by_id):
            raise CounterpartError(f"Invitations {some_of(used)} were used already: exclude their workers instead.")
        revoked = round.invitations.filter(pk__in=wanted, revoked_at=None).update(revoked_at=clock.now())
        if revoked:
            record("revoked invitations", round, actor=by, numbers=sorted(wanted))
    return revoked


def use_invitation(invitation: Invitation, worker: Worker) -> bool:
    """Use the invitation for the worker, in the transaction in which they join. False: it is void, or another
    worker used it."""
    unused = Invitation.objects.filter(pk=invitation.pk, used_by=None, revoked_at=None)
    if unused.update(used_by=worker, used_at=clock.now()):
        record("used", invitation, actor=actor_of(worker))
        return True
    return Invitation.objects.filter(pk=invitation.pk, used_by=worker).exists()
