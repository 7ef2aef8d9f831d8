"""Why a round does not go on: a sentence for each thing that holds it up, with the command that helps.

``holds_of`` is the one rule, over counts that are read once; commands, pages and the API hand on what it says.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Min

from annotation import platforms
from annotation.models import Admission, Assignment, Rejection, Worker
from annotation.money.ledger import Balance, balance_of
from annotation.people.admission import admission_of, hits_with_seen_pairs, permit_of, places_left
from annotation.platforms import Hold
from annotation.work.leases import AT_ONCE
from annotation.work.standing import Standing, standing_of
from core.health.heartbeat import queue_has_stopped
from core.text import counted
from hits.models import Round, Seat
from hits.rounds.packed_rounds import missing_pictures

SETS = ("answer set", "answer sets")
WORK = "celery -A config worker --beat"


@dataclass(frozen=True)
class JoinedCrowd:
    """The people who joined a round of the browser pool: how many, and how many are ``barred`` from every open HIT, by
    what bars them. ``way_in``: by what others may join (link, invitation); empty if no one else can."""

    joined: int
    barred: Counter[str]
    way_in: str


@dataclass(frozen=True)
class Facts:
    """What is known of a round. ``pictures`` of its HITs are missing, ``proposed`` rejections wait for a second person;
    ``deadline`` is when the first lease ends; ``platform`` is what its platform says; ``crowd`` is None unless only
    people of the browser pool are missing."""

    round: Round
    standing: Standing
    balance: Balance
    pictures: int = 0
    proposed: int = 0
    deadline: datetime | None = None
    has_worker: bool = True
    platform: Sequence[Hold] = ()
    crowd: JoinedCrowd | None = None


def find_holds(round: Round, standing: Standing | None = None) -> list[Hold]:
    """Return what holds the round up, most decisive first; nothing for a complete one. ``standing``: if it was read."""
    return holds_of(facts_of(round, standing=standing))


def waits_for(round: Round) -> str:
    """Return the same as a text, as commands print it; "nothing" for a complete round."""
    return " ".join(map(str, find_holds(round))) or "nothing"


def facts_of(round: Round, *, hits: Collection[int] | None = None, standing: Standing | None = None) -> Facts:
    """Read what ``holds_of`` needs to know of a round, or of these open ``hits`` of it."""
    leases = Assignment.objects.filter(hit__round=round, state=Assignment.State.LEASED, seat__isnull=False)
    facts = Facts(
        round,
        standing or standing_of(round),
        balance_of(round),
        pictures=len(missing_pictures(round)),
        proposed=Rejection.objects.filter(Rejection.PROPOSED, assignment__hit__round=round).count(),
        deadline=leases.aggregate(first=Min("deadline"))["first"],
        has_worker=not queue_has_stopped(),
        platform=platforms.postings.holds(round),
    )
    if round.settles or not round.takes_workers or not facts.standing.seats[Seat.State.OPEN] or facts.balance.is_spent:
        return facts
    seats = Seat.objects.filter(round=round, state=Seat.State.OPEN).order_by("hit")
    seats = seats if hits is None else seats.filter(hit__in=hits)
    open_hits = list(seats.values_list("hit", flat=True).distinct())
    return replace(facts, crowd=crowd_of(round, open_hits)) if open_hits else facts


def holds_of(facts: Facts) -> list[Hold]:
    """Say what holds a round up. Pure."""
    round = facts.round
    standing = facts.standing
    if standing.is_complete and round.state != "draft":
        return _reviews(facts)
    if round.state == "draft":
        if any(standing.work.values()):
            return [Hold("draft", "It is a draft that was judged elsewhere: close or publish it.", f"close {round}")]
        draft = Hold("draft", "It is a draft: publish it.", f"publish {round} --channel browser")
        return [draft, *_pictures(facts, "publish refuses it without them, or with --skip-missing")]
    if round.state == "closed":
        missing = counted(standing.wanted - standing.filled, *SETS)
        closed = Hold("closed", f"It was closed with {missing} missing: nothing more comes.")
        return [closed, *_reviews(facts)]
    holds = [
        *_pause(facts),
        *facts.platform,
        *_ceiling(facts.balance, round),
        *_queue(facts),
        *_pictures(facts, "their pairs are shown without one and get no vote"),
        *_exhausted(facts.crowd, round),
    ]
    is_held_up = any(not one.goes_on for one in holds)
    return [*holds, *([] if is_held_up else _coming(facts)), *_reviews(facts)]


def _exhausted(crowd: JoinedCrowd | None, round: Round) -> list[Hold]:
    """Say so where no worker who joined can take an open HIT."""
    if crowd is None or crowd.barred.total() < crowd.joined:
        return []
    barred = ", ".join(f"{n:,} {why}" for why, n in crowd.barred.most_common())
    who = f"No worker who joined can take an open HIT ({barred})" if crowd.joined else "No worker has joined yet"
    if not crowd.way_in:
        return [Hold("workers", f"{who}, and it is full: close it and pack its open pairs again.")]
    command = f"invite {round} --count 20" if crowd.way_in == "invitation" else ""
    return [Hold("workers", f"{who}: more workers are needed, by the {crowd.way_in}.", command)]


def crowd_of(round: Round, hits: Collection[int]) -> JoinedCrowd:
    """Count whom of those who joined something bars from every one of the ``hits``. It ends with the first who can take
    one, as a rule after a few queries; the numbers of the others are only needed where there is none."""
    joined = round.participants.count()
    barred: Counter[str] = Counter()
    for person in round.participants.order_by("-pk").select_related("worker"):
        if why := _bar(round, person.worker, hits):
            barred[why] += 1
        else:
            break
    return JoinedCrowd(joined, barred, _way_in(round, admission_of(round)))


def _bar(round: Round, worker: Worker, hits: Collection[int]) -> str:
    """Say what bars a worker from every one of the HITs; nothing if they can take one, or may after the test."""
    permit = permit_of(round, worker)
    if permit.excluded or permit.paused:
        return "excluded" if permit.excluded else "paused here"
    if permit.needs_test:
        return "failed in the test" if permit.failed else ""
    if permit.left == 0:
        return "at the limit of HITs for one worker"
    if permit.waits:
        return "waiting for a decision on their last HITs"
    parts = [set(list(hits)[start : start + AT_ONCE]) for start in range(0, len(hits), AT_ONCE)]
    if any(part - hits_with_seen_pairs(worker, part) for part in parts):
        return ""
    return "with a pair of each seen before"


def _way_in(round: Round, admission: Admission) -> str:
    if places_left(round) == 0:
        return ""
    return "invitation" if admission.invited else "join link"


def _pause(facts: Facts) -> list[Hold]:
    if facts.round.paused_at is None or any(one.command for one in facts.platform):
        return []
    return [Hold("paused", "A person paused the round here.", f"pause {facts.round} --resume", by="a person here")]


def _ceiling(balance: Balance, round: Round) -> list[Hold]:
    """Say how many of the answer sets that may still come the ceiling does not pay for, and the figure that would."""
    if not balance.unfunded:
        return []
    ceiling = f"The ceiling of ${balance.ceiling:,}"
    raise_it = f"set_ceiling {round} {balance.needed}"
    coming = counted(balance.coming, *SETS)
    if balance.is_spent:
        return [Hold("ceiling", f"{ceiling} is reached, with {coming} to come.", raise_it)]
    paid = balance.coming - balance.unfunded
    return [Hold("ceiling", f"{ceiling} pays for {paid:,} of {coming} to come.", raise_it, goes_on=True)]


def _queue(facts: Facts) -> list[Hold]:
    waits = facts.standing.work[Assignment.State.SUBMITTED]
    if facts.has_worker or not (facts.round.settles or waits):
        return []
    what = "its platform is not read" if facts.round.settles else f"{counted(waits, *SETS)} wait for grading"
    return [Hold("queue", f"No worker process runs, so {what}.", WORK)]


def _pictures(facts: Facts, effect: str) -> list[Hold]:
    if not facts.pictures:
        return []
    text = f"{counted(facts.pictures, 'picture is', 'pictures are')} missing: {effect}."
    collection = facts.round.pool.collection
    command = f"import_collection {collection} … --images DIR"
    return [Hold("pictures", text, command, goes_on=facts.round.state == "open")]


def _reviews(facts: Facts) -> list[Hold]:
    waiting = facts.standing.waiting - facts.proposed
    holds = []
    if waiting > 0:
        text = f"{counted(waiting, 'answer set waits', 'answer sets wait')} for a review."
        holds.append(Hold("review", text, "review decide NUMBER"))
    if facts.proposed:
        text = f"{counted(facts.proposed, 'rejection waits', 'rejections wait')} for a second person, on Rejections."
        holds.append(Hold("rejection", text))
    return holds


def _coming(facts: Facts) -> list[Hold]:
    """Say what the round waits for where nothing is wrong."""
    seats = facts.standing.seats
    work = facts.standing.work
    if waiting := seats[Seat.State.OPEN]:
        return [Hold("open", f"{counted(waiting, 'answer set waits', 'answer sets wait')} for workers.", goes_on=True)]
    if facts.deadline and work[Assignment.State.LEASED]:
        text = f"Every open HIT is with a worker just now; the first lease ends at {facts.deadline:%H:%M} UTC."
        return [Hold("at work", text, goes_on=True)]
    if graded := work[Assignment.State.SUBMITTED]:
        return [Hold("grading", f"{counted(graded, *SETS)} to be graded.", goes_on=True)]
    return []
