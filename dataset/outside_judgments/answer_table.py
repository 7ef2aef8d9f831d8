"""Answers of other tools as rows of judgments: the pair, the level, and the worker under a pseudonym."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from annotation.models import WorkerIdentity
from core import clock
from core.errors import CounterpartError, some_of
from core.progress import Progress, tracked
from core.text import counted
from core.untrusted import read_json, whole_number
from core.web.signatures import signatures
from corpus.tables import ANSWER
from dataset.outside_judgments.collection_keys import caption_keys, image_keys
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.outside_judgments.judgment_placing import PAIR, Places, at_first_items
from dataset.outside_judgments.outside_answer import OutsideAnswer, worker_of
from dataset.outside_judgments.task_pairs import cell_of, fold, pair_finder, parts_of
from hits.models import Round

CHANNEL = "import"
_LENGTH = 24  # hexadecimal digits of a pseudonym
_BATCH = 500
QUESTIONS = (*ANSWER, "match")
"""Names of the question, for files with several questions or with questions and data in the same columns."""
_VALUES = ("choices", "rating", "number", "label")  # of Label Studio, and of a form of MTurk
_DEEPEST = 4  # lists and objects around an answer
_COLUMNS = ("worker", "field", "image", "caption", "level", "at", "seconds", "simulated", "place", "hit")
_HELP = (
    "--image and --caption name the fields of the pair, --answer the question, --levels what answers mean, such as "
    "Yes=1,Unsure=skip; --skip-unknown leaves these answers out."
)

Answers = Callable[[], Iterator[OutsideAnswer]]


def read_outside(
    round: Round,
    name: str,
    answers: Answers,
    wanted: JudgmentParameters,
    *,
    items: pd.DataFrame,
    notes: Places,
    progress: Progress,
) -> pd.DataFrame:
    """Return a row for each judgment of another tool's file, at an item of the round.

    The rows have the columns of ``released_forms.read_long``. ``notes`` get the places
    of answers that are skipped, rejected, repeated, unknown or unnamed. Raises CounterpartError for several questions,
    for answers that are not a level, and for tasks without an image and a caption of the round, unless they are
    skipped.
    """
    rows = _judged(name, answers, wanted, items, notes, progress)
    collection = round.pool.collection
    for side, keys_of in (("image", image_keys), ("caption", caption_keys)):
        rows[side] = rows[side].map(keys_of(collection, rows[side].unique().tolist(), skip_unknown=wanted.skip_unknown))
    known = rows[PAIR].notna().all(axis=1)
    notes["unknown"] += rows.loc[~known, "place"].tolist()
    rows = at_first_items(rows[known], items, notes["unknown"] if wanted.skip_unknown else None)
    if rows.empty:
        raise CounterpartError(f"{name} has no judgments of pairs of the round. Check what --image and --caption name.")
    rows = _once(rows.assign(worker=_workers(name, rows, wanted.worker)), notes)
    rows["at"] = pd.to_datetime(rows["at"].where(rows["at"].notna(), clock.now()), utc=True)
    return rows.assign(assignment=1, shortcoming="", wrong_way="", counted=1, active_seconds=np.nan)


def _judged(
    name: str, answers: Answers, wanted: JudgmentParameters, items: pd.DataFrame, notes: Places, progress: Progress
) -> pd.DataFrame:
    """Return the judgments as the file names their pairs and workers; ``worker`` is empty where it names none."""
    question = _question(name, answers, wanted)
    pair_of = pair_finder(wanted, items)
    words = wanted.level_words()
    rows: list[tuple[Any, ...]] = []
    faults: dict[str, list[str]] = defaultdict(list)
    for one in tracked(_parts(answers, wanted), "reading", progress):
        try:
            level = None if one.rejected else _level(one.answers.get(question), words)
            if level is None:
                notes["rejected" if one.rejected else "skipped"].append(one.place)
            else:
                field = cell_of(one.task, [wanted.worker]) if wanted.worker else None
                judged = (*pair_of(one), level, one.at, one.seconds, int(one.simulated), one.place, _hit(one, wanted))
                rows.append((one.worker, worker_of(field), *judged))
        except ValueError as error:
            faults[str(error)].append(one.place)
    if faults and not wanted.skip_unknown:
        wrong = counted(sum(map(len, faults.values())), "answer")
        problems = [f"{fault} ({some_of(places, at_most=3)})" for fault, places in faults.items()]
        raise CounterpartError(f"{name} has {wrong} that cannot be used: {some_of(problems)}. {_HELP}")
    notes["unknown"] += [place for places in faults.values() for place in places]
    if not rows:
        gone = counted(sum(map(len, notes.values())), "answer")
        raise CounterpartError(f"{name} has no judgments; {gone} skipped, rejected or not submitted.")
    return pd.DataFrame(rows, columns=_COLUMNS, dtype=object)  # keeps None apart from numbers and times


def _parts(answers: Answers, wanted: JudgmentParameters) -> Iterator[OutsideAnswer]:
    return (part for one in answers() for part in parts_of(one, wanted.pair_fields))


def _question(name: str, answers: Answers, wanted: JudgmentParameters) -> str:
    """Return the question whose answers are the levels: the wanted one, the only one, or that with a usual name."""
    given = {question for one in _parts(answers, wanted) for question in one.answers}
    others = {fold(field) for side in wanted.pair_fields for field in side} | {fold(wanted.worker), fold(wanted.hit)}
    asked = {question for question in given if fold(question) not in others or question == wanted.answer}
    usual = {question for question in asked if fold(question) in map(fold, QUESTIONS)}
    named = {question for question in asked if fold(question) == fold(wanted.answer)}
    chosen = named if wanted.answer else usual if len(usual) == 1 else asked
    if len(chosen) == 1:
        return chosen.pop()
    if not given:
        raise CounterpartError(f"{name} has no answers: all were skipped or not submitted.")
    has = f"no question {wanted.answer} but" if wanted.answer else "several questions:" if asked else "no answers but"
    fields = some_of(sorted(asked or given))
    raise CounterpartError(f"{name} has {has} {fields}. Name the one of the levels with --answer.")


def _workers(name: str, rows: pd.DataFrame, wanted: str) -> pd.Series:
    """Return the worker of each answer: by the wanted field, or by the file; ``wanted`` may also be the name of the one
    who gave the answers that have none."""
    if not wanted or (rows["field"] != "").any():
        return rows["field"].where(rows["field"] != "", rows["worker"])
    if (rows["worker"] != "").all():
        raise CounterpartError(
            f"{name} has no field {wanted}, and names the worker of every answer. Name another field, or leave out "
            "--worker."
        )
    return rows["worker"].where(rows["worker"] != "", wanted)


def _hit(one: OutsideAnswer, wanted: JudgmentParameters) -> int | None:
    if not wanted.hit:
        return None
    number = whole_number(str(cell_of(one.task, [wanted.hit])))
    if number is None:
        raise ValueError(f"its {wanted.hit} is not the number of a HIT")
    return number


def _once(rows: pd.DataFrame, notes: Places) -> pd.DataFrame:
    """Return the last answer of each worker to each pair; the answers without a name to one pair are of different
    workers, whom a number names."""
    unnamed = rows["worker"] == ""
    notes["unnamed"] += rows.loc[unnamed, "place"].tolist()
    numbers = rows[unnamed].groupby(PAIR).cumcount() + 1
    rows["worker"] = rows["worker"].where(~unnamed, "/" + numbers.reindex(rows.index, fill_value=0).astype(str))
    again = rows.duplicated(["worker", *PAIR], keep="last")
    notes["repeated"] += rows.loc[again, "place"].tolist()
    return rows[~again].copy()


def _level(answer: object, words: Mapping[str, int | None]) -> int | None:
    """Return the level of an answer; None if it is skipped. Raises ValueError unless it is one level."""
    given = _plain(answer)
    if not given:
        return None
    if len(given) > 1:
        raise ValueError("several answers to one question")
    word = " ".join(given[0].split())
    if word.casefold() not in words:
        raise ValueError(f"{word[:60]!r} is not a level")
    return words[word.casefold()]


def _plain(answer: object, depth: int = 0) -> list[str]:
    """Return the texts and numbers in an answer, which tools wrap in lists, objects and, in tables, JSON."""
    if isinstance(answer, str) and answer[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):  # it is a text after all
            answer = read_json(answer)
    if depth > _DEEPEST:
        raise ValueError("an answer in too many lists")
    if isinstance(answer, list):
        return [text for one in answer for text in _plain(one, depth + 1)]
    if isinstance(answer, dict):
        chosen = [name for name, mark in answer.items() if mark is True]
        return _plain([answer[name] for name in _VALUES if name in answer] or chosen, depth + 1)
    text = "" if answer is None else str(answer)
    return [text.removesuffix(".0")] if text.strip() else []


def pseudonyms_of(names: Iterable[str], *, tool: str, round: Round) -> dict[str, str]:
    """Return name → pseudonym: a keyed digest, the same in each import into the round, also after a change of the
    site's key, and another in each round and for each tool. Names and addresses themselves are not stored."""
    made = {
        name: [f"{tool}-{digest}" for digest in signatures("dataset.outside_workers", text, length=_LENGTH)]
        for name, text in ((name, f"{round.name}/{tool}/{name}") for name in names)
    }
    wanted = [pseudonym for pseudonyms in made.values() for pseudonym in pseudonyms]
    known = set[str]()
    for start in range(0, len(wanted), _BATCH):
        some = WorkerIdentity.objects.filter(channel=CHANNEL, external_id__in=wanted[start : start + _BATCH])
        known.update(some.values_list("external_id", flat=True))
    return {name: next((one for one in given if one in known), given[0]) for name, given in made.items()}
