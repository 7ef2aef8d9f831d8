"""The guide of a round: the question with the round's own names of levels and examples, in versions."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.core import signing
from django.db.models import QuerySet
from django.urls import reverse

from annotation.models import ConsentWords
from core.database.fixed_queries import FixedQuery
from core.errors import CounterpartError
from core.text import check_words
from corpus.models import Image
from hits.models import Item, Round
from hits.question import Example
from hits.task_types import TASK_TYPES, task_type_of
from hits.task_types.task_type import TaskType

EXAMPLE_SALT = "counterpart.judging.example"
LONGEST_NAME = 40
LONGEST_TEXT = 300
MOST_EXAMPLES = 6


@dataclass(frozen=True)
class Guide:
    """What the guide of a round says of its own. ``levels``: the name and the meaning of each level, by the level;
    ``examples``: the key of an image (None: the drawn picture), level, sentence and why of each."""

    levels: dict[str, list[str]] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)


def latest_version(round: Round, *, at: datetime | None = None) -> ConsentWords | None:
    """Return what the round says of its own now, or ``at`` a time; None where nothing was written for it."""
    versions = _versions(round.pk) if round.pk else []
    return next((one for one in versions if at is None or one.at <= at), None)


@FixedQuery
def _versions(round: int) -> QuerySet[ConsentWords]:
    return ConsentWords.objects.filter(round=round).order_by("-pk")


def guide_of(round: Round) -> Guide:
    """Return the guide of the round as it is now."""
    written = latest_version(round)
    return Guide(written.levels, written.examples) if written else Guide()


def has_guide(task: TaskType) -> bool:
    """Whether rounds of this type can name its levels and show examples: those that ask about one pair at a time."""
    return task.on_pairs and task.group == 1


def guided_task(round: Round, *, at: datetime | None = None) -> TaskType:
    """Return the question as the round puts it now, or as it put it ``at`` a time."""
    task = task_type_of(round)
    if not has_guide(task):
        return task
    written = latest_version(round, at=at)
    if written is None or not (written.levels or written.examples):
        return task
    token = signing.Signer(salt=EXAMPLE_SALT).sign_object(written.pk)
    return _guided(round.task, round.wording, json.dumps([written.levels, written.examples]), token)


def with_guide(task: TaskType, wording: int, guide: Guide, address: Callable[[int, int], str]) -> TaskType:
    """Return the question with a guide; ``address`` makes that of the picture of an example from its place and the key
    of its image."""
    words = task.wordings[wording]
    names = {level: guide.levels.get(str(level), [label])[0] for level, label in task.labels.items()}
    texts = {level: guide.levels.get(str(level), ["", text])[1] for level, text in words.levels.items()}
    shown = tuple(
        Example(one["level"], one["sentence"], one["why"], address(place, one["image"]) if one["image"] else "")
        for place, one in enumerate(guide.examples)
    )
    own = replace(words, levels=texts, examples=shown or words.examples)
    return replace(task, labels=names, wordings={wording: own})


@lru_cache(maxsize=200)
def _guided(task: str, wording: int, guide: str, token: str) -> TaskType:
    """Its fields of answers are kept by the question, so that one version of a guide must be one question."""
    folder = reverse("judging:example_picture", args=[token, 0]).removesuffix("0/")
    own = Guide(*json.loads(guide))
    return with_guide(TASK_TYPES[task], wording, own, lambda place, image: f"{folder}{place}/?size=320")


def check_guide(round: Round, guide: Guide) -> None:
    """Raise CounterpartError for names that change once the round is published, and for an example that cannot be
    shown or would answer a pair of the round."""
    if round.state != "draft" and guide.levels != guide_of(round).levels:
        raise CounterpartError(
            f"The levels of round {round} keep their names and meanings, as it is published. Change only the examples."
        )
    for name, text in guide.levels.values():
        check_words(name, what="name of a level", at_most=LONGEST_NAME)
        check_words(text, what="meaning of a level", at_most=LONGEST_TEXT)
    for number, one in enumerate(guide.examples, 1):
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
