"""The captions that the workers of a round wrote, as lines that ``import_collection`` reads."""

import json
from collections.abc import Iterator
from typing import Any

from annotation.erasure import ERASED
from annotation.models import Judgment
from core.errors import CounterpartError
from hits.models import Round
from hits.task_types import CAPTION


def captions_of(round: Round) -> tuple[list[dict[str, Any]], int]:
    """Return the captions of a round's accepted work, as the fields of a line of the format ``jsonl``, by the image's
    key and the time they were written; and the number of those whose words were erased with their worker.

    Raises CounterpartError for a round of another task, and if there are none.
    """
    if round.task != CAPTION.name:
        raise CounterpartError(f"Round {round} has the task {round.task}; pack one with --task {CAPTION}.")
    counted = Judgment.objects.counted().filter(assignment__hit__round=round).exclude(text="")
    written = counted.exclude(text=ERASED).order_by("image__key", "pk")
    columns = ("pk", "image__key", "image__file_name", "image__split", "text")
    lines = [
        {"caption_id": f"{round}-{pk}", "image_id": image, "file_name": file_name, "text": text}
        | ({"split": split} if split else {})
        for pk, image, file_name, split, text in written.values_list(*columns)
    ]
    if not lines:
        raise CounterpartError(f"Round {round} has no accepted captions. A person accepts them on the review page.")
    return lines, counted.filter(text=ERASED).count()


def as_lines(captions: list[dict[str, Any]]) -> Iterator[str]:
    """Yield each caption as a line of JSON."""
    return (json.dumps(one, ensure_ascii=False) + "\n" for one in captions)
