"""Captions that workers write: which sentences are taken as an answer, and those of a round as lines that
``import_collection`` reads."""

import gzip
import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.db.models import Count, QuerySet

from annotation.models import Assignment, Judgment
from annotation.people.erasure import ERASED
from annotation.work.judgments import answers_in
from core.errors import CounterpartError
from core.files.stored_files import whole_file
from core.text import check_words, counted, is_visible
from counterpart_annotators.words import words_of
from counterpart_metrics.ids import number_or_text
from hits.models import Round
from hits.task_types.caption_writing import CAPTION


def captions_of(round: Round) -> QuerySet[Judgment]:
    """Return the captions of a round's accepted work, by the image's key and the time they were written, without those
    whose words were erased with their worker.

    Raises CounterpartError for a round of another task, and if there are none.
    """
    if round.task != CAPTION.name:
        raise CounterpartError(f"Round {round} has the task {round.task}; pack one with --task {CAPTION}.")
    written = _accepted(round).exclude(text=ERASED)
    if not written.exists():
        raise CounterpartError(f"Round {round} has no accepted captions. {_why_none(round)}")
    return written.order_by("image__key", "pk")


def counts_of(round: Round) -> dict[str, int]:
    """Count a round's accepted captions, their images, and the captions that were erased."""
    accepted = _accepted(round)
    erased = accepted.filter(text=ERASED).count()
    return accepted.exclude(text=ERASED).aggregate(captions=Count("pk"), images=Count("image", distinct=True)) | {
        "erased": erased
    }


def write_captions(round: Round, path: Path) -> dict[str, Any]:
    """Write a round's accepted captions to a file, compressed if it ends in .gz, and return their counts."""
    captions = captions_of(round)
    with whole_file(path) as part, part.open("wb") as raw:
        zipped = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else nullcontext(raw)
        with zipped as file:
            file.writelines(line.encode() for line in as_lines(round, captions))
    return {"round": round.name, **counts_of(round)}


def as_lines(round: Round, captions: QuerySet[Judgment]) -> Iterator[str]:
    """Yield each caption as a line of JSON, of the format ``jsonl``."""
    columns = ("pk", "image__key", "image__file_name", "image__split", "text")
    for pk, image, file_name, split, text in captions.values_list(*columns).iterator(chunk_size=2_000):
        ids = {"caption_id": f"{round}-{pk}", "image_id": number_or_text(image)}
        line: dict[str, Any] = {**ids, "file_name": file_name, "text": text}
        yield json.dumps(line | ({"split": split} if split else {}), ensure_ascii=False) + "\n"


def _accepted(round: Round) -> QuerySet[Judgment]:
    return answers_in(round).counted().exclude(text="")


def _why_none(round: Round) -> str:
    """Say why a round has no captions, and what can be done."""
    work = Assignment.objects.filter(hit__round=round)
    accepted = work.filter(state=Assignment.State.ACCEPTED).count()
    waiting = work.filter(state__in=(Assignment.State.SUBMITTED, Assignment.State.FLAGGED)).count()
    if erased := _accepted(round).count():
        return f"{counted(erased, 'caption was', 'captions were')} erased with the workers who wrote them."
    if waiting:
        waits = counted(waiting, "submission waits", "submissions wait")
        return f"{waits} for a person, who accepts captions on the review page."
    if accepted:
        submissions = counted(accepted, "accepted submission")
        return (
            f"In {submissions} workers wrote none: they said of every picture that it does not load. Check the "
            "pictures of the collection."
        )
    return "No submission waits for a review or was accepted."


FEWEST_WORDS = 3
LONGEST = 1_000


def tidied(text: str) -> str:
    """Return the text in one line, without blanks at its ends and with single ones between words."""
    return " ".join(text.split())


def check_sentence(text: str, *, what: str, complete: bool) -> None:
    """Raise CounterpartError, which calls the text ``what``, where it is too long or holds control characters; where it
    is ``complete``, also unless it has a few words."""
    check_words(text, what=what, at_most=LONGEST)
    if complete and not has_words(text):
        raise CounterpartError(f"The {what} has fewer than {FEWEST_WORDS} words. Write a whole sentence.")


def has_words(text: str) -> bool:
    """Whether the text has three words of letters; in a script without spaces these are four letters in a run.

    >>> has_words("A dog runs."), has_words("A dog."), has_words("- 1 2 3"), has_words("一只狗在跑。")
    (True, False, False, True)
    """
    words = [word for word in words_of(text) if any(sign.isalpha() and is_visible(sign) for sign in word)]
    return len(words) >= FEWEST_WORDS


def core_of(text: str) -> str:
    """Return what makes two sentences the same: their words, whatever the case."""
    return " ".join(words_of(text))
