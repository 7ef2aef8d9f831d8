"""The pairs of a pool with their verdicts, as the padded arrays that ``counterpart_statistics.estimation`` takes."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from core.errors import CounterpartError
from core.progress import Progress, silent
from corpus.models import Collection
from counterpart_metrics import Rankings
from counterpart_statistics.judged import PAIR
from counterpart_statistics.pair_codes import NO_PAIRS, Ids, ids_in
from counterpart_statistics.selection.padded_pairs import padded_queries
from counterpart_statistics.selection.pooled_queries import GAINS, PooledQueries
from dataset.judged.answer_tables import read_table, with_ids
from dataset.versions.contents import Contents, Policies, gather_contents, queries_of
from dataset.versions.merging import MergeTerm, check_sources, parse_merge
from dataset.versions.review_rows import Reviewed, review_rows
from evaluation.scores.model_rankings import first_places
from hits.question import Level
from mitl.models import Direction, Pool
from mitl.search.gallery import load_lists

LONGEST = 1_000
"""Places of a model's lists that are read: no query has as many matches."""


def load_pooled_queries(
    pool: Pool,
    votes: pd.DataFrame | None,
    *,
    rankings: Mapping[str, Mapping[Direction, Rankings]] | None = None,
    added: Ids = NO_PAIRS,
    merge: str = "original",
    progress: Progress = silent,
) -> dict[Direction, PooledQueries]:
    """Read the pairs of a pool, with the verdicts on them and its models' rankings, in each direction that was pooled.

    Args:
        votes: as ``votes_of`` of ``dataset.judged`` returns them; verdicts are by majority. None: nothing was judged.
        rankings: by model, with the pool's annotators (default: ``first_places``).
        added: codes of the pairs that a round asks in addition to the pool's.
        merge: sources whose matches count without a judgment, as ``release`` takes them; that which the pool goes
            beyond is one of them.

    Raises CounterpartError for an unknown source and a pool without lists.
    """
    terms = tuple(parse_merge(merge))
    if pool.beyond and pool.beyond not in {term.source for term in terms}:
        terms += (MergeTerm(pool.beyond),)
    check_sources(pool.collection, terms)
    reviewed = Reviewed.of(review_rows(pool.collection))
    contents = gather_contents(
        pool.collection,
        queries=queries_of(pool.sample),
        votes=votes,
        reviewed=reviewed,
        policies=Policies(merge=terms),
    )
    retrievals = pool.retrievals.select_related("annotator").order_by("annotator__name")
    lists = {retrieval.annotator.name: load_lists(retrieval, pool.sample) for retrieval in retrievals}
    if not lists:
        raise CounterpartError(f"Pool {pool} has no lists of annotators, so there is nothing to score.")
    progress("reading rankings", 0, None)
    models = rankings or first_places(pool, LONGEST)
    table = _judged_and_asked(pool, contents, terms, added, reviewed)
    found = {}
    for direction in Direction:
        own = {name: one[direction] for name, one in lists.items() if direction in one}
        if direction.value in pool.directions and len(own) == len(lists):
            ranked = {name: one[direction] for name, one in models.items() if direction in one}
            queries = _queries_of(direction, contents, pool.collection)
            ids = queries["id"].to_numpy(np.int64)
            scores = {name: one.of(ids).scores for name, one in own.items()}
            found[direction] = padded_queries(direction, queries, table, ranked, scores)
    return found


def _judged_and_asked(
    pool: Pool, contents: Contents, terms: Iterable[MergeTerm], added: Ids, reviewed: Reviewed
) -> pd.DataFrame:
    """Return the pairs that are judged, known or asked, by database ids: ``level``, and the gain of those that are
    ``known`` beforehand; NaN if it is unknown."""
    free = {pair for term in terms for pair in contents.by_source[str(term)]} & contents.positives
    known = [(*pair, float(Level.YES), GAINS[0]) for pair in free]
    judged = [(*pair, float(one.level), np.nan) for pair, one in contents.verdicts.items() if pair not in free]
    table = with_ids(pd.DataFrame(known + judged, columns=[*PAIR, "level", "known"]), pool.collection)
    proposed = read_table(pool.proposals.order_by().distinct(), {"image_id": "image", "caption_id": "caption"})
    asked = pd.concat([proposed, pd.DataFrame(dict(zip(PAIR, ids_in(added), strict=True)))])
    for column, rows, excluded in (
        ("image", pool.collection.images, reviewed.images),
        ("caption", pool.collection.captions, reviewed.captions),
    ):
        asked = asked[~asked[column].isin(list(rows.filter(key__in=excluded).values_list("pk", flat=True)))]
    return pd.concat([table, asked]).drop_duplicates(PAIR).astype({"level": float, "known": float})


def _queries_of(direction: Direction, contents: Contents, collection: Collection) -> pd.DataFrame:
    """Return the queries of a direction, ascending by ``id``, with their ``key`` and the id of their own ``image``."""
    if direction == Direction.IMAGE_TO_CAPTION:
        rows = [(pk, key, pk) for pk, key in collection.images.values_list("pk", "key")]
        keys = contents.queries.images
    else:
        rows = list(collection.captions.values_list("pk", "key", "image_id"))
        keys = contents.queries.captions
    return pd.DataFrame(sorted(row for row in rows if row[1] in keys), columns=["id", "key", "image"])
