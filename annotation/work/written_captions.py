"""The captions that the workers of a round wrote, as lines that ``import_collection`` reads."""

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, QuerySet

from annotation.models import Assignment, Judgment
from annotation.people.erasure import ERASED
from annotation.work.judgments import answers_in
from core.errors import CounterpartError
from core.text import counted
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
