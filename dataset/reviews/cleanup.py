"""Suggestions for the clean-up of a collection: captions and pictures of its gallery that a person should look at."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from django import forms

from core.parameters import OFF_PAGE, POSITIONAL, Option, Parameters
from core.progress import Progress, silent
from corpus.models import Collection
from corpus.pictures.looks import alike, folder_looks, hash_pictures
from counterpart_annotators.words import words_of
from dataset.models import Case
from dataset.reviews.cases import Pair, counts_of, open_cases, suspicious_originals

_PICTURE = r"(?:images?|pictures?|photos?|photographs?)"
FEWEST_WORDS = 4
SIGNS = {
    "says that the picture is missing": re.compile(
        rf"\b(?:no|missing|without an?) {_PICTURE}\b|\bblank {_PICTURE}\b|\bno longer available\b"
        rf"|\b{_PICTURE} (?:(?:is|are|was|did|does) )?(?:not|missing|unavailable|broken)\b",
        re.IGNORECASE,
    ),
    "says that it cannot be seen": re.compile(
        r"\b(?:unable to|cannot|can ?not|can'?t|could not|couldn'?t) (?:\w+ )?(?:see|view|tell|load|describe|make)\b"
        r"|\bnot (?:able to|visible|loading|showing|available)\b",
        re.IGNORECASE,
    ),
    "speaks of the task": re.compile(
        r"\b(?:captions?|describe|description|write about|reviewed|this hit|blank)\b", re.IGNORECASE
    ),
    "speaks of its writer": re.compile(r"^(?:I|I'?m)\b|\bI (?:am|can|could|do|have|think|see)|\b[Mm]y\b"),
}
"""What makes a caption suspect. Written with the 18 meaningless captions of ECCV Caption in view, so that finding those
says little about other collections."""


class CleanupParameters(Parameters):
    """The collection to search for pairs that need a review, and the limits of the search."""

    collection: Annotated[str, "name of the collection", POSITIONAL, OFF_PAGE]
    against: Annotated[
        Path | None, "also compare with the pictures of a folder", OFF_PAGE, Option(metavar="FOLDER")
    ] = None
    below: Annotated[
        float,
        forms.FloatField(
            min_value=0,
            max_value=5,
            label="Originals with a CxC score below",
            help_text="CxC score (0-5) below which an original pair is suggested, also by later updates of the queue; "
            "of ECCV Caption's 32 faulty captions 15 are below 2 and 29 below 3, and no other caption is",
        ),
    ] = 2


def suggest_clean_up(parameters: CleanupParameters, *, progress: Progress = silent) -> dict[str, int]:
    """Open a case for every caption that seems meaningless, every suspicious original and every picture of the gallery
    that occurs twice: in the collection, its training splits included, or in the folder ``against``. Return the counts
    of the queue.

    Nothing is excluded: a person decides on each. Running it again keeps what was decided, and suggestions from an
    earlier folder unless another one is given. Raises CounterpartError for an unknown collection and pictures that
    cannot be read.
    """
    collection = Collection.objects.named(parameters.collection)
    against = parameters.against
    texts = list(collection.captions.gallery().order_by("pk").values_list("pk", "image_id", "text"))
    images = {caption: image for caption, image, _ in texts}
    suspect = meaningless((caption, text) for caption, _, text in texts)
    hash_pictures(collection, progress=progress)
    others = []
    if against:
        others = [
            (f"{name} in {against.name}", look) for name, look in folder_looks(against, progress=progress).items()
        ]
    repeated = _repeated_pictures(collection, others)
    open_cases(
        collection, Case.Reason.MEANINGLESS, {(images[caption], caption): why for caption, why in suspect.items()}
    )
    collection.doubted_below = parameters.below
    collection.save(update_fields=["doubted_below"])
    open_cases(collection, Case.Reason.SUSPICIOUS, suspicious_originals(collection))
    open_cases(collection, Case.Reason.DUPLICATE, repeated, replace=against is not None)
    return counts_of(collection)


def why_meaningless(text: str) -> str:
    """Return what makes a caption suspect, or an empty text.

    >>> why_meaningless("I am unable to see an image above.")
    'says that it cannot be seen, speaks of its writer'
    >>> why_meaningless("A man with a red helmet on a small moped.")
    ''
    """
    signs = [sign for sign, pattern in SIGNS.items() if pattern.search(text.strip())]
    if len(words_of(text)) < FEWEST_WORDS:
        signs.append(f"has fewer than {FEWEST_WORDS} words")
    return ", ".join(signs)


def meaningless(captions: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return the suspect captions among (id, text), with why."""
    return {key: why for key, text in captions if (why := why_meaningless(text))}


def _repeated_pictures(collection: Collection, others: list[tuple[str, str]]) -> dict[Pair, str]:
    """Return the gallery's pictures that look like one of the others (name, look), of a training split, or an earlier
    one of the gallery."""
    hashed = collection.images.exclude(look="").order_by("pk")
    training = hashed.training().values_list("key", "look")
    gallery = list(hashed.gallery().values_list("pk", "key", "look"))
    before = others + [(f"picture {key} of the training set", look) for key, look in training]
    known = before + [(f"picture {key}", look) for _, key, look in gallery]
    # A case about an image is shown with its first caption.
    first = dict(collection.captions.order_by("-pk").values_list("image_id", "pk"))
    found: dict[Pair, str] = {}
    for at, other, bits in alike([look for *_, look in gallery], [look for _, look in known]):
        image = gallery[at][0]
        if other < len(before) + at and image in first:
            found.setdefault((image, first[image]), f"looks like {known[other][0]} ({bits} of 64 bits differ)")
    return found
