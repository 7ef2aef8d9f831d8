"""Why no new worker comes to a round from its platform: the states of its postings, calls that were refused, money."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Coalesce

from annotation.people.workers import mask_workers
from annotation.platforms import Hold
from core.events import record
from core.text import counted
from crowd import channels
from crowd.calls.delivery import LONGEST_STATUS
from crowd.calls.funds import noted_funds, still_to_fund
from crowd.channels.base import Listing
from crowd.models import Outbox, Posting
from crowd.study_states import TABLE, By, Remedy, StudyCell, There, Wanted, is_paused_itself
from hits.models import Round, Seat
from integrations.notifications import notify

OF_POSTINGS = (Outbox.Call.PUBLISH, Outbox.Call.EXTEND, Outbox.Call.PROLONG, Outbox.Call.PAUSE)
UNREAD_FOR = timedelta(minutes=10)  # tried without success, a posting counts as unread


def note_state(posting: Posting, listing: Listing) -> None:
    """Store the posting's state on the platform, and notify other programs if it newly stops workers from coming until
    a person acts. To be called in a transaction."""
    there = listing.there
    before = posting.there
    freed = listing.freed - posting.freed if posting.freed is not None else 0
    by_rule = is_paused_itself(there, pending=listing.pending, free=listing.free, freed=freed)
    itself = there is There.PAUSED and (posting.paused_itself if before == There.PAUSED else by_rule)
    unchanged = Posting.objects.filter(pk=posting.pk, there=before)
    if unchanged.update(there=there, status=listing.status[:LONGEST_STATUS], paused_itself=itself) and there != before:
        posting.refresh_from_db()
        by, cell = _cell_of(posting, is_wanted=posting.wants_visitors)
        if not cell.goes_on and by is not By.HERE:
            name = posting.round.name
            record("halted", posting, actor="sync", there=there.value, by=by.value)
            notify("round.halted", f"/rounds/{name}", id=name, there=there.value, by=by.value, act=cell.act.value)


def halts_of(rounds: Sequence[Round]) -> dict[int, list[Hold]]:
    """Return by round why no new worker comes, by the last listing of its postings; equal reasons are counted. The
    number of queries does not depend on the number of rounds."""
    settling = [round.pk for round in rounds if round.settles]
    live = Posting.objects.filter(round__in=settling, state=Posting.State.LIVE, settled_at=None)
    listed = Coalesce("seen_at", "created_at")
    live = live.filter(~Q(there__in=(There.OPEN, There.FULL)) | Q(hit=None) | Q(tried_at__gt=listed + UNREAD_FOR))
    wanted = Seat.objects.filter(round__in=settling, state=Seat.State.OPEN)
    has_open = set(wanted.order_by().values_list("round", flat=True).distinct()) if settling else set()
    groups: dict[int, dict[tuple[By, StudyCell], list[Posting]]] = defaultdict(lambda: defaultdict(list))
    for posting in live.select_related("round", "hit"):
        key = _cell_of(posting, is_wanted=posting.round_id in has_open)
        groups[posting.round_id][key].append(posting)
    return {
        round.pk: [_hold(by, cell, group) for (by, cell), group in groups[round.pk].items() if cell.says]
        for round in rounds
    }


def pauses_of(rounds: Sequence[Round]) -> dict[int, str]:
    """Return for each paused round who paused it."""
    paused = {pk: next((hold.by for hold in holds if hold.command), "") for pk, holds in halts_of(rounds).items()}
    here = {round.pk: By.HERE.value for round in rounds if round.paused_at and round.state == "open"}
    return paused | here


def holds_there(round: Round) -> list[Hold]:
    """Return why no new worker comes to the round on its platform: its postings, calls that were refused, and money."""
    if not round.settles or round.state != "open":
        return []
    return [*halts_of([round])[round.pk], *_refused(round), *_short_of_money(round)]


def _refused(round: Round) -> list[Hold]:
    calls = Outbox.objects.filter(round=round, call__in=OF_POSTINGS).exclude(error="")
    holds = []
    again = f"publish {round} --channel {round.channel} --environment {round.environment}"
    for state, what in ((Outbox.State.FAILED, "failed"), (Outbox.State.PENDING, "wait to be repeated")):
        if errors := list(calls.filter(state=state).values_list("error", flat=True)):
            text = f"{counted(len(errors), 'call', 'calls')} of its postings {what}: {mask_workers(errors[:1])[0]}"
            holds.append(Hold("calls", text, again, goes_on=state == Outbox.State.PENDING))
    return holds


def _short_of_money(round: Round) -> list[Hold]:
    held = noted_funds(round)
    if held is None or held >= (needed := still_to_fund(round)):
        return []
    text = (
        f"The account held ${held:,} at the last check, but ${needed:,} are still to be paid from it: add money there, "
        "then sync."
    )
    return [Hold("funds", text, f"sync {round}")]


def _cell_of(posting: Posting, *, is_wanted: bool) -> tuple[By, StudyCell]:
    """Return who caused the posting's state, and the cell of the table. ``is_wanted``: a HIT is left for visitors."""
    round = posting.round
    if round.closed_at:
        wanted = Wanted.END
    elif round.paused_at:
        wanted = Wanted.PAUSE
    else:
        wanted = Wanted.PEOPLE if is_wanted else Wanted.NO_VISITOR
    if wanted is Wanted.PAUSE:
        by = By.HERE
    elif posting.paused_at:
        by = By.US
    else:
        by = By.PLATFORM if posting.paused_itself else By.THERE
    is_unread = posting.tried_at and posting.tried_at - (posting.seen_at or posting.created_at) > UNREAD_FOR
    return by, TABLE[There.UNREAD if is_unread else There(posting.there)][wanted][by]


def _hold(by: By, cell: StudyCell, postings: Sequence[Posting]) -> Hold:
    first = postings[0]
    seen = first.seen_at or first.created_at
    says = cell.says.format(label=channels.get(first.channel).label, status=first.status, seen=seen)
    text = f"{counted(len(postings), 'HIT')}: {says}" if first.hit else says
    command = f"pause {first.round} --resume" if cell.act is Remedy.RESUME else ""
    return Hold("platform", text, command, by=by.value, goes_on=cell.goes_on)
