"""The votes of a round as numbers in bounded memory, as the aggregation takes them."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import QuerySet
from numpy.typing import NDArray

from annotation.models import Assignment, Worker
from annotation.work.judgments import answers_in
from core.progress import Progress, silent
from counterpart_statistics.aggregation import LEVELS, RIGHT, ControlAnswers
from counterpart_statistics.aggregation.sorted_votes import VOTE, sort_votes
from counterpart_statistics.aggregation.votes import Codes, Votes
from dataset.judged.answer_tables import control_answers, vote_parts
from hits.models import Item, Round

CHUNK = 1 << 18  # rows in memory at a time
KINDS = ("", "negative", "positive")
"""What an item may be, in the order of ``conclude``: a candidate, or a control of a polarity."""


@dataclass(frozen=True)
class Keys:
    """The keys of some rows, ascending, and their ids in the same order."""

    keys: "pd.Index[str]"
    ids: Codes
    _by_id: Codes

    @classmethod
    def of(cls, rows: "QuerySet[Any, tuple[int, str]]") -> "Keys":
        """Read the keys of ``rows``, (id, key)."""
        pairs = rows.order_by().iterator(chunk_size=20_000)
        parts = [pd.Series([], index=pd.Index([], dtype=np.int64), dtype="str")]
        while chunk := dict(islice(pairs, CHUNK)):
            parts.append(pd.Series(chunk, dtype="str"))
        keys = pd.concat(parts).sort_values()
        ids = keys.index.to_numpy()
        return cls(pd.Index(keys), ids, np.argsort(ids))

    def places(self, ids: Codes) -> Codes:
        """Return the places of the rows with these ids among the keys."""
        return self._by_id[np.searchsorted(self.ids, ids, sorter=self._by_id)]


@dataclass(frozen=True)
class PairCodes:
    """A number for each pair as a candidate, and as a control of each polarity: in the order of ``conclude``."""

    images: Keys
    captions: Keys

    def __len__(self) -> int:
        return len(self.images.ids) * len(self.captions.ids) * len(KINDS)

    def of(self, images: Codes, captions: Codes) -> Codes:
        """Return the codes of candidates by the places of images and captions; those of controls follow."""
        return (images * len(self.captions.ids) + captions) * len(KINDS)

    def places(self, codes: Codes) -> tuple[Codes, Codes]:
        """Return the places of images and captions."""
        image, caption = np.divmod(codes // len(KINDS), len(self.captions.ids))
        return image, caption

    def added_to(self, proposals: pd.DataFrame) -> pd.DataFrame:
        """Return proposals with the codes of the candidates as ``item``."""
        image = self.images.keys.get_indexer(pd.Index(proposals["image"]))
        caption = self.captions.keys.get_indexer(pd.Index(proposals["caption"]))
        return proposals.assign(item=self.of(image, caption))


def read_round(round: Round, *, progress: Progress = silent) -> tuple[Votes, PairCodes, ControlAnswers]:
    """Return the counted votes of a round, what the codes of their items mean, and the answers to controls of all
    submitted sets."""
    progress("reading judgments", 0, None)
    collection = round.pool.collection
    images, captions = (Keys.of(side.values_list("pk", "key")) for side in (collection.images, collection.captions))
    codes = PairCodes(images, captions)
    people = Worker.objects.filter(assignments__hit__round=round)
    workers = Keys.of(people.values_list("pk", "pseudonym").distinct())
    controls = Item.objects.filter(hit__round=round, control__isnull=False)
    polarities = pd.Series(dict(controls.values_list("pk", "control__polarity")), dtype="str")
    kinds = polarities.map(KINDS.index)
    accepted = Assignment.objects.filter(hit__round=round, state=Assignment.State.ACCEPTED).with_hit()
    counted = pd.DataFrame.from_records(accepted.order_by().values_list("pk", "worker"), columns=["set", "worker"])
    answers, sets = ControlAnswers.of(control_answers(round), counted)

    def coded(rows: NDArray) -> NDArray:
        votes = np.zeros(len(rows), VOTE)
        candidates = codes.of(images.places(rows["image"]), captions.places(rows["caption"]))
        votes["code"] = candidates + pd.Series(rows["item"]).map(kinds).fillna(0).to_numpy(np.int64)
        votes["worker"] = workers.places(rows["worker"])
        votes["set"] = sets.get_indexer(pd.Index(rows["answer_set"]))
        votes["label"] = rows["level"] - LEVELS[0]
        return votes

    votes = sort_votes(
        map(coded, vote_parts(round, CHUNK)),
        total=answers_in(round).counted().count(),
        codes=max(len(codes), 1),
        workers=workers.keys,
        levels=LEVELS,
        kinds=np.array([[level in RIGHT.get(kind, LEVELS) for level in LEVELS] for kind in KINDS]),
        kind_of=lambda items: items % len(KINDS),
    )
    return votes, codes, answers
