"""What a judging page sends: answers, drafts, reports and seconds, read from the fields of its form."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from django.http import QueryDict

from annotation.models import Assignment, ConsentSheet
from annotation.work.answers import Answer, Places
from annotation.work.reports import Complaint
from annotation.work.written_captions import tidied
from core import clock
from core.errors import CounterpartError, some_of
from core.text import counted, trimmed
from core.untrusted import whole_number
from hits.question import Level, Shortcoming
from hits.task_types.task_type import Question

PARTS = ("level", "shortcoming", "wrong_way", "text")
REST = "rest"
FIELDS = tuple(f"{part}-" for part in (*PARTS, REST))


def agrees_to(sheet: ConsentSheet, post: QueryDict) -> bool:
    """Whether the form says that its sender agrees to this version of the consent sheet."""
    return post.get("consent") == "yes" and post.get("sheet") == str(sheet.pk)


def parse_answers(post: QueryDict, places: Places, task: Question) -> list[Answer]:
    """Read the fields ``level-7``, ``shortcoming-7``, ``wrong_way-7`` and ``seconds-7`` of every pair that has a level;
    where pairs are ticked, ``rest-1``: the level of all pairs of the screen that begins at place 1, if the worker
    ticks no pair; where answers are written, ``text-7``, which takes precedence over ``level-7``.

    Raises CounterpartError where a field is sent twice, is not a number, or is for a pair that is not in the HIT.
    """
    _refuse_odd_fields(post, places)
    starts = range(1, len(places) + 1, task.group)
    return [answer for start in starts for answer in _answers_on(post, places, start, task)]


def _answers_on(post: QueryDict, places: Places, start: int, task: Question) -> Iterator[Answer]:
    """Read the screen that begins at place ``start``."""
    screen = [place for place in range(start, start + task.group) if place in places]
    unticked = _level_of_unticked(post, screen, task)
    for place in screen:
        # A written caption is stored with the level of a match.
        written = str(int(Level.YES)) if task.writes and trimmed(post.get(f"text-{place}", "")) else ""
        if said := written or post.get(f"level-{place}") or unticked:
            yield _answer(post, place, places[place], said, task)


def parse_draft(post: QueryDict, places: Places, task: Question) -> tuple[list[Answer], dict[int, datetime]]:
    """Read ``place`` and the fields of the screen that begins there: its answers, and the items whose answer was
    undone, with the time. ``at``: when that was, in milliseconds since 1970; now, where it is not said.

    Raises CounterpartError as ``parse_answers`` does."""
    start = parse_number(post.get("place", ""), "the pair")
    if start not in places or (start - 1) % task.group:
        raise CounterpartError(f"This HIT has no pair {start}; reload the page.")
    said = whole_number(post.get("at", ""), below=10**14)
    at = clock.now() if said is None else min(clock.now(), datetime.fromtimestamp(said / 1000, UTC))
    _refuse_odd_fields(post, places)
    answers = [replace(one, saved_at=at) for one in _answers_on(post, places, start, task)]
    undone = {places[place] for place in range(start, start + task.group) if place in places}
    return answers, dict.fromkeys(undone - {answer.item_id for answer in answers}, at)


def _level_of_unticked(post: QueryDict, screen: Sequence[int], task: Question) -> str:
    """Return the level of the pairs of a screen that are not ticked; "" where each is answered by itself, or where
    the screen has no answer."""
    if task.unticked is None:
        return ""
    is_ticked = any(post.get(f"level-{place}") for place in screen)
    return post.get(f"{REST}-{screen[0]}", "") or (str(task.unticked) if is_ticked else "")


def parse_reports(post: QueryDict, places: Places) -> list[Complaint]:
    """Read the fields ``problem-7`` and ``note-7`` of every pair that has a problem."""
    return [
        Complaint(item_id, problem, post.get(f"note-{place}", ""))
        for place, item_id in places.items()
        if (problem := post.get(f"problem-{place}", ""))
    ]


def elapsed_seconds(assignment: Assignment) -> int:
    """Return the seconds from the lease to now or its deadline, whichever is first."""
    return max(0, int((min(clock.now(), assignment.deadline) - assignment.leased_at).total_seconds()))


def believed(answers: Sequence[Answer], elapsed: int) -> list[Answer]:
    """Return the answers; without their seconds where these make more than have passed."""
    if sum(answer.seconds or 0 for answer in answers) <= elapsed:
        return list(answers)
    return [replace(answer, seconds=None) for answer in answers]


def parse_active_seconds(post: QueryDict, answers: Sequence[Answer], elapsed: int) -> int:
    """Return the seconds of work that the page counted, at least those of the answers and at most ``elapsed``; all
    those where it did not count."""
    counted = _seconds(post.get("active_seconds", ""))
    on_pairs = sum(answer.seconds or 0 for answer in answers)
    return elapsed if counted is None else min(max(counted, on_pairs), elapsed)


def _seconds(text: str) -> int | None:
    return whole_number(text, below=10**8)


def parse_number(text: str, what: str) -> int:
    """Read a number of at most five digits. Raises CounterpartError that says what it was expected for."""
    number = whole_number(text, below=10**5)
    if number is None:
        raise CounterpartError(f"A number was expected for {what}; reload the page and choose again.")
    return number


def _refuse_odd_fields(post: QueryDict, places: Places) -> None:
    if doubled := [name for name, values in post.lists() if len(values) > 1]:
        raise CounterpartError(
            f"{counted(len(doubled), 'field was', 'fields were')} sent twice: {some_of(doubled)}. Reload the page."
        )
    known = {str(place) for place in places}
    asked = [name.split("-", 1) for name in post if name.startswith(FIELDS)]
    if foreign := [place for _, place in asked if place not in known]:
        raise CounterpartError(
            f"{counted(len(foreign), 'answer is', 'answers are')} for pairs that are not in this HIT; reload the page."
        )


def _answer(post: QueryDict, place: int, item_id: int, said: str, task: Question) -> Answer:
    """Read one pair. Reasons left over from a level that was changed since are dropped."""
    level = parse_number(said, f"the level of pair {place}")
    shortcoming = post.get(f"shortcoming-{place}", "") if level in task.asks else ""
    wrong_way = post.get(f"wrong_way-{place}", "") if shortcoming == Shortcoming.WRONG_WAY else ""
    text = tidied(post.get(f"text-{place}", "")) if task.writes else ""
    return Answer(item_id, level, shortcoming, wrong_way, seconds=_seconds(post.get(f"seconds-{place}", "")), text=text)
