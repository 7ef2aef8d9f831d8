"""What stands on a platform for a round: a posting for every seat that waits for somebody, never one too many."""

from django.db import transaction
from django.db.models import F

from annotation.budget import locked, room
from core.events import record
from crowd import channels
from crowd.models import Outbox, Posting
from crowd.outbox import send_round_on_commit, write_down
from crowd.seats import COMING, hits_to_post
from hits.models import HIT, Round

State, Call = Posting.State, Outbox.Call


def post_open_seats(round: Round) -> int:
    """Have the platform asked for as many answer sets as an open round has seats that nothing is coming for.

    Grows a live posting where the platform's rules let it, or else makes another one; no more than the round's ceiling
    leaves room for. Returns how many answer sets were added; 0 for a round that is not open, or whose channel is in the
    house. Repeating it adds nothing.
    """
    if not round.settles:
        return 0
    added = 0
    with transaction.atomic():
        current = locked(round)
        if current.state != "open":
            return 0
        left, cost = room(current), current.seat_cost
        for hit, missing in list(hits_to_post(current)):
            affordable = int(left // cost) - added if cost else missing
            added += _post(current, hit, min(missing, affordable))
        send_round_on_commit(current)
    return added


def postings_for(round: Round, channel: str) -> int:
    """Count the postings that all answer sets of the round make on a remote channel."""
    return round.hits.count() * -(-round.replication // channels.platform(channel).most_assignments)


def close_postings(round: Round) -> int:
    """Have every posting of the round taken off the market. Returns how many."""
    postings = Posting.objects.filter(hit__round=round, state__in=COMING)
    for posting in postings:
        write_down(Call.CLOSE, posting, round=round, channel=posting.channel, environment=posting.environment)
    send_round_on_commit(round)
    return len(postings)


def _post(round: Round, hit: HIT, missing: int) -> int:
    if missing <= 0:
        return 0
    most = channels.platform(round.channel).most_assignments
    live = hit.postings.filter(state=State.LIVE, max_assignments__lte=most - missing).first()
    if live:
        Posting.objects.filter(pk=live.pk).update(max_assignments=F("max_assignments") + missing)
        write_down(Call.EXTEND, live, round=round, channel=live.channel, environment=live.environment)
        return missing
    for start in range(0, missing, most):
        _make(round, hit, min(most, missing - start))
    return missing


def _make(round: Round, hit: HIT, slots: int) -> None:
    posting = Posting.objects.create(
        hit=hit, channel=round.channel, environment=round.environment, max_assignments=slots
    )
    record("planned", posting, actor="posting", slots=slots)
    write_down(Call.PUBLISH, posting, round=round, channel=round.channel, environment=round.environment)
