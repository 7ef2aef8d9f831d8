"""What a release would hold by each of three policies, before it is made: numbers, pairs that flip, and conflicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.models import Caption, Collection, Image, Sample
from dataset.releases.release_parameters import ReleaseParameters
from dataset.reviews.conflicts import Conflict, conflicts_of, pair_ids, previews
from dataset.versions.contents import Contents
from dataset.versions.file_rows import pair_order
from dataset.versions.merging import Pair
from hits.models import Round


@dataclass(frozen=True)
class Choice:
    """A release by policies that have a name, and what they mean."""

    label: str
    note: str
    parameters: ReleaseParameters


@dataclass(frozen=True)
class Effect:
    """What a choice makes of the votes: matches in all, those beyond the original pairs, and original pairs dropped."""

    choice: Choice
    matches: int
    found: int
    dropped: int


@dataclass(frozen=True)
class Flip:
    """A pair that is a match by the choices ``matched_by`` only; its ``level`` is None without a verdict."""

    pair: Pair
    level: int | None
    matched_by: Sequence[str]


@dataclass(frozen=True)
class Outlook:
    """What a release would hold by each choice, with all pairs that flip and all conflicts of the first one."""

    effects: Sequence[Effect]
    flips: Sequence[Flip]
    conflicts: Sequence[Conflict]


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


def outlook_of(typed: ReleaseParameters, sample: Sample, rounds: Sequence[Round]) -> Outlook:
    """Count the release by each choice. Raises CounterpartError as ``previews`` does."""
    choices = choices_of(typed)
    counted = previews(sample, rounds=rounds, policies=[one.parameters.policies() for one in choices])
    effects = [
        Effect(
            choice,
            len(contents.positives),
            len(contents.positives - contents.original),
            len(contents.original - contents.positives),
        )
        for choice, contents in zip(choices, counted, strict=True)
    ]
    by_label = dict(zip((one.label for one in choices), counted, strict=True))
    return Outlook(effects, flips_of(by_label), conflicts_of(counted[0]))


def flips_of(found: Mapping[str, Contents]) -> list[Flip]:
    """Return the pairs that are a match by some of the choices only, whose labels lead to what they find."""
    every = {label: contents.positives for label, contents in found.items()}
    flipping = frozenset.union(*every.values()) - frozenset.intersection(*every.values())
    verdicts = next(iter(found.values())).verdicts
    return [
        Flip(
            pair,
            verdicts[pair].level if pair in verdicts else None,
            [label for label, positives in every.items() if pair in positives],
        )
        for pair in sorted(flipping, key=pair_order)
    ]


def pictured(collection: Collection, pairs: Sequence[Pair]) -> dict[Pair, tuple[Image, Caption]]:
    """Return the image and the caption of each pair."""
    ids = pair_ids(collection, pairs)
    images = Image.objects.in_bulk([image for image, _ in ids.values()])
    captions = Caption.objects.in_bulk([caption for _, caption in ids.values()])
    return {pair: (images[image], captions[caption]) for pair, (image, caption) in ids.items()}
