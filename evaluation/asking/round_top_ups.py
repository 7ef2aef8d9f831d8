"""The acts that top up a round: ask first items of models, continue an audit, ask likely matches, reject unlikely
pairs after a sample; and those of ``judging_again``, which ask further votes.

Each act declares its parameters and plans HITs. Nothing is written until ``add_planned`` adds them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any

import numpy as np
import pandas as pd
from django import forms

from core.errors import CounterpartError, some_of
from core.parameters import NamesField, Option, ShareField
from core.progress import Progress, silent
from core.seeds import derived_seed
from core.text import counted
from counterpart_statistics.auditing.model_scores import model_estimates
from counterpart_statistics.judged import PAIR
from counterpart_statistics.pair_codes import Ids, codes_of, ids_in
from counterpart_statistics.selection.automatic_zone import MOST, SAMPLE, zone_of
from counterpart_statistics.selection.likely_matches import Batch, LikelyMatches
from counterpart_statistics.selection.pooled_queries import WholeQueries
from dataset.judged.answer_tables import with_keys
from evaluation.asking.judging_again import JudgeAgain, JudgeTwice
from evaluation.asking.planned_top_ups import PlannedTopUp, TopUpAct, require_addable
from evaluation.auditing.asked_pairs import added_pairs, asked_pairs, of_drawn_queries, unasked_pairs
from evaluation.auditing.whole_queries import whole_queries
from evaluation.scores.model_rankings import places_of_run, registered_runs
from hits.judge_designs import JudgeDesign
from hits.models import Round, TopUp
from hits.rounds.top_ups import design_of, new_top_up


class AskModels(TopUpAct):
    """Ask the first items of models: as deep as the pool is, of the audited queries, or of all queries where the round
    asks all pairs; first hits alone where it asks those."""

    models: Annotated[
        tuple[str, ...],
        NamesField(
            required=False,
            help_text="registered models whose first items are asked (default: all with items that were not asked)",
        ),
    ] = ()

    def plan(self, round: Round, *, progress: Progress = silent) -> PlannedTopUp:
        require_addable(round)
        runs = registered_runs(round.pool)
        if not runs:
            raise CounterpartError(
                f"No model is registered for the pool of round {round}. Register rankings with --rankings FILE, or on "
                "the leaderboard."
            )
        unknown = [name for name in self.models if name not in runs]
        if unknown:
            raise CounterpartError(
                f"{counted(len(unknown), 'model is', 'models are')} not registered for the pool: {some_of(unknown)}; "
                f"there are {some_of(list(runs))}."
            )
        chosen = {name: run for name, run in runs.items() if name in (self.models or runs)}
        progress("reading rankings", 0, None)
        places = {name: places_of_run(run, round.pool.top_k) for name, run in chosen.items()}
        unasked = unasked_pairs(round, design_of(round), places)
        asked = {name: run for name, run in chosen.items() if len(unasked[name])}
        return PlannedTopUp.of(
            new_top_up(round, rankings={name: run.sha256 for name, run in asked.items()}),
            np.concatenate(list(unasked.values())),
            nothing=f"Round {round} asks all pairs of {some_of(list(chosen))}: nothing to add.",
            figures={"models": ", ".join(asked)},
        )


class ContinueAudit(TopUpAct):
    """Ask the pairs of the next audited queries: those in the pool, and first items of models of earlier top-ups."""

    audit_share: Annotated[
        float,
        ShareField(
            required=True, help_text="continue the audit to this share of the queries, in the order of its draw"
        ),
    ]

    def plan(self, round: Round, *, progress: Progress = silent) -> PlannedTopUp:
        require_addable(round)
        design = design_of(round)
        if design.judge != "audit":
            raise CounterpartError(f"Round {round} asks {design.judge} pairs: only an audit can be continued.")
        if self.audit_share <= design.share:
            raise CounterpartError(
                f"The audit of round {round} judges {design.share:.0%} of the queries. Continue it to more, up to 1."
            )
        pooled = codes_of(round.pool.proposals.order_by().values_list("image_id", "caption_id").distinct())
        longer = JudgeDesign("audit", self.audit_share)
        return PlannedTopUp.of(
            new_top_up(round, audit_share=self.audit_share),
            np.setdiff1d(of_drawn_queries(round, longer, np.union1d(pooled, added_pairs(round))), asked_pairs(round)),
            nothing=f"The next queries of round {round} have no further pairs: nothing to add.",
            figures={"audit_share": self.audit_share},
        )


@dataclass(frozen=True, kw_only=True)
class LikelyBatch(PlannedTopUp):
    """A batch of likely matches, with the probabilities and the width of the widest interval of mAP@R before it."""

    batch: Batch
    likely: LikelyMatches
    width: float


class AskLikely(TopUpAct):
    """Ask the most likely matches, by probabilities that are learned from the audited queries."""

    likely: Annotated[
        int,
        forms.IntegerField(
            min_value=1,
            label="Likely matches",
            help_text="number of HITs with the pairs that are most likely matches; the audit stays the guard of the "
            "scores",
        ),
        Option(metavar="HITS"),
    ]

    def plan(self, round: Round, *, progress: Progress = silent) -> LikelyBatch:
        require_addable(round)
        queries = _judged_queries(round, progress)
        likely = LikelyMatches.of(queries, stop_recall=design_of(round).stop_recall)
        batch = likely.next_batch(self.likely * round.design["candidates"])
        width = _widest_interval(queries)
        return LikelyBatch.of(
            new_top_up(round, opened=_keys(round, batch.audited)),
            batch.asked,
            nothing=f"Every pair of round {round} is judged: nothing to add.",
            note=f": about {batch.matches:,.0f} to expect by the probabilities that the audit taught. "
            f"{likely.enough or likely.said} The widest interval of mAP@R is {width:.3f} wide",
            figures=_batch_figures(batch, likely, width),
            batch=batch,
            likely=likely,
            width=width,
        )


class RejectUnlikely(TopUpAct):
    """Reject unlikely pairs once, by probabilities learned from the audited queries, after a sample is judged."""

    reject_below: Annotated[
        float,
        forms.FloatField(
            min_value=0.001,
            max_value=MOST,
            label="Reject automatically up to",
            help_text=f"reject the unjudged pairs whose probability of a match is at most this, at most {MOST}, once a "
            f"random sample of {SAMPLE} of them is judged; versions mark them and state how many matches they may hide",
        ),
        Option(metavar="P"),
    ]

    def plan(self, round: Round, *, progress: Progress = silent) -> PlannedTopUp:
        require_addable(round)
        if round.top_ups.exclude(rejected__isnull=True).exists():
            raise CounterpartError(f"Round {round} already rejects pairs; their sample is fixed.")
        candidates = round.design["candidates"]
        seed = derived_seed(round.seed, round.top_ups.count() + 1)
        sample = ceil(SAMPLE / candidates) * candidates
        likely = LikelyMatches.of(_judged_queries(round, progress))
        try:
            zone = zone_of(likely, below=self.reject_below, sample=sample, seed=seed)
        except ValueError as error:
            raise CounterpartError(str(error)) from error
        pairs = _keys(round, zone.pairs)
        return PlannedTopUp.of(
            new_top_up(round, rejected={"below": zone.below, "pairs": pairs}),
            zone.asked,
            note=": once it is judged, the others count as no match in versions, marked as automatic, if it proves "
            "that at most 5% of them match",
            figures={"reject_below": zone.below, "pairs_to_reject": len(pairs)},
        )


ACTS: tuple[type[TopUpAct], ...] = (AskModels, ContinueAudit, AskLikely, RejectUnlikely, JudgeAgain, JudgeTwice)


def chosen_act(values: Mapping[str, Any]) -> TopUpAct:
    """Return the act whose parameters have a value: all models are asked where no parameter has one."""
    chosen = [act for act in ACTS if any(values.get(name) for name in act.fields())] or [AskModels]
    if len(chosen) > 1:
        labels = [field.label or name for act in chosen for name, field in act.fields().items()]
        raise CounterpartError(f"Choose one of {some_of(labels)}. Top up one after the other.")
    (act,) = chosen
    return act(**{name: values[name] for name in act.fields() if name in values})


def _judged_queries(round: Round, progress: Progress) -> list[WholeQueries]:
    """Return the queries of an audit that is judged, with every top-up of new pairs."""
    if design_of(round).judge != "audit":
        raise CounterpartError(f"Round {round} is not an audit, which the probabilities of matches are learned from.")
    if TopUp.objects.unfinished().filter(round=round).exists():
        raise CounterpartError(f"The last top-up of round {round} is not judged yet. Plan the next one after it.")
    queries = list(whole_queries(round, progress=progress))
    if unjudged := sum(int((one.drawn & ~one.audited).sum()) for one in queries):
        raise CounterpartError(
            f"Verdicts are missing of {counted(unjudged, 'audited query', 'audited queries')} in round {round}. Likely "
            "matches follow once the audit is judged."
        )
    return queries


def _batch_figures(batch: Batch, likely: LikelyMatches, width: float) -> dict[str, Any]:
    return likely.row() | {"widest_interval": round(width, 4), "matches_to_expect": round(batch.matches, 1)}


def _keys(round: Round, pairs: Ids) -> list[list[str]]:
    table = pd.DataFrame(dict(zip(PAIR, ids_in(pairs), strict=True)))
    keys: list[list[str]] = with_keys(table, round.pool.collection).to_numpy().tolist()
    return keys


def _widest_interval(queries: Sequence[WholeQueries]) -> float:
    """Return the width of the widest interval of mAP@R, of any model and direction, as the audit guards it."""
    estimates = [one.estimate for whole in queries for one in model_estimates(whole, ["mAP@R"])]
    return max(estimate.high - estimate.low for estimate in estimates)
