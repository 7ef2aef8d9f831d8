"""The judged pairs of a version, the annotators that proposed them and their ranks by every annotator."""

from typing import Annotated

import numpy as np

from core.errors import CounterpartError
from core.parameters import POSITIONAL, Option, Parameters
from corpus.matches import sources_of
from corpus.models import Match
from counterpart_metrics import Qrels
from counterpart_statistics.judged.judged_lists import JudgedLists
from counterpart_statistics.pair_codes import pair_codes
from counterpart_statistics.selection.pooled_queries import gains_of
from dataset.judged.answer_tables import read_table, sides_of
from dataset.judged.released_tables import verdicts_of_version
from dataset.models import Version
from dataset.versions.version_files import query_ids
from evaluation.scores.model_rankings import rankings_of
from evaluation.scores.runs import latest_retrievals
from mitl.models import Direction, Proposal


class JudgedVersionParameters(Parameters):
    """A version, and the source of all its matches where that is known."""

    name: Annotated[str, "a released version with rounds", POSITIONAL, Option(metavar="VERSION")]
    truth: Annotated[
        str | None, "compare with all matches of this source, if they are known", Option(metavar="SOURCE")
    ] = None


def judged_lists(version: Version) -> dict[Direction, JudgedLists]:
    """Return the judged pairs of each direction that has any, a reviewer's level before the votes'.

    Raises CounterpartError for a version without rounds or judged pairs, and if files are missing or were changed.
    """
    latest = latest_retrievals(version)
    verdicts = verdicts_of_version(version)
    if not latest or verdicts.empty:
        raise CounterpartError(
            f"Version {version} has no pairs that annotators proposed and people judged. Choose one with rounds."
        )
    rankings = {name: rankings_of(retrieval) for name, retrieval in latest.items()}
    columns = {"image_id": "image", "caption_id": "caption", "annotator_id": "annotator"}
    rows = read_table(Proposal.objects.filter(pool__rounds__versions=version).order_by(), columns)
    codes = pair_codes(rows["image"], rows["caption"])
    judged = {}
    for direction, queries in query_ids(version).items():
        asking, answering = sides_of(direction)
        kept = verdicts[verdicts[asking].isin(queries)].sort_values([asking, answering])
        if kept.empty or any(direction not in one for one in rankings.values()):
            continue
        own = pair_codes(kept["image"], kept["caption"])
        proposed = [np.isin(own, codes[rows["annotator"] == one.annotator_id]) for one in latest.values()]
        judged[direction] = JudgedLists(
            tuple(latest),
            Qrels.of_pairs(kept[asking], kept[answering], gains_of(kept["level"]), every=queries),
            np.stack(proposed, axis=1),
            {name: one[direction] for name, one in rankings.items()},
        )
    return judged


def true_qrels(version: Version, source: str, direction: Direction) -> Qrels:
    """Return all matches of a source between the version's queries and the gallery, with the gains of their levels (1
    for a match without a level).

    Raises CounterpartError for a source without matches on them.
    """
    asking, answering = sides_of(direction)
    queries = query_ids(version)[direction]
    gallery = version.collection.captions if direction == Direction.IMAGE_TO_CAPTION else version.collection.images
    matches = Match.objects.filter(
        **{"collection": version.collection, "source": source, f"{answering}__in": gallery.gallery()}
    )
    rows = np.array(list(matches.order_by().values_list(asking, answering, "grade")), float).reshape(-1, 3)
    rows = rows[np.isin(rows[:, 0], queries)]
    if not len(rows):
        known = ", ".join(sources_of(version.collection))
        raise CounterpartError(f"Source {source!r} has no matches on the queries of {version}. Sources: {known}.")
    asked, items = rows[:, :2].astype(np.int64).T
    return Qrels.of_pairs(asked, items, np.nan_to_num(gains_of(rows[:, 2]), nan=1.0), every=queries)
