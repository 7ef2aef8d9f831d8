"""The controls of a round are secret until it is closed. All pages, files and calls that would reveal them ask here.

People with a role choose the controls and rule on them. Anybody else may join the round as a worker, and must learn
them from no page and no call: neither from the controls themselves, nor from a list of the candidates, which leaves the
other pairs of a HIT as controls, nor from known matches, of which positive controls are drawn.
"""

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Exists, OuterRef, QuerySet

from core.errors import CounterpartError, some_of
from corpus.models import Collection
from dataset.models import Version
from dataset.versions.version_files import JUDGMENTS, MANIFEST
from hits.models import Control, Round
from mitl.models import Pool

Place = Collection | Pool | Round | Version


class SecretControls(CounterpartError):  # noqa: N818  it says what is refused
    """The request would reveal controls of rounds that are not closed."""


def has_role(user: User | AnonymousUser) -> bool:
    """Whether the user is a researcher, a reviewer or an admin."""
    return user.has_perm("hits.launch_round") or user.has_perm("annotation.decide_assignment")


def secret_rounds(rounds: QuerySet[Round]) -> QuerySet[Round]:
    """Return the rounds whose controls are a secret."""
    return rounds.filter(Exists(Control.objects.filter(round=OuterRef("pk"))), closed_at=None).order_by("name")


def are_pairs_secret(place: Place | None, user: User | AnonymousUser) -> bool:
    """Whether the pairs of a place (None: of all) are kept from the user."""
    return not has_role(user) and secret_rounds(_rounds_with(place)).exists()


def refuse_secret_pairs(place: Place | None, user: User | AnonymousUser) -> None:
    """Raise SecretControls where the pairs of a place (None: of all) are kept from the user."""
    if not has_role(user):
        _refuse(secret_rounds(_rounds_with(place)), "Only researchers, reviewers and admins see these pairs")


def check_file(version: Version, name: str, user: User | AnonymousUser) -> None:
    """Raise SecretControls for a file of a version that the user may not have. Its judgments are not sent before all
    its rounds are closed; its manifest names no pairs."""
    if name == JUDGMENTS:
        _refuse(secret_rounds(version.rounds.all()), "Files with judgments are not sent")
    if name != MANIFEST:
        refuse_secret_pairs(version, user)


def _refuse(rounds: QuerySet[Round], what: str) -> None:
    if names := [round.name for round in rounds]:
        raise SecretControls(f"{what} until these rounds are closed, as their controls are secret: {some_of(names)}.")


def _rounds_with(place: Place | None) -> QuerySet[Round]:
    """Return the rounds whose candidates or controls the pairs of a place may be: of a collection or a pool all of the
    collection, of a round or a version those of its pools."""
    match place:
        case None:
            return Round.objects.all()
        case Collection():
            return Round.objects.filter(pool__collection=place)
        case Pool():
            return Round.objects.filter(pool__collection=place.collection_id)
        case Round():
            return Round.objects.filter(pool=place.pool_id)
    return Round.objects.filter(pool__rounds__in=place.rounds.all()).distinct()
