"""Plans: which pair is asked in which HIT, at which place, in which role. Pairs are codes of image and caption."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hits.packing.designs import Design

Codes = NDArray[np.int64]
Sharing = Literal["avoid", "allow"]

POSITIVE = "positive"
NEGATIVE = "negative"
ROLES = ("candidate", POSITIVE, NEGATIVE)  # roles are stored as places in this tuple
# The hash covers a JSON text of everything except the items, then five numbers for each item; its pair is given as
# places (from 1) among the keys in the text.
FORM = "counterpart-plan-2"


@dataclass(frozen=True)
class Numbering:
    """Codes for database rows in the order of their external keys, so that plans are the same in every database.

    Row ``code`` has id ``ids[code]`` and key ``keys[code]``; the keys ascend.
    """

    ids: Codes
    keys: list[str]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def _code_of(self) -> Codes:
        """Codes by id minus the lowest id plus 1; the first and the last entry serve ids out of range."""
        codes = np.full(np.ptp(self.ids) + 3 if len(self) else 2, -1)
        codes[self.ids - self._lowest + 1] = np.arange(len(self))
        return codes

    @cached_property
    def _lowest(self) -> int:
        return int(self.ids.min()) if len(self) else 0

    def ids_of(self, codes: Codes) -> Any:
        """Return the database id of every code, masked for -1."""
        return np.ma.masked_where(codes < 0, np.append(self.ids, -1)[codes])

    def known(self, ids: Any) -> Codes:
        """Return the codes of those of the database ids that are numbered."""
        codes = self.codes(list(ids))
        return codes[codes >= 0]

    def codes(self, ids: Any) -> Codes:
        """Return the code of every database id, -1 for unknown ids. Same shape as ``ids``."""
        places = np.asarray(ids, np.int64) - self._lowest + 1
        return self._code_of[places.clip(0, len(self._code_of) - 1)]


@dataclass(frozen=True)
class Sides:
    """The images and the captions of a collection, numbered."""

    images: Numbering
    captions: Numbering

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.images), len(self.captions)

    def cells(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one number for each of ``pairs`` (n, 2) of codes, by which pairs are compared."""
        return pairs[:, 0] * len(self.captions) + pairs[:, 1]

    def pair_codes(self, rows: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
        """Return rows of (image id, caption id) as distinct rows of codes (n, 2), ascending, without ids that are not
        numbered."""
        pairs = np.fromiter(rows, np.dtype((np.int64, 2)))
        images = self.images.codes(pairs[:, 0])
        captions = self.captions.codes(pairs[:, 1])
        cells = (images * len(self.captions) + captions)[(images >= 0) & (captions >= 0)]
        return np.stack(np.divmod(distinct(cells), max(len(self.captions), 1)), axis=1)


NONE = -1
"""The code of an item's image or caption where it has none."""


class Items(NamedTuple):
    """Pairs in HITs, an entry each: HIT (from 0), codes of the image and of the caption (or ``NONE``), role."""

    hits: Codes
    images: Codes
    captions: Codes
    roles: Codes


@dataclass(frozen=True)
class Plan:
    """The items of all HITs, ordered by HIT and place (from 1)."""

    sides: Sides
    design: Design
    seed: int
    items: Items
    places: Codes
    padded: int = 0
    """Candidates that are not of the pool: they fill up the screens of an image."""
    contents: Sequence[dict[str, Any]] = ()
    """Where an item shows more than its pair: ``rankings``, lists of codes of images, and their ``systems``."""

    @property
    def n_hits(self) -> int:
        return int(self.items.hits[-1]) + 1

    def counts(self) -> dict[str, int]:
        """Count pairs, HITs, items and controls, positive ones that are candidates of another HIT, and the items that
        repeat an image or a caption of their HIT."""
        hits, images, captions, roles = self.items
        cells = self.sides.cells(np.stack([images, captions], axis=1))
        asked = int(np.isin(cells[roles == ROLES.index(POSITIVE)], cells[roles == 0]).sum())
        candidates, positives, negatives = np.bincount(roles, minlength=len(ROLES)).tolist()
        return {
            "pairs": candidates,
            "hits": self.n_hits,
            "items": len(hits),
            "positives": positives,
            "negatives": negatives,
            "topped_up": self.n_hits * self.design.candidates - candidates if self.design.controls else 0,
            "shared_images": count_shared(hits[images >= 0], images[images >= 0]),
            "shared_captions": count_shared(hits[captions >= 0], captions[captions >= 0]),
            **({"positives_asked": asked} if asked else {}),
            **({"padded": self.padded} if self.padded else {}),
        }

    def named_contents(self, names: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the contents with the images' ``names``, by code: their keys, or their ids."""
        return [
            content | {"rankings": [[names[image] for image in ranking] for ranking in content["rankings"]]}
            for content in self.contents
        ]

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) over the plan in external keys: the same in every database with the same input."""
        keys = {}
        columns = [self.items.hits, self.places, self.items.roles]
        for side, codes in (("images", self.items.images), ("captions", self.items.captions)):
            used = np.bincount(codes[codes >= 0]).astype(bool)
            keys[side] = [getattr(self.sides, side).keys[code] for code in np.flatnonzero(used).tolist()]
            columns.append(np.append(np.cumsum(used, dtype=np.int64), 0)[codes])  # 0: none
        form: dict[str, Any] = {
            "form": FORM,
            "design": self.design.as_json(),
            "seed": self.seed,
            "roles": ROLES,
            **keys,
        }
        if self.contents:
            form["contents"] = self.named_contents(self.sides.images.keys)
        text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode() + np.stack(columns, axis=1).astype("<i4").tobytes()).hexdigest()


def plan_alone(sides: Sides, side: Literal["images", "captions"], codes: Codes, *, design: Design, seed: int) -> Plan:
    """Ask about images or captions, given by their codes: each once and by itself, in random order; the last HIT may
    have fewer."""
    numbers = np.arange(len(codes))
    shown = {"images": np.full(len(codes), NONE), "captions": np.full(len(codes), NONE)}
    shown[side] = np.random.default_rng(seed).permutation(codes)
    items = Items(numbers // design.candidates, **shown, roles=np.zeros_like(numbers))
    return Plan(sides, design, seed, items, numbers % design.candidates + 1)


def shuffle_places(candidates: Items, controls: Items, rng: np.random.Generator) -> Items:
    """Join candidates and controls; return them by HIT, those of a HIT in random order."""
    joined = [np.concatenate(parts) for parts in zip(candidates, controls, strict=True)]
    order = np.argsort(joined[0] << 32 | rng.integers(1 << 32, size=len(joined[0])), kind="stable")
    return Items(*(column[order] for column in joined))


def count_shared(hits: Codes, codes: Codes) -> int:
    """Count the items whose image (or caption) occurs before in the same HIT; 0 if nothing is shared."""
    if not len(hits):
        return 0
    return len(hits) - len(distinct(hits * (codes.max() + 1) + codes))


def distinct(numbers: Codes) -> Codes:
    """Return the different numbers, ascending. Sorting is much faster than the hashing of ``numpy.unique``."""
    ascending = np.sort(numbers)
    is_new = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    return ascending[is_new]
