"""One answer as every channel brings it, what makes an answer set valid, and drafts: answers that may still change."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.models import Assignment, Draft
from annotation.work.written_captions import check_sentence, core_of
from core import clock
from core.database.fixed_queries import FixedQuery
from core.errors import CounterpartError, some_of
from core.text import counted
from hits.models import Item
from hits.question import Shortcoming, WrongWay
from hits.task_types import task_type_of
from hits.task_types.task_type import Question

# The compact form has one word a pair, in the order of their places, with points between: the digit of the level and
# the letters of the reasons (those of static/judging/keys.js). In ``1.2a.3ce.4`` the second pair leaves something
# out (a), the third describes (c) the quantity (e) in a wrong way. What was written follows after =, percent-encoded.
REASONS: dict[str, str] = dict(zip("abcdefghijklmn", [*Shortcoming.values, *WrongWay.values], strict=True))
LETTERS = {reason: letter for letter, reason in REASONS.items()}
ANSWERS_FIELD = "answers"  # of the form that a finished page sends to a platform
RECEIPT_FIELD = "receipt"  # of the same form
WORD = re.compile(r"([0-4])([a-d]?)([e-n]?)(?:=(.*))?")
NO_PICTURE = 0  # in place of a level: the picture does not load, so the answer is not a vote
# An enum makes a new list of its values at every call.
SHORTCOMINGS = {"", *Shortcoming.values}
WRONG_WAYS = {"", *WrongWay.values}
COLUMNS = ("level", "shortcoming", "wrong_way", "text", "seconds")  # of a draft and of a judgment

Places = Mapping[int, int]
"""Place on the page (from 1) → key of the item."""


@dataclass(frozen=True)
class Answer:
    """What a worker says of one item: a level 1-4 and, at levels 2 and 3 of a round that asks, the reasons; or
    NO_PICTURE, which frees them of the pair. ``text``: the sentence, where the answer is written.
    ``saved_at``: when it was given, of a draft. ``seconds``: how long the pair was shown and in use, if known."""

    item_id: int
    level: int
    shortcoming: str = ""
    wrong_way: str = ""
    saved_at: datetime | None = field(default=None, compare=False)
    seconds: int | None = field(default=None, compare=False)
    text: str = ""

    @property
    def columns(self) -> dict[str, Any]:
        """What a draft and a judgment hold of it."""
        return {name: getattr(self, name) for name in ("item_id", *COLUMNS)}


def places_of(assignment: Assignment) -> Places:
    """Return where the assignment's page shows each item of its HIT. Every assignment has an order of its own, so that
    workers cannot share the places of the controls.

    The order follows from the key outside where there is one: a platform's copy of the answers can be read even if the
    row was lost.
    """
    return places_among(assignment, items_in(assignment.hit_id))


@FixedQuery
def items_in(hit: int) -> QuerySet[Item, int]:
    """Return the keys of a HIT's items."""
    return Item.shown.filter(hit=hit).order_by().values_list("pk", flat=True)


def repeats_in(hit: int) -> dict[int, int]:
    """Return the items of a HIT that ask about a pair again → the items that they repeat (keys)."""
    rows = Item.shown.filter(hit=hit).values_list("pk", "repeat_of")
    return {item: repeated for item, repeated in rows if repeated is not None}


def places_among(assignment: Assignment, items: Iterable[int]) -> Places:
    """Return what ``places_of`` does, where the items of the HIT (by key) have been read."""
    name = assignment.outside_key or assignment.pk
    group = task_type_of(assignment.hit.round).group
    ordered = order_of(name, items, group=group)
    if assignment.hit.round.design.get("repeats"):
        ordered = apart(ordered, repeats_in(assignment.hit_id))
    return dict(enumerate(ordered, 1))


def order_of(name: str | int, items: Iterable[int], *, group: int = 1) -> list[int]:
    """Return the items (by key) in the order in which the assignment ``name`` shows them.

    Packing writes the items of a HIT place by place, so that their keys ascend: each ``group`` of them is a screen and
    stays together.
    """

    def position(item: int) -> bytes:
        return sha256(f"{name} {item}".encode()).digest()

    ordered = sorted(items)
    screens = [ordered[start : start + group] for start in range(0, len(ordered), group)]
    return [pk for screen in sorted(screens, key=lambda one: position(one[0])) for pk in sorted(screen, key=position)]


def apart(ordered: Sequence[int], repeats: Mapping[int, int]) -> list[int]:
    """Move the items that ask about a pair again (``repeats``: to the one that they repeat) half a HIT away from it."""
    order = [item for item in ordered if item not in repeats]
    for item in (one for one in ordered if one in repeats):
        order.insert((order.index(repeats[item]) + len(order) // 2 + 1) % (len(order) + 1), item)
    return order


def check_answer_set(answers: Sequence[Answer], places: Places, *, task: Question, reasons: bool) -> None:
    """Raise CounterpartError unless there is exactly one good and complete answer for each item of ``places``."""
    place_of = {item: place for place, item in places.items()}
    _check_items(answers, place_of, task)
    for answer in answers:
        check_answer(answer, place=place_of[answer.item_id], task=task, reasons=reasons, complete=True)
    times = Counter(core_of(answer.text) for answer in answers if answer.text)
    same = sorted(place_of[answer.item_id] for answer in answers if answer.text and times[core_of(answer.text)] > 1)
    if same:
        raise CounterpartError(f"Pictures {some_of(same)} have the same sentence. Write a different one for each.")


def check_answer(answer: Answer, *, place: int, task: Question, reasons: bool, complete: bool) -> None:
    """Raise CounterpartError unless the answer is well formed; ``complete`` also wants the reasons asked for."""
    if answer.level not in task.labels and not (answer.level == NO_PICTURE and task.has_picture):
        raise CounterpartError(f"Pair {place} has level {answer.level}; choose one of the {len(task.labels)} answers.")
    if task.writes and answer.level != NO_PICTURE:
        check_sentence(answer.text, what=f"sentence at picture {place}", complete=complete)
    elif answer.text:
        raise CounterpartError(f"Pair {place} has a text that was not asked for; reload the page.")
    asked = reasons and answer.level in task.asks
    if (answer.shortcoming and not asked) or answer.shortcoming not in SHORTCOMINGS:
        raise CounterpartError(f"Pair {place} has a reason that was not asked for; choose its level again.")
    explains = asked and answer.shortcoming == Shortcoming.WRONG_WAY
    if (answer.wrong_way and not explains) or answer.wrong_way not in WRONG_WAYS:
        raise CounterpartError(f"Pair {place} has a detail that was not asked for; choose its reason again.")
    if complete and asked and not answer.shortcoming:
        raise CounterpartError(f"Pair {place} has no reason yet; choose why the sentence is not perfect.")
    if complete and explains and not answer.wrong_way:
        raise CounterpartError(f"Pair {place} has no detail yet; choose what is described in a wrong way.")


def encode_answers(answers: Sequence[Answer], places: Places) -> str:
    """Write the answers to all items of a HIT; ``places`` gives the item at each place."""
    by_item = {answer.item_id: answer for answer in answers}
    return ".".join(_word(by_item[places[place]]) for place in sorted(places))


def decode_answers(text: str, places: Places) -> list[Answer]:
    """Read what ``encode_answers`` wrote for these places, each answer with its item.

    Raises CounterpartError where the number of answers is not that of the places, and for a malformed word.
    """
    words = text.split(".")
    if len(words) != len(places):
        raise CounterpartError(
            f"There are {counted(len(words), 'answer')} for {counted(len(places), 'pair')}: {text[:80]!r}."
        )
    return [_answer(word, place, places[place]) for word, place in zip(words, sorted(places), strict=True)]


def _check_items(answers: Sequence[Answer], place_of: Mapping[int, int], task: Question) -> None:
    answered = [answer.item_id for answer in answers]
    _refuse_foreign(answered, place_of)
    if len(set(answered)) != len(answered):
        doubled = sorted({place_of[pk] for pk in answered if answered.count(pk) > 1})
        raise CounterpartError(
            f"{counted(len(doubled), 'pair is', 'pairs are')} answered twice: {some_of(doubled)}. Answer each once."
        )
    if missing := sorted({task.screens(place_of[pk]) for pk in place_of.keys() - set(answered)}):
        unanswered = counted(len(missing), f"{task.screen[0]} has", f"{task.screen[1]} have")
        raise CounterpartError(f"{unanswered} no answer yet: {some_of(missing, at_most=18)}. Answer and submit again.")


def _word(answer: Answer) -> str:
    written = f"={quote(answer.text, safe='').replace('.', '%2E')}" if answer.text else ""
    return f"{answer.level}{LETTERS.get(answer.shortcoming, '')}{LETTERS.get(answer.wrong_way, '')}{written}"


def _answer(word: str, place: int, item_id: int) -> Answer:
    match = WORD.fullmatch(word)
    if match is None:
        raise CounterpartError(f"The answer to pair {place} is {word[:20]!r}; a level and its reasons were expected.")
    level, shortcoming, wrong_way, written = match.groups(default="")
    reasons = REASONS.get(shortcoming, ""), REASONS.get(wrong_way, "")
    return Answer(item_id, int(level), *reasons, text=unquote(written))


class SeatLostError(CounterpartError):
    """The assignment was submitted or returned, or it expired and its seat was given to another worker."""


def drafts_of(assignment: Assignment) -> list[Draft]:
    """Return the assignment's drafts, oldest first; until it is submitted, those of the worker's other unsubmitted
    assignments to the HIT are among them."""
    drafts = _drafts(assignment.pk, assignment.worker_id, assignment.hit_id)
    return [one for one in drafts if one.assignment_id == assignment.pk] if assignment.receipt else drafts


@FixedQuery
def _drafts(assignment: int, worker: int, hit: int) -> QuerySet[Draft]:
    own = Q(assignment=assignment) | Q(assignment__receipt="")
    return Draft.objects.filter(own, assignment__worker=worker, item__hit=hit).order_by("saved_at", "pk")


def delete_drafts(assignment: Assignment, items: Collection[int]) -> None:
    """Delete those of the assignment's drafts that are of these items (by key)."""
    if found := [draft.pk for draft in drafts_of(assignment) if draft.item_id in items]:
        Draft.objects.filter(pk__in=found).delete()


def drafted_answers(assignment: Assignment) -> dict[int, Answer]:
    """Return the latest draft of each item, by item; without the seconds of an earlier turn at the HIT, as they are not
    among those of this one."""
    return {
        draft.item_id: Answer(
            draft.item_id,
            draft.level,
            draft.shortcoming,
            draft.wrong_way,
            draft.saved_at,
            draft.seconds if draft.assignment_id == assignment.pk else None,
            draft.text,
        )
        for draft in drafts_of(assignment)
    }


def save_drafts(
    assignment: Assignment,
    answers: Sequence[Answer],
    undone: Mapping[int, datetime] | None = None,
    places: Places | None = None,
) -> dict[int, str]:
    """Keep ``answers`` in place of their items' earlier drafts, and delete the drafts of the items ``undone`` (with the
    time), in one transaction; reasons may still be missing. An answer that is older than the stored draft changes
    nothing, so the order of arrival does not matter. Returns the reasons of refused answers, by item.

    Raises CounterpartError if an item is another HIT's, SeatLostError if the assignment was submitted or given back.
    """
    undone = undone or {}
    round = assignment.hit.round
    task = task_type_of(round)
    refused = {}
    with transaction.atomic():
        place_of = own_places(assignment, [*(answer.item_id for answer in answers), *undone], places)
        times = {item: draft.saved_at for item, draft in drafted_answers(assignment).items()}
        now = clock.now()
        kept = {}
        for answer in answers:
            item, at = answer.item_id, answer.saved_at or now
            try:
                check_answer(answer, place=place_of[item], task=task, reasons=round.reasons, complete=False)
            except CounterpartError as error:
                refused[item] = str(error)
            else:
                if (times.get(item) or at) <= at:
                    kept[item] = replace(answer, saved_at=at)
                    times[item] = at
        if kept:
            put_drafts(assignment, [*kept.values()])
        if gone := [item for item, at in undone.items() if (times.get(item) or at) <= at]:
            delete_drafts(assignment, gone)
    return refused


def put_drafts(assignment: Assignment, answers: Sequence[Answer]) -> None:
    """Write the answers as drafts of this assignment, each in place of its item's earlier one."""
    now = clock.now()
    Draft.objects.bulk_create(
        [Draft(assignment=assignment, saved_at=answer.saved_at or now, **answer.columns) for answer in answers],
        update_conflicts=True,
        unique_fields=["assignment", "item"],
        update_fields=[*COLUMNS, "saved_at"],
    )


def own_places(assignment: Assignment, items: Sequence[int], places: Places | None = None) -> dict[int, int]:
    """Return each item's place in the assignment's HIT, provided that the assignment may still be answered. It stays
    locked until the transaction ends, so that no draft comes after the submission that it is part of.

    ``places`` are those of the assignment, where they have been read."""
    (current,) = _locked(assignment.pk)
    if current.is_claim and current.submitted_at:
        raise SeatLostError("The platform has this HIT already; nothing more is saved for it.")
    if current.is_claim and current.receipt:
        raise SeatLostError("Your answers are saved already; send them to the platform.")
    if not current.is_answerable:
        raise SeatLostError("This HIT was submitted or given back; nothing more is saved for it.")
    place_of = {item: place for place, item in (places or places_of(assignment)).items()}
    _refuse_foreign(items, place_of)
    return place_of


@FixedQuery
def _locked(assignment: int) -> QuerySet[Assignment]:
    return Assignment.objects.select_for_update().filter(pk=assignment)


def _refuse_foreign(items: Sequence[int], place_of: Mapping[int, int]) -> None:
    if foreign := [item for item in items if item not in place_of]:
        answers = counted(len(foreign), "answer is", "answers are")
        raise CounterpartError(f"{answers} to pairs of another HIT; reload the page and try again.")
