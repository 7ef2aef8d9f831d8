"""What a release would hold by each of three policies, before it is made: numbers, pairs that flip, and conflicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from corpus.models import Caption, Collection, Image, Sample
from dataset.releases.release_parameters import ReleaseParameters
from dataset.reviews.conflicts import Conflict, conflicts_of, pair_ids, previews
from dataset.versions.contents import Contents
from dataset.versions.file_rows import pair_order
from dataset.versions.merging import Pair
from hits.models import Round


@dataclass(frozen=True, eq=False)
class Preset:
    """Policies of a release under a name, and what they mean; those ``_USUAL`` and what ``differs`` from them."""

    label: str
    note: str
    differs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def policies(self) -> dict[str, Any]:
        return {**_USUAL, **self.differs}


_USUAL = {"merge": "original", "positive_levels": (1, 2), "method": "majority", "ties": "median", "precedence": "union"}
PRESETS = (
    Preset("As ECCV Caption", "Levels 1 and 2 are a match, and every original pair stays one."),
    Preset("Strict", "Only level 1 is a match, and every original pair stays one.", {"positive_levels": (1,)}),
    Preset(
        "People decide",
        "Levels 1 and 2 are a match. An original pair that people reject is dropped.",
        {"precedence": "judged"},
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
    """What a release would hold by each preset, with all pairs that flip and all conflicts of the chosen one."""

    effects: Sequence[Effect]
    flips: Sequence[Flip]
    conflicts: Sequence[Conflict]


def outlook_of(chosen: ReleaseParameters, sample: Sample, rounds: Sequence[Round]) -> Outlook:
    """Count the release by each preset and, where its policies differ from these, by its own.

    Raises CounterpartError as ``previews`` does.
    """
    own = chosen.policies()
    asked = {preset: replace(chosen, **preset.policies).policies() for preset in PRESETS}
    if own not in asked.values():
        note = f"Levels {', '.join(map(str, chosen.positive_levels))}, {chosen.method}, {chosen.merge or 'no source'}."
        asked[Preset("Your own", note)] = own
    found = dict(zip(asked, previews(sample, rounds=rounds, policies=list(asked.values())), strict=True))
    effects = [
        Effect(
            preset,
            asked[preset] == own,
            len(contents.positives),
            len(contents.positives - contents.original),
            len(contents.original - contents.positives),
        )
        for preset, contents in found.items()
    ]
    of_chosen = next(found[one.preset] for one in effects if one.is_chosen)
    return Outlook(effects, flips_of(found), conflicts_of(of_chosen))


def flips_of(found: Mapping[Preset, Contents]) -> list[Flip]:
    """Return the pairs that are a match by some of the presets only."""
    every = {preset.label: contents.positives for preset, contents in found.items()}
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
