"""The votes that count in a round, read from the database in chunks of numbers, as the aggregation takes them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd
from django.db.models import QuerySet
from numpy.typing import NDArray

from annotation.models import Judgment, Worker
from core.progress import Progress, silent
from corpus.models import Caption, Image
from dataset.aggregation import LEVELS, RIGHT
from dataset.aggregation.sorted_votes import VOTE, sort_votes
from dataset.aggregation.votes import Codes, Votes
from hits.models import Control, Item, Round

CHUNK = 1 << 18  # rows in memory at a time
COLUMNS = {
    **{"image_id": "image", "caption_id": "caption", "worker_id": "worker"},
    **{"level": "level", "item_id": "item", "item__hit__number": "hit"},
}
KINDS = ("", "negative", "positive")
"""What an item may be, in the order of ``conclude``: a candidate, or a control of a polarity."""


@dataclass(frozen=True)
class Keys:
    """The rows of one side of a collection: their keys, ascending, and the ids in the same order."""

    keys: "pd.Index[str]"
    ids: Codes
    _order: Codes

    @classmethod
    def of(cls, rows: "QuerySet[Image] | QuerySet[Caption]") -> "Keys":
        pairs = rows.order_by().values_list("pk", "key").iterator(chunk_size=20_000)
        parts = [pd.Series([], index=pd.Index([], dtype=np.int64), dtype="str")]
        while chunk := dict(islice(pairs, CHUNK)):
            parts.append(pd.Series(chunk, dtype="str"))
        keys = pd.concat(parts).sort_values()
        ids = keys.index.to_numpy()
        return cls(pd.Index(keys), ids, np.argsort(ids))

    def places(self, ids: Codes) -> Codes:
        """Return the places of rows by id."""
        return self._order[np.searchsorted(self.ids, ids, sorter=self._order)]


@dataclass(frozen=True)
class RoundVotes:
    """The votes of a round by pair and by control, in the order of the keys, and the number of those on candidates."""

    votes: Votes
    images: Keys
    captions: Keys

    @property
    def judgments(self) -> int:
        return sum(int((~batch.on_gold).sum()) for batch in self.votes.batches())

    def pairs(self, codes: Codes) -> tuple[Codes, Codes]:
        """Return the places of the images and of the captions of items."""
        image, caption = np.divmod(codes // len(KINDS), len(self.captions.ids))
        return image, caption

    def with_items(self, proposals: pd.DataFrame) -> pd.DataFrame:
        """Return the proposals with the code of each pair as ``item``."""
        image = self.images.keys.get_indexer(pd.Index(proposals["image"]))
        caption = self.captions.keys.get_indexer(pd.Index(proposals["caption"]))
        return proposals.assign(item=(image * len(self.captions.ids) + caption) * len(KINDS))


def counted_rows(round: Round) -> Iterator[NDArray]:
    """Yield the counted judgments of a round in chunks, as arrays with the fields of COLUMNS: database ids, the level
    and the number of the HIT. Those on retired controls are left out."""
    counted = Judgment.objects.counted().filter(assignment__hit__round=round).order_by()
    retired = Item.objects.filter(hit__round=round, control__state=Control.State.RETIRED)
    left_out = list(retired.values_list("pk", flat=True))
    rows = counted.values_list(*COLUMNS).iterator(chunk_size=20_000)
    dtype = [(name, np.int64) for name in COLUMNS.values()]
    while len(chunk := np.fromiter(islice(rows, CHUNK), dtype)):
        yield chunk[~np.isin(chunk["item"], left_out)]


def read_round(round: Round, *, progress: Progress = silent) -> RoundVotes:
    """Return the counted votes of a round."""
    progress("reading judgments", 0, None)
    collection = round.pool.collection
    images, captions = Keys.of(collection.images.all()), Keys.of(collection.captions.all())
    people = Worker.objects.filter(assignments__hit__round=round).distinct()
    pseudonyms = pd.Series(dict(people.values_list("pk", "pseudonym")), dtype="str").sort_values()
    workers = pseudonyms.index.to_numpy(np.int64)
    by_id = np.argsort(workers)
    controls = Item.objects.filter(hit__round=round, control__isnull=False).order_by("pk")
    polarities = np.array(list(controls.values_list("pk", "control__polarity")), dtype=object).reshape(-1, 2)
    items, kinds = polarities[:, 0].astype(np.int64), np.searchsorted(KINDS, polarities[:, 1].astype(str))

    def coded(rows: NDArray) -> NDArray:
        votes = np.zeros(len(rows), VOTE)
        pair = images.places(rows["image"]) * len(captions.ids) + captions.places(rows["caption"])
        votes["code"] = pair * len(KINDS)
        place = np.searchsorted(items, rows["item"])
        is_control = np.isin(rows["item"], items)
        votes["code"][is_control] += kinds[place[is_control]]
        votes["worker"] = by_id[np.searchsorted(workers, rows["worker"], sorter=by_id)]
        votes["label"] = rows["level"] - LEVELS[0]
        return votes

    return RoundVotes(
        sort_votes(
            map(coded, counted_rows(round)),
            total=Judgment.objects.counted().filter(assignment__hit__round=round).count(),
            codes=max(len(images.ids) * len(captions.ids) * len(KINDS), 1),
            workers=pd.Index(pseudonyms),
            levels=LEVELS,
            kinds=np.array([[level in RIGHT.get(kind, LEVELS) for level in LEVELS] for kind in KINDS]),
            kind_of=lambda codes: codes % len(KINDS),
        ),
        images,
        captions,
    )
