"""What a release would hold by each of three policies, before it is made: numbers, pairs that flip, and conflicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from corpus.models import Caption, Collection, Image, Sample
from dataset.releases.release_parameters import ReleaseParameters
from dataset.reviews.conflicts import Conflict, conflicts_of, pair_ids, previews
from dataset.versions.contents import Contents
from dataset.versions.file_rows import pair_order
from dataset.versions.merging import Pair
from hits.models import Round

FLIPS = 12
CONFLICTS = 48
"""Pairs that the page shows."""


class Preset(NamedTuple):
    """Policies of a release under a name, and what they mean."""

    label: str
    note: str
    policies: Mapping[str, Any]


_USUAL = {"merge": "original", "positive_levels": (1, 2), "method": "majority", "ties": "median", "precedence": "union"}
PRESETS = (
    Preset("As ECCV Caption", "Levels 1 and 2 are a match, and every original pair stays one.", _USUAL),
    Preset("Strict", "Only level 1 is a match, and every original pair stays one.", _USUAL | {"positive_levels": (1,)}),
    Preset(
        "People decide",
        "Levels 1 and 2 are a match. An original pair that people reject is dropped.",
        _USUAL | {"precedence": "judged"},
    ),
)


@dataclass(frozen=True)
class Effect:
    """What a preset makes of the votes: matches in all, those beyond the original pairs, and original pairs dropped."""

    preset: Preset
    is_chosen: bool
    matches: int
    found: int
    dropped: int


@dataclass(frozen=True)
class Flip:
    """A pair that is a match by the presets ``matched_by`` only; its ``level`` is None without a verdict."""

    pair: Pair
    level: int | None
    matched_by: Sequence[str]


@dataclass(frozen=True)
class Outlook:
    """What the page of a release shows; ``flips`` and ``conflicts`` are the first of all."""

    effects: Sequence[Effect]
    n_flips: int
    flips: Sequence[Flip]
    n_conflicts: int
    conflicts: Sequence[Conflict]


def outlook_of(chosen: ReleaseParameters, sample: Sample, rounds: Sequence[Round]) -> Outlook:
    """Count the release by each preset and, where its policies differ from these, by its own.

    Raises CounterpartError as ``previews`` does.
    """
    asked = [(one, replace(chosen, **one.policies).policies()) for one in PRESETS]
    own = chosen.policies()
    if own not in [policies for _, policies in asked]:
        note = f"Levels {', '.join(map(str, chosen.positive_levels))}, {chosen.method}, {chosen.merge or 'no source'}."
        asked.append((Preset("Your own", note, {}), own))
    found = previews(sample, rounds=rounds, policies=[policies for _, policies in asked])
    effects = [
        Effect(
            preset,
            policies == own,
            len(contents.positives),
            len(contents.positives - contents.original),
            len(contents.original - contents.positives),
        )
        for (preset, policies), contents in zip(asked, found, strict=True)
    ]
    flipping = flips_of({preset.label: contents for (preset, _), contents in zip(asked, found, strict=True)})
    conflicts = conflicts_of(next(one for one, effect in zip(found, effects, strict=True) if effect.is_chosen))
    spread = flipping[:: max(1, len(flipping) // FLIPS)][:FLIPS]
    return Outlook(effects, len(flipping), spread, len(conflicts), conflicts[:CONFLICTS])


def flips_of(found: Mapping[str, Contents]) -> list[Flip]:
    """Return the pairs that are a match by some of the contents only, which have the labels of their policies."""
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
