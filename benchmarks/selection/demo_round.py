"""The demo's round as a testbed: pooled by the product, every pair with its level of the known truth."""

from dataclasses import replace

import numpy as np

from corpus.models import Match
from counterpart_statistics.pair_codes import pair_codes
from counterpart_statistics.selection.pooled_queries import WholeQueries
from demo.collection import TRUTH, make_demo_collection
from demo.demo_annotators import add_demo_annotators
from demo.walkthrough import CASCADE, CASCADE_DEPTH, CEILING, COLLECTION, JUDGED, REWARD
from evaluation.auditing.estimation_inputs import load_pooled_queries
from hits.models import Round
from hits.question import Level
from hits.rounds.pipeline import run_pipeline
from hits.rounds.round_parameters import RoundParameters


def demo_round(*, images: int = 90, captions: int = 110, seed: int = 1) -> list[WholeQueries]:
    """Plan the demo's round in the present database, and return its directions as if all its pairs were judged."""
    collection = make_demo_collection(COLLECTION)
    parameters = RoundParameters(
        round=JUDGED,
        collection=COLLECTION,
        annotators=tuple(annotator.name for annotator in add_demo_annotators()),
        images=images,
        captions=captions,
        reward=REWARD,
        ceiling=CEILING,
        cascade=CASCADE,
        cascade_depth=CASCADE_DEPTH,
        seed=seed,
    )
    run_pipeline(parameters, actor="benchmark")
    round = Round.objects.named(JUDGED)
    truth = Match.objects.filter(collection=collection, source=TRUTH)
    *pairs, grades = np.array(truth.values_list("image_id", "caption_id", "grade")).T
    wholes = []
    for direction, queries in load_pooled_queries(round.pool, None).items():
        levels = np.where(queries.asked, float(Level.NO), queries.levels)
        for level in (Level.YES, Level.PARTIALLY_YES, Level.MOSTLY_NO):
            levels[queries.asked & np.isin(queries.codes, pair_codes(*pairs)[grades == level])] = level
        labelled, nobody = replace(queries, levels=levels), np.full(len(levels), -1)
        whole = WholeQueries(
            round.name, direction, round.seed, labelled, nobody, frozenset(queries.models), np.zeros(levels.shape, bool)
        )
        wholes.append(whole)
    return wholes
