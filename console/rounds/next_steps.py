"""The next step of a round, which is the one blue button of its page, and its holds, with the buttons that help. And
the next step of the site, while nothing has been planned, released or scored."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.urls import reverse

from annotation.models import Admission, Assignment
from annotation.platforms import Hold
from annotation.work.standing import Standing
from annotation.work.standstill import find_holds
from console.home.needs import Need
from console.kept_figures import kept_if_slow
from console.permissions import releasers_only, researchers_only
from console.places import page_of
from console.rounds.schemas import is_joined_here
from console.templatetags.console import dollars
from core.text import counted
from corpus.models import Collection
from crowd.channels import usable_markets
from crowd.posting.publication import can_close, join_link, quote
from dataset.models import Version
from evaluation.models import Run
from hits.models import Round, Seat
from hits.task_types import ON_PAIRS, task_type_of


class NextStep(NamedTuple):
    """A button, and a ``text`` about it; ``is_act``: it opens an act in a dialog."""

    label: str
    url: str
    is_act: bool = False
    text: str = ""


def next_step(round: Round, standing: Standing, needs: Sequence[Need], user: User) -> NextStep | None:
    """Return what the user does next with the round; None where the round only has to be waited for."""
    researches = researchers_only.may(user)
    if round.state == "draft" and researches and not can_close(round):
        cost = dollars(quote(round, usable_markets()[0].channel).total)
        hits = counted(round.hits.count(), "HIT")
        return NextStep(f"Publish {hits} for {cost}…", reverse("round_publish", args=[round.name]))
    if round.state == "closed":
        return _after_closing(round, user)
    if (standing.is_complete or round.state == "draft") and researches:
        return NextStep("Close…", reverse("round_close", args=[round.name]), is_act=True)
    if needs:
        return NextStep("Review the flagged HITs" if "flagged" in needs[0].text else "Look at it", needs[0].url)
    if is_joined_by_link(round) and not standing.arrived:
        return NextStep("Be the first worker", join_link(round))
    return None


def is_joined_by_link(round: Round) -> bool:
    """Whether anyone with the link may join."""
    return is_joined_here(round) and not Admission.objects.filter(round=round, invited=True).exists()


def _after_closing(round: Round, user: User) -> NextStep | None:
    if version := round.versions.order_by("-released_at", "-pk").first():
        return NextStep(f"Version {version}", page_of(version))
    if task_type_of(round).on_pairs and releasers_only.may(user):
        return _release(round)
    return None


def _release(round: Round) -> NextStep:
    suggested = urlencode({"rounds": round.name, "sample": round.pool.sample})
    return NextStep("Release a version", f"{reverse('release')}?{suggested}")


def next_step_of_site(user: User) -> NextStep | None:
    """Return the next step that the user may take; None where work goes on, or another role takes the step."""
    if not Round.objects.exists():
        collection = Collection.objects.order_by("-created_at").first()
        if collection is None or not researchers_only.may(user):
            return None
        page = f"{reverse('round_plan')}?collection={collection}"
        return NextStep("Plan a round", page, text=f"{collection} is imported. Have its pairs judged.")
    version = Version.objects.select_related("collection").order_by("-released_at").first()
    if version is None:
        return _release_of_ready() if releasers_only.may(user) else None
    if Run.objects.exists() or not researchers_only.may(user):
        return None
    page = f"{reverse('leaderboard', args=[version.collection.name])}#register"
    return NextStep("Register rankings", page, text=f"{version} is released. See how good a model is on it.")


def _release_of_ready() -> NextStep | None:
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
    return _release(newest)._replace(text=f"The answers to {newest} are in. Make a dataset of them.")


COUNTED_AS_NEEDS = ("review", "rejection")
"""Kinds of holds that ``console.home.needs`` shows to users who may act on them."""


class HoldLine(NamedTuple):
    """A hold with its button, if another page helps; *Resume* is in the menu of the round."""

    hold: Hold
    label: str
    url: str


def holds_of_page(round: Round, standing: Standing) -> list[HoldLine]:
    """Return the holds of an open round, cached for a while if they take long to compute."""
    if round.state != "open":
        return []
    key = f"holds-of-round:{round.pk}:{round.takes_workers}:{round.ceiling}"
    kept = kept_if_slow(key, partial(find_holds, round, standing))
    buttons = {
        "pictures": ("Collection", page_of(round.pool.collection)),
        "ceiling": ("Raise the ceiling", reverse("round_ceiling", args=[round.name])),
        "workers": ("Invite", reverse("round_people", args=[round.name])),
    }
    return [HoldLine(one, *buttons.get(one.kind, ("", ""))) for one in kept.figures if one.kind not in COUNTED_AS_NEEDS]
