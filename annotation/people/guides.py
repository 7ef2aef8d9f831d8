"""The guide of a round: the question with the round's own names of levels and examples, in versions."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.core import signing
from django.urls import reverse

from core.errors import CounterpartError
from core.text import check_words
from corpus.models import Image
from hits.models import Item, Round
from hits.question import Example, Level
from hits.task_types import TASK_TYPES, task_type_of
from hits.task_types.task_type import TaskType

Levels = Mapping[str, Sequence[str]]
"""Own name and meaning of a level, by the level."""
Examples = Sequence[Mapping[str, Any]]
"""The key of an image (None: the drawn picture), level, sentence and why of each."""

EXAMPLE_SALT = "counterpart.judging.example"
LONGEST_NAME = 40
LONGEST_TEXT = 300
MOST_EXAMPLES = 6


def has_guide(task: TaskType) -> bool:
    """Whether rounds of this type can name its levels and show examples: those that ask about one pair at a time."""
    return task.on_pairs and task.group == 1


def guided_task(round: Round, *, at: datetime | None = None) -> TaskType:
    """Return the question as the round puts it now, or as it put it ``at`` a time."""
    task = task_type_of(round)
    if not (round.pk and has_guide(task)):
        return task
    written = round.consent_words.filter(at__lte=at).last() if at else round.consent_words.last()
    if written is None or not (written.levels or written.examples):
        return task
    token = signing.Signer(salt=EXAMPLE_SALT).sign_object(written.pk)
    return _guided(round.task, round.wording, json.dumps([written.levels, written.examples]), token)


def with_guide(
    task: TaskType, wording: int, levels: Levels, examples: Examples, address: Callable[[int, int], str]
) -> TaskType:
    """Return the question with these names and examples; ``address`` makes that of the picture of an example from its
    place and image."""
    words = task.wordings[wording]
    names = {level: levels.get(str(level), [label])[0] for level, label in task.labels.items()}
    texts = {level: levels.get(str(level), ["", text])[1] for level, text in words.levels.items()}
    shown = tuple(
        Example(Level(one["level"]), one["sentence"], one["why"], address(place, one["image"]) if one["image"] else "")
        for place, one in enumerate(examples)
    )
    own = replace(words, levels=texts, examples=shown or words.examples)
    return replace(task, labels=names, wordings={wording: own})


@lru_cache(maxsize=200)
def _guided(task: str, wording: int, guide: str, token: str) -> TaskType:
    """Its fields of answers are kept by the question, so that one version of a guide must be one question."""
    folder = reverse("judging:example_picture", args=[token, 0]).removesuffix("0/")
    levels, examples = json.loads(guide)
    return with_guide(TASK_TYPES[task], wording, levels, examples, lambda place, image: f"{folder}{place}/?size=320")


def check_guide(round: Round, levels: Levels, examples: Examples) -> None:
    """Raise CounterpartError for names that change once the round is published, and for an example that cannot be
    shown or would answer a pair of the round."""
    written = round.consent_words.last()
    if round.state != "draft" and levels != (written.levels if written else {}):
        raise CounterpartError(
            f"The levels of round {round} keep their names and meanings, as it is published. Change only the examples."
        )
    for name, text in levels.values():
        check_words(name, what="name of a level", at_most=LONGEST_NAME)
        check_words(text, what="meaning of a level", at_most=LONGEST_TEXT)
    for number, one in enumerate(examples, 1):
        check_words(one["sentence"], what=f"sentence of example {number}", at_most=LONGEST_TEXT)
        check_words(one["why"], what=f"reason of example {number}", at_most=LONGEST_TEXT)
        asked = Item.objects.filter(hit__round=round, image=one["image"], caption__text__iexact=one["sentence"])
        if one["image"] and asked.exists():
            raise CounterpartError(
                f"The sentence of example {number} is asked about with its picture in round {round}. Write another one."
            )


def image_of(round: Round, key: str) -> Image:
    """Return the image of the round's collection that has this id. Raises CounterpartError for an unknown one."""
    image = Image.objects.filter(collection=round.pool.collection_id, key=key).exclude(file="").first()
    if image is None:
        raise CounterpartError(f"Collection {round.pool.collection} has no picture {key!r}. Copy an id from its page.")
    return image
