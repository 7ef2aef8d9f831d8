"""What a release would hold by each of three policies, before it is made: numbers and pairs that flip."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from corpus.models import Caption, Collection, Image
from dataset.releases.release_parameters import ReleaseParameters
from dataset.versions.contents import Contents
from dataset.versions.file_rows import pair_order
from dataset.versions.merging import Pair

T = TypeVar("T")


@dataclass(frozen=True)
class Choice:
    """A release by policies that have a name, and what they mean."""

    label: str
    note: str
    parameters: ReleaseParameters


def choices_of(typed: ReleaseParameters) -> list[Choice]:
    """Return the policies that are offered, the default first; before it those that were typed, if they are others."""
    usual = replace(
        typed, merge="original", positive_levels=(1, 2), method="majority", ties="median", precedence="union"
    )
    strict = replace(usual, positive_levels=(1,))
    judged = replace(usual, precedence="judged")
    offered = [
        Choice("As ECCV Caption", "Levels 1 and 2 are a match, and every original pair stays one.", usual),
        Choice("Strict", "Only level 1 is a match, and every original pair stays one.", strict),
        Choice("People decide", "Levels 1 and 2 are a match. An original pair that people reject is dropped.", judged),
    ]
    if typed in (usual, strict, judged):
        return offered
    levels = ", ".join(map(str, typed.positive_levels))
    return [Choice("Your own", f"Levels {levels}; {typed.method}; {typed.merge or 'no source'}.", typed), *offered]


def effect_of(choice: Choice, contents: Contents) -> dict[str, Any]:
    """Return what a choice makes of the votes: matches in all, those beyond the original pairs, and original pairs
    dropped."""
    return {
        "choice": choice,
        "matches": len(contents.positives),
        "found": len(contents.positives - contents.original),
        "dropped": len(contents.original - contents.positives),
    }


def flips_of(found: Mapping[str, Contents]) -> list[tuple[Pair, int | None, list[str]]]:
    """Return the pairs that are a match by some choices only, whose labels lead to what they find; each with its level,
    None without a verdict, and the labels of those choices."""
    every = {label: contents.positives for label, contents in found.items()}
    flipping = frozenset.union(*every.values()) - frozenset.intersection(*every.values())
    verdicts = next(iter(found.values())).verdicts
    return [
        (
            pair,
            verdicts[pair].level if pair in verdicts else None,
            [label for label, positives in every.items() if pair in positives],
        )
        for pair in sorted(flipping, key=pair_order)
    ]


def pictured(collection: Collection, shown: Mapping[Pair, T]) -> list[tuple[T, Image | None, Caption | None]]:
    """Return what is shown of each pair with its image and caption; None for one that was removed."""
    images = {one.key: one for one in collection.images.filter(key__in={image for image, _ in shown})}
    captions = {one.key: one for one in collection.captions.filter(key__in={caption for _, caption in shown})}
    return [(one, images.get(image), captions.get(caption)) for (image, caption), one in shown.items()]
