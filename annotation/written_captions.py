"""The captions that the workers of a round wrote, as lines that ``import_collection`` reads."""

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, QuerySet

from annotation.erasure import ERASED
from annotation.models import Judgment
from core.errors import CounterpartError
from hits.models import Round
from hits.task_types import CAPTION


def captions_of(round: Round) -> QuerySet[Judgment]:
    """Return the captions of a round's accepted work, by the image's key and the time they were written, without those
    whose words were erased with their worker.

    Raises CounterpartError for a round of another task, and if there are none.
    """
    if round.task != CAPTION.name:
        raise CounterpartError(f"Round {round} has the task {round.task}; pack one with --task {CAPTION}.")
    written = _accepted(round).exclude(text=ERASED)
    if not written.exists():
        raise CounterpartError(f"Round {round} has no accepted captions. A person accepts them on the review page.")
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
        line: dict[str, Any] = {"caption_id": f"{round}-{pk}", "image_id": image, "file_name": file_name, "text": text}
        yield json.dumps(line | ({"split": split} if split else {}), ensure_ascii=False) + "\n"


def _accepted(round: Round) -> QuerySet[Judgment]:
    return Judgment.objects.counted().filter(assignment__hit__round=round).exclude(text="")
