"""The likely matches of an audit, as its rounds of them take them."""

from counterpart_statistics.selection.likely_matches import LikelyMatches
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Round
from hits.rounds.top_ups import design_of


def likely_matches(round: Round) -> LikelyMatches:
    return LikelyMatches.of([*whole_queries(round)], stop_recall=design_of(round).stop_recall)
