"""Pauses: a round takes nobody new while a person wants it, and on a platform while no HIT is left for visitors."""

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
    """Have the platform let visitors come or not, as ``wants_visitors`` says, where its list shows the opposite.

    Without a HIT each visitor would be paid for coming: a place becomes free by itself when a session ends, also after
    its answers are in. What a person paused on the platform's own site, or the platform by itself, stays paused.
    """
    takes_visitors = there is There.OPEN
    if takes_visitors != posting.wants_visitors and (takes_visitors or posting.paused_at):
        store_call(Outbox.Call.PAUSE, posting, round=posting.round, **posting.market)


def can_pause(round: Round) -> bool:
    """Whether the round is open, in the browser pool or on a platform that lists it as a whole."""
    return round.state == "open" and (not round.settles or is_by_session(round.channel))


def pause_round(round: Round, *, actor: str) -> Round:
    """Give nobody new a HIT until ``resume_round``: in the browser pool no HIT is leased, a platform sends no visitor.
    Whoever has a HIT, or a session of a platform, goes on. Repeating it changes nothing.

    Raises CounterpartError for a round that is not open, and on a platform that lists its HITs one by one.
    """
    return _set(round, paused=True, actor=actor)


def resume_round(round: Round, *, actor: str) -> Round:
    """Give out HITs again, also where somebody paused it on the platform's own site. Repeating it changes nothing.
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
