"""Where judgments are found: the one module that asks the database for those of a round, a worker or a pair.

A *vote* is an answer that counts, on a candidate. All are in no order.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet

from annotation.models import Assignment, Judgment, JudgmentQuerySet, Worker
from corpus.models import Caption, Collection, Image
from hits.models import Control, Round
from hits.question import Level

BY_LEVEL = {f"n{level}": Count("pk", filter=Q(level=level)) for level in Level.values}
"""The number of answers at each level, as ``annotate`` and ``aggregate`` take it."""


def answers_in(*rounds: Round | int | OuterRef) -> JudgmentQuerySet:
    """Return the answers of rounds: those on controls too, and those that do not count."""
    answers = Judgment.objects.order_by()
    if len(rounds) == 1:
        return answers.filter(assignment__hit__round=rounds[0])
    several: Any = rounds
    return answers.filter(assignment__hit__round__in=several)


def votes_in(*rounds: Round | int | OuterRef) -> JudgmentQuerySet:
    """Return the votes of rounds."""
    return answers_in(*rounds).counted().of_candidates()


def answers_over(collection: Collection) -> JudgmentQuerySet:
    """Return the answers of all rounds over a collection."""
    return Judgment.objects.filter(assignment__hit__round__pool__collection=collection).order_by()


def answers_from(assignments: Iterable[Assignment | int] | QuerySet[Any, Any]) -> JudgmentQuerySet:
    """Return the answers of assignments."""
    return Judgment.objects.filter(assignment__in=assignments).order_by()


def answers_by(workers: Iterable[Worker | int]) -> JudgmentQuerySet:
    """Return the answers of workers, in all rounds."""
    return Judgment.objects.filter(worker__in=workers).order_by()


def answers_to(controls: Iterable[int] | QuerySet[Control]) -> JudgmentQuerySet:
    """Return the answers to controls."""
    return Judgment.objects.filter(item__control__in=controls).order_by()


def answers_on(images: Iterable[Image | int], captions: Iterable[Caption | int] | None = None) -> JudgmentQuerySet:
    """Return the answers, in all rounds, on pairs of the images; with ``captions``, of one of each."""
    answers = Judgment.objects.filter(image__in=images).order_by()
    return answers.filter(caption__isnull=False) if captions is None else answers.filter(caption__in=captions)
