"""The next step of the site as a whole, while nothing has been planned, released or scored."""

from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.urls import reverse

from annotation.models import Assignment
from corpus.models import Collection
from dataset.models import Version
from evaluation.models import Run
from hits.models import Round, Seat
from hits.task_types import ON_PAIRS


class NextStep(NamedTuple):
    """A sentence, and a button that leads to the page of the step."""

    text: str
    label: str
    url: str


def next_step(user: User) -> NextStep | None:
    """Return the next step that the user may take; None where work goes on, or another role takes the step."""
    if not Round.objects.exists():
        collection = Collection.objects.order_by("-created_at").first()
        if collection is None or not user.has_perm("hits.launch_round"):
            return None
        page = f"{reverse('round_plan')}?collection={collection}"
        return NextStep(f"{collection} is imported. Have its pairs judged.", "Plan a round", page)
    version = Version.objects.select_related("collection").order_by("-released_at").first()
    if version is None:
        return _release() if user.has_perm("dataset.release_version") else None
    if Run.objects.exists() or not user.has_perm("hits.launch_round"):
        return None
    page = f"{reverse('leaderboard', args=[version.collection.name])}#register"
    return NextStep(f"{version} is released. See how good a model is on it.", "Register rankings", page)


def _release() -> NextStep | None:
    """Release the newest round that is ready: about pairs, with answers that count, and none that wait for a person."""
    state = Assignment.State
    work = Assignment.objects.filter(hit__round=OuterRef("pk"))
    unfilled = Seat.objects.filter(round=OuterRef("pk")).exclude(state=Seat.State.FILLED)
    ready = (
        Round.objects.filter(Exists(work.filter(state=state.ACCEPTED)), task__in=ON_PAIRS)
        .exclude(Exists(work.filter(state__in=(state.SUBMITTED, state.FLAGGED))))
        .exclude(Exists(unfilled), closed_at=None)
    )
    newest = ready.select_related("pool__sample").order_by("-created_at").first()
    if newest is None:
        return None
    page = f"{reverse('release')}?rounds={newest}&sample={newest.pool.sample}"
    return NextStep(f"The answers to {newest} are in. Make a dataset of them.", "Release a version", page)
