"""Replays of a finished round: its scores and cost, had it selected, repeated or counted judgments in another way."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from math import ceil
from typing import Annotated, Any

import numpy as np
from django import forms

from core.errors import CounterpartError
from core.parameters import Parameters, ShareField, choices
from core.progress import Progress, silent
from core.seeds import SeedField
from core.text import counted
from counterpart_statistics.aggregation import Method
from counterpart_statistics.auditing.replay_effects import ModelScores, Spread, effects_of, scores_of
from counterpart_statistics.estimation import METRICS, Recall
from counterpart_statistics.pair_codes import Ids, codes_of
from counterpart_statistics.selection.drawn_votes import Wholes, draw_votes, matches_in
from counterpart_statistics.selection.selection_replay import Step, knowing, selection_steps
from evaluation.analyses import plain
from evaluation.asking.greedy_rounds import BATCH
from evaluation.auditing.whole_queries import check_judged
from evaluation.designing.finished_rounds import FinishedRound
from hits.judge_designs import JUDGES, JudgeDesign, audited_queries, queries_of
from hits.rounds.round_parameters import PackParameters
from mitl.models import Direction

SCORED = METRICS[:3]
ASKED = ("queries", "pairs", "judgments", "hits", "cost", "matches", "recall")
"""The figures of a replay that say what was asked and found."""
LEVEL = 0.95
"""Confidence of the intervals, which are of what judging all queries of the round would say."""
ESTIMATED = {"estimated_recall": "value", "recall_low": "low", "recall_high": "high"}
"""What the audit of a replay says of its recall, by the attributes of ``Recall``."""


class WhatIfParameters(Parameters):
    """Under which policy a round is replayed."""

    judge: Annotated[
        str,
        forms.ChoiceField(
            required=False,
            choices=[("", "all of them"), *choices(*JUDGES)],
            help_text="which pairs are asked, as of pack (default: each policy, side by side)",
        ),
    ] = ""
    audit_share: Annotated[
        float | None,
        ShareField(help_text="share of the queries that an audit judges whole (default: as of pack)"),
    ] = None
    replication: Annotated[
        int | None,
        forms.IntegerField(
            required=False, min_value=1, help_text="votes of each pair, drawn from the round's (default: all of them)"
        ),
    ] = None
    aggregation: Annotated[Method, "how the votes become the verdicts that are scored"] = "majority"
    seed: Annotated[int, SeedField(help_text="seed of the draws of the first replay; the next ones count from it")] = 0
    replays: Annotated[
        int,
        forms.IntegerField(min_value=1, max_value=1000, help_text="replays of a policy that draws queries or votes"),
    ] = 5


@dataclass(frozen=True)
class Replayed:
    """One replay of one policy.

    Attributes:
        packed: codes of the pairs that are asked, those of the audit and of each batch by themselves.
        queries: that are judged whole, of all directions; the design of first hits counts none.
        cost: US dollars, in HITs, with reward and fees of the round; without further votes on single pairs, which are
            among the judgments where the round had some.
        matches: that its verdicts find, without those known beforehand.
        recall: share of the round's matches that are among them.
        estimated: what its audit says of the recall at the end; None without an audit, and of too few queries.
    """

    judge: str
    seed: int
    packed: tuple[Ids, ...]
    queries: int
    judgments: int
    hits: int
    cost: Decimal
    matches: int
    recall: float
    estimated: Recall | None
    scores: tuple[ModelScores, ...]

    @property
    def pairs(self) -> int:
        return sum(map(len, self.packed))


def what_if(
    finished: FinishedRound, given: WhatIfParameters, *, progress: Progress = silent
) -> dict[str, tuple[Replayed, ...]]:
    """Return the replays of the chosen policy, or of each. A policy that draws nothing is replayed once.

    Batches of likely matches are chosen by majority, as in a real round; ``given.aggregation`` decides what is scored.
    Raises CounterpartError for more votes than the round has, and an audit of fewer than two queries.
    """
    own = finished.round.replication
    if given.replication and given.replication > own:
        raise CounterpartError(
            f"Round {finished.round} asks {counted(own, 'answer set')} of each HIT: a replay cannot draw "
            f"{given.replication}. Choose --replication {own} or less."
        )
    draws_votes = (given.replication or own) < own
    found = {}
    for judge in [given.judge] if given.judge else JUDGES:
        seeds = range(given.seed, given.seed + (given.replays if draws_votes or "audit" in judge else 1))
        replays = []
        for number, seed in enumerate(seeds):
            progress(f"replaying {judge}", number, len(seeds))
            replays.append(replay(finished, judge, given, seed))
        found[judge] = tuple(replays)
    return found


def replay(finished: FinishedRound, judge: str, given: WhatIfParameters, seed: int) -> Replayed:
    """Return what the round would have brought under one policy with the draws of one seed."""
    round = finished.round
    votes = finished.votes
    wholes = finished.wholes
    replication = given.replication or round.replication
    if replication < round.replication:
        votes = draw_votes(finished.votes, replication, seed)
        wholes = finished.deciding(wholes, votes, "majority", seed)
    share = given.audit_share if "audit" in judge else None
    design = PackParameters(judge=judge, audit_share=share).judge_design(queries_of(round.pool))
    packed, last = _asked(finished, wholes, design, seed)
    known = last.wholes
    if given.aggregation != "majority":
        judged = np.isin(votes["code"], np.concatenate(packed)) | (votes["control"] != "")
        known = finished.deciding(known, votes[judged], given.aggregation, seed)
    hits = sum(ceil(len(codes) / round.design["candidates"]) for codes in packed)
    matches = matches_in(known)
    true = finished.matches
    estimated = design.judge != "first-hits"
    return Replayed(
        judge,
        seed,
        packed,
        queries=sum(int(one.audited.sum()) for one in known) if estimated else 0,
        judgments=int(np.isin(votes["code"][votes["control"] == ""], np.concatenate(packed)).sum()),
        hits=hits,
        cost=round.seat_cost * hits * replication,
        matches=len(matches),
        recall=float(np.isin(true, matches).mean()) if len(true) else 1.0,
        estimated=last.likely.recall if design.judge == "audit" else None,
        scores=tuple(scores_of(finished.wholes, known, SCORED, estimated=estimated)),
    )


def savings_of(replays: Sequence[Replayed]) -> dict[str, Spread]:
    """Return what the replays of a policy asked and found."""
    asked = {name: Spread.of(getattr(one, name) for one in replays) for name in ASKED}
    recalls = [one.estimated for one in replays if one.estimated]
    return asked | {name: Spread.of(getattr(one, part) for one in recalls) for name, part in ESTIMATED.items()}


def policy_row(judge: str, replays: Sequence[Replayed]) -> dict[str, Any]:
    """Return what ``plan --replay --json`` prints of a policy; the scores are those of the first replay."""
    return plain(
        {
            "judge": judge,
            "replays": len(replays),
            "question": "these",
            "level": LEVEL,
            **{name: spread.row() for name, spread in savings_of(replays).items()},
            "effects": [effect.row() for effect in effects_of([one.scores for one in replays])],
            "scores": [one.row() for one in replays[0].scores],
        }
    )


def _asked(finished: FinishedRound, wholes: Wholes, design: JudgeDesign, seed: int) -> tuple[tuple[Ids, ...], Step]:
    """Return the pairs that a policy asks, by HITs that are packed together, and the last step of it."""
    round = finished.round
    if design.judge == "all":
        return (finished.asked,), Step(finished.asked, tuple(wholes))
    if design.judge == "first-hits":
        first = codes_of(round.pool.proposals.filter(rank=1).values_list("image_id", "caption_id").distinct())
        asked = np.intersect1d(finished.asked, first)
        return (asked,), Step(asked, knowing(wholes, asked))
    drawn = audited_queries(round.pool, design, seed)
    drawing = [one.drawing(drawn[Direction(one.direction)]) for one in wholes]
    for one in drawing:
        check_judged(one, design)
    whole = [one.queries.codes[one.drawn] for one in drawing]
    packed = [np.intersect1d(finished.asked, np.concatenate([codes.ravel() for codes in whole]))]
    steps = selection_steps(drawing, repeat(BATCH * round.design["candidates"]), stop_recall=design.stop_recall)
    last = next(steps)
    while design.greedy and not last.likely.enough and (step := next(steps, None)):
        packed.append(step.asked)
        last = step
    return tuple(packed), last
