"""Pauses: visitors of a whole round are kept away while no HIT is left for them, or while a person wants it."""

from django.db import transaction

from annotation.money.budget import locked
from core.errors import CounterpartError
from core.events import record
from crowd.models import Outbox, Posting
from crowd.outbox import put, store_call
from crowd.seats import COMING
from hits.models import Round


def open_or_pause(posting: Posting, *, takes_visitors: bool) -> None:
    """Have the platform let visitors come or not, as ``wants_visitors`` says, where its list shows the opposite.

    Without a HIT each visitor would be paid for coming: a place becomes free by itself when a session ends, also after
    its answers are in. What a person paused on the platform's own site stays paused.
    """
    if takes_visitors != posting.wants_visitors and (takes_visitors or posting.paused_at):
        store_call(Outbox.Call.PAUSE, posting, round=posting.round, **posting.market)


def pause_round(round: Round, *, actor: str) -> Posting:
    """Have the platform send no new visitor to the round until ``resume_round``; running sessions go on.
    Repeating it changes nothing. Raises CounterpartError for a round that is not open as a whole on a platform."""
    return _set(round, is_stopped=True, actor=actor)


def resume_round(round: Round, *, actor: str) -> Posting:
    """Let visitors come again once a HIT is left, also where somebody paused it on the platform's own site. Repeating
    it changes nothing. Raises CounterpartError as ``pause_round`` does."""
    return _set(round, is_stopped=False, actor=actor)


@transaction.atomic
def _set(round: Round, *, is_stopped: bool, actor: str) -> Posting:
    current = locked(round)
    posting = current.postings.filter(hit=None, state__in=COMING).first()
    if current.state != "open" or posting is None:
        raise CounterpartError(
            f"Round {round} is not open on a platform that lists it as a whole. To give out no other HIT, set its "
            "ceiling to what is bound, which its ledger names."
        )
    if Posting.objects.filter(pk=posting.pk).exclude(is_stopped=is_stopped).update(is_stopped=is_stopped):
        record("paused" if is_stopped else "resumed", current, actor=actor)
    put(Outbox.Call.PAUSE, posting, round=current, **posting.market)
    posting.is_stopped = is_stopped
    return posting
