"""Why a pair of a round is not finished: the votes that it wants, has and waits for, and what blocks the others."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from annotation import platforms
from annotation.models import Assignment
from annotation.money.ledger import commitment_of
from annotation.work.disputes import is_disputed
from annotation.work.judgments import BY_LEVEL, votes_in
from annotation.work.standstill import facts_of, holds_of
from hits.models import HIT, Item, Round, Seat
from hits.task_types import task_type_of

OF_OPEN_SEATS = ("draft", "closed", "paused", "platform", "ceiling", "workers")
"""The kinds of holds on seats that no worker has taken."""


@dataclass(frozen=True)
class PairStatus:
    """The votes on one pair of a round: ``wanted`` seats, of which ``done`` have a counted vote, ``leased`` are being
    judged or graded, ``waiting`` wait for review, ``lacking`` were filled without a vote on the pair, and ``open``
    wait for a worker. ``disputed``: no level has more than half of the votes, which may give it further seats.
    ``reasons`` says in sentences what is missing and what blocks it; empty if the pair is finished."""

    wanted: int
    done: int
    leased: int
    waiting: int
    lacking: int
    open: int
    disputed: bool
    reasons: tuple[str, ...]

    @property
    def is_finished(self) -> bool:
        return not self.reasons


def status_of(round: Round, image: int, caption: int) -> PairStatus | None:
    """Return the status of the pair (keys of rows) in the round; None if it is not a candidate there."""
    items = Item.objects.filter(hit__round=round, image=image, caption=caption, control=None)
    hits = list(HIT.objects.filter(pk__in=items.values("hit")))
    if not hits:
        return None
    seats = Seat.objects.filter(hit__in=hits)
    by_state = Counter(seats.values_list("state", flat=True))
    held = Counter(
        Assignment.objects.filter(seat__in=seats, state__in=Assignment.HOLDING).values_list("state", flat=True)
    )
    by_review = items.values_list("image__excluded_at", "caption__excluded_at")[0]
    excluded = " and ".join(side for side, at in zip(("picture", "caption"), by_review, strict=True) if at)
    votes = list(votes_in(round).filter(image=image, caption=caption).aggregate(**BY_LEVEL).values())
    done = sum(votes)
    open_seats = by_state[Seat.State.OPEN]
    opened = min(open_seats, Assignment.objects.filter(hit__in=hits, seat=None, state=Assignment.State.LEASED).count())
    figures = {
        "wanted": by_state.total(),
        "done": done,
        "leased": held[Assignment.State.LEASED] + held[Assignment.State.SUBMITTED] + opened,
        "waiting": held[Assignment.State.FLAGGED],
        "lacking": max(held[Assignment.State.ACCEPTED] - done, 0),
        "open": open_seats - opened,
    }
    disputed = is_disputed(votes)
    return PairStatus(**figures, disputed=disputed, reasons=tuple(_reasons(round, hits, figures, disputed, excluded)))


def unfinished_pairs(round: Round) -> int:
    """Count the round's pairs in HITs with a seat that is not filled; the items, where it is not about pairs."""
    unfilled = Seat.objects.filter(hit__round=round).exclude(state=Seat.State.FILLED)
    items = Item.objects.filter(hit__in=unfilled.values("hit"), control=None).order_by()
    return items.values("image", "caption").distinct().count() if task_type_of(round).on_pairs else items.count()


def _reasons(round: Round, hits: list[HIT], n: dict[str, int], disputed: bool, excluded: str) -> Iterator[str]:
    if n["leased"]:
        yield f"Being judged or graded: {n['leased']} of {n['wanted']} votes."
    if n["waiting"]:
        yield f"Waiting for review, as a control was wrong or something else has to be decided: {n['waiting']}."
    if n["lacking"]:
        yield (
            "Accepted without a vote on this pair, as the worker had judged it before or could not load its picture: "
            f"{n['lacking']}."
        )
    if n["open"]:
        yield f"Waiting for a worker: {n['open']} of {n['wanted']} votes."
        facts = facts_of(round, hits=[hit.pk for hit in hits])
        yield from (str(one) for one in holds_of(facts) if one.kind in OF_OPEN_SEATS)
        if excluded:
            yield f"A review excluded the {excluded}: votes are still stored, but the pair leaves the dataset."
    elif disputed and round.top_up and not (n["leased"] or n["waiting"]):
        yield from _why_disputed(round, n["wanted"], excluded)


def _why_disputed(round: Round, seats: int, excluded: str) -> Iterator[str]:
    if seats >= round.replication + round.top_up:
        return
    if excluded:
        yield f"Workers disagree, but a review excluded the {excluded}: no further vote is asked for."
        return
    if round.state != "open":
        yield "Workers disagree, but the round is closed: no further vote can come."
    elif not is_affordable(round):
        yield f"Workers disagree, but the ceiling of ${round.ceiling} is reached: raise it with set_ceiling."
    else:
        yield "Workers disagree: a further vote is asked for once such pairs fill a HIT or every other seat is filled."


def is_affordable(round: Round) -> bool:
    """Whether the ceiling leaves room for one more answer set, or all that are wanted are posted and paid for."""
    if round.ceiling - commitment_of(round).bound >= round.seat_cost:
        return True
    return round.settles and not platforms.postings.seats_without_posting([round])[round.pk]
