"""Pauses: a round admits no new workers while a person has paused it, or while no HIT is left for visitors."""

from django.db import transaction

from annotation.money.budget import locked
from core import clock
from core.errors import CounterpartError
from core.events import record
from crowd.calls.outbox import put, store_call
from crowd.channels import is_by_session
from crowd.models import Outbox, Posting
from crowd.posting.seats import COMING
from crowd.study_states import There
from hits.models import Round


def open_or_pause(posting: Posting, *, there: There) -> None:
    """Pause or resume the posting if its state on the platform contradicts ``wants_visitors``.

    A visitor for whom no HIT is left is paid for coming, and an ended session frees its place by itself, also after its
    answers are in. A posting that a person paused on the platform's site, or the platform itself, stays paused.
    """
    takes_visitors = there is There.OPEN
    if takes_visitors != posting.wants_visitors and (takes_visitors or posting.paused_at):
        store_call(Outbox.Call.PAUSE, posting, round=posting.round, **posting.market)


def can_pause(round: Round) -> bool:
    """Whether the round is open, in the browser pool or on a platform that lists it as a whole."""
    return round.state == "open" and (not round.settles or is_by_session(round.channel))


def pause_round(round: Round, *, actor: str) -> Round:
    """Admit no new workers until ``resume_round``: the browser pool leases no HIT, platforms send no visitors. Workers
    with a HIT or a platform's session go on. Repeating it changes nothing.

    Raises CounterpartError for a round that is not open, and on a platform that lists its HITs one by one.
    """
    return _set(round, paused=True, actor=actor)


def resume_round(round: Round, *, actor: str) -> Round:
    """Give out HITs again, also if the round was paused on the platform's own site. Repeating it changes nothing.
    Raises CounterpartError as ``pause_round`` does."""
    return _set(round, paused=False, actor=actor)


def posting_of_whole(round: Round) -> Posting | None:
    """Return the open posting of a round that its platform lists as a whole; None for others."""
    return round.postings.filter(hit=None, state__in=COMING).first()


@transaction.atomic
def _set(round: Round, *, paused: bool, actor: str) -> Round:
    current = locked(round)
    if not can_pause(current):
        where = f"{current.channel} lists each HIT by itself" if current.state == "open" else f"it is {current.state}"
        raise CounterpartError(
            f"Round {round} cannot be paused: {where}. Only open rounds of the browser pool and of "
            "platforms that list a round as a whole can."
        )
    since = clock.now() if paused else None
    if Round.objects.filter(pk=round.pk, paused_at__isnull=paused).update(paused_at=since):
        record("paused" if paused else "resumed", current, actor=actor)
    if posting := posting_of_whole(current):
        put(Outbox.Call.PAUSE, posting, round=current, **posting.market)
    current.refresh_from_db()
    return current
