"""Undo imports, discard drafts of rounds, and rename: while nothing depends on what would go."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from django.shortcuts import get_object_or_404

from console.acts import Chosen, Landing, act
from console.fields import asking
from console.inventory import check_removable, find, remove, singular, thing_named
from console.inventory import rename as give_name
from console.permissions import researchers_only
from console.places import page_of
from console.refusals import refusals_as_404
from console.rounds.round_acts import round_act
from core.errors import CounterpartError
from core.text import NameField
from corpus.batches import contents_of
from corpus.models import Batch
from hits.models import Round


def _refusal(word: str, row: Any) -> Iterator[str]:
    """Yield what depends on the row, so that it cannot be removed."""
    try:
        check_removable(thing_named(word), row)
    except CounterpartError as error:
        yield str(error)


def _consequences(batch: Batch) -> Iterator[str]:
    yield from _refusal("batch", batch)
    origin = f" of {batch.file}" if batch.file else ""
    yield f"This import{origin} brought {contents_of(batch)}. They are removed for good, with their files."
    yield "All other imports stay as they are."


@act(
    "batches/<slug:name>/undo/",
    lambda name: get_object_or_404(Batch, name=name),
    researchers_only,
    question="Undo {}?",
    button="Take it back",
    asks=_consequences,
)
def batch_undo(batch: Batch, chosen: Chosen, by: User) -> Landing:
    """Take an import back."""
    remove("batch", batch.name, actor=by.get_username())
    return Landing(f"{batch} is undone.", page_of(batch.collection))


@round_act(
    "discard",
    "Discard {}?",
    button="Discard the draft",
    asks=lambda round: [
        *_refusal("round", round),
        "The draft and its HITs are removed for good, and its name is free again. No worker has seen it.",
        f"Its pool {round.pool} stays, and can be packed once more.",
    ],
    offered=lambda round: round.state == "draft",
)
def round_discard(round: Round, chosen: Chosen, by: User) -> Landing:
    """Remove a draft of a round."""
    remove("round", round.name, actor=by.get_username())
    return Landing(f"The draft {round} is discarded.", page_of(round.pool))


def _renamable(kind: str, name: str) -> tuple[Any, str, str]:
    """Return the row, its kind and its name."""
    with refusals_as_404():
        thing, row = find(kind, name)
    if thing.key == "id":
        raise Http404(f"A {singular(kind)} has a number and no name.")
    return row, kind, name


@act(
    "names/<slug:kind>/<path:name>/",
    _renamable,
    researchers_only,
    label="Rename",
    question="Rename {2}",
    form=asking(lambda found: {"name": found[2].rpartition("/")[2]}, name=NameField(label="Name")),
)
def rename(found: tuple[Any, str, str], chosen: Chosen, by: User) -> Landing:
    """Pages and commands then use the new name. Files keep theirs."""
    row, kind, name = found
    give_name(kind, name, chosen["name"], actor=by.get_username())
    row.refresh_from_db()
    return Landing(f"{name} is now {chosen['name']}.", page_of(row))
