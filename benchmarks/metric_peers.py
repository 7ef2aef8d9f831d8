"""counterpart-metrics and its peers ranx, pytrec_eval and ir_measures: python -m benchmarks.metrics --peers

One process, all in turn, on the same lists of 100 of COCO's 5,000 test images and 25,000 captions, both directions, and
on those of ECCV Caption's queries. Figures that all have: R@1, R@5, R@10, R-Precision, nDCG@10 and MRR. *Ready*: from
what each program reads fastest, made before: our arrays, ranx's Run and Qrels and the typed lists under them,
pytrec_eval's and ir_measures' evaluator with dictionaries of scores. *Plain*: from what a user holds: lists of whole
numbers in dictionaries for ours, dictionaries of scores by text for the others, whose arrays or evaluator are made
within the time. Medians of processor seconds, one thread each; figures must agree to 1e-12. mAP@R, which no peer has,
is compared with trec_eval's average precision cut at the R of each query.

The peers are no requirements: pip install ranx==0.3.21 pytrec-eval-terrier==0.5.11 ir-measures==0.4.3
"""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from time import perf_counter, process_time
from typing import Any

import ir_measures
import numpy as np
import pytrec_eval
import ranx  # no requirement

from counterpart_metrics import ALL_METRICS, METRICS, Qrels, Rankings, find, mean_over_queries, positives

DEPTH = 100
CLOSE = 1e-12
# ours → ranx, pytrec_eval, ir_measures
NAMES = {
    "R@1": ("hit_rate@1", "success_1", ir_measures.Success @ 1),
    "R@5": ("hit_rate@5", "success_5", ir_measures.Success @ 5),
    "R@10": ("hit_rate@10", "success_10", ir_measures.Success @ 10),
    "R-Precision": ("r-precision", "Rprec", ir_measures.Rprec),
    "nDCG@10": ("ndcg@10", "ndcg_cut_10", ir_measures.nDCG @ 10),
    "MRR": ("mrr", "recip_rank", ir_measures.RR),
}
RANX, TREC, IR = (list(names) for names in zip(*NAMES.values(), strict=True))
Act = Callable[[], list[float]]


@dataclass
class Case:
    """One direction: rankings and matches as arrays, and as the dictionaries that users hold."""

    rankings: Rankings
    qrels: Qrels

    @cached_property
    def lists(self) -> dict[int, list[int]]:
        return dict(zip(self.rankings.queries.tolist(), self.rankings.items.tolist(), strict=True))

    @cached_property
    def matches(self) -> dict[int, list[int]]:
        parts = np.split(self.qrels.items, self.qrels.starts[1:-1])
        return {query: part.tolist() for query, part in zip(self.qrels.queries.tolist(), parts, strict=True)}

    @cached_property
    def run(self) -> dict[str, dict[str, float]]:
        scores = np.arange(DEPTH, 0, -1.0).tolist()
        return {str(q): dict(zip(map(str, items), scores, strict=True)) for q, items in self.lists.items()}

    @cached_property
    def judged(self) -> dict[str, dict[str, int]]:
        return {str(q): dict.fromkeys(map(str, items), 1) for q, items in self.matches.items()}


def ours(rankings: Rankings, qrels: Qrels) -> list[float]:
    found = find(rankings, qrels)
    return [mean_over_queries(ALL_METRICS[name](found)).value for name in NAMES]


def by_ranx(judged: Any, run: Any) -> list[float]:
    scores = ranx.evaluate(judged, run, RANX, save_results_in_run=False, threads=1)
    return [float(scores[name]) for name in RANX]


def by_trec(evaluator: Any, run: dict) -> list[float]:
    scores = evaluator.evaluate(run).values()
    return [float(np.mean([one[name] for one in scores])) for name in TREC]


def by_ir_measures(evaluator: Any, run: dict) -> list[float]:
    scores = evaluator.calc_aggregate(run)
    return [scores[name] for name in IR]


def ready(case: Case) -> dict[str, Act]:
    """Return what scores a case from what each program reads fastest."""
    judged, run = ranx.Qrels(case.judged), ranx.Run(case.run)
    typed = judged.to_typed_list(), run.to_typed_list()
    trec = pytrec_eval.RelevanceEvaluator(case.judged, TREC)
    measures = ir_measures.evaluator(IR, case.judged)
    return {
        "ours": lambda: ours(case.rankings, Qrels(*(getattr(case.qrels, n) for n in Qrels.__dataclass_fields__))),
        "ranx": lambda: by_ranx(judged, run),
        "ranx, typed lists": lambda: by_ranx(*typed),
        "pytrec_eval": lambda: by_trec(trec, case.run),
        "ir_measures": lambda: by_ir_measures(measures, case.run),
    }


def plain(case: Case) -> dict[str, Act]:
    """Return what scores a case from a user's dictionaries."""
    return {
        "ours": lambda: ours(Rankings.of(case.lists), Qrels.of(case.matches)),
        "ranx": lambda: by_ranx(ranx.Qrels(case.judged), ranx.Run(case.run)),
        "pytrec_eval": lambda: by_trec(pytrec_eval.RelevanceEvaluator(case.judged, TREC), case.run),
        "ir_measures": lambda: by_ir_measures(ir_measures.evaluator(IR, case.judged), case.run),
    }


def compare_peers(rankings: dict[str, Rankings], repeats: int) -> None:
    for name in ("coco-5k", "eccv"):
        cases = []
        for direction, qrels in positives(name).items():
            one = rankings[direction]
            asked = np.isin(one.queries, qrels.queries)
            cases.append(Case(Rankings(one.queries[asked], np.ascontiguousarray(one.items[asked, :DEPTH])), qrels))
        print(f"{name}: {sum(len(case.qrels.queries) for case in cases):,} queries, lists of {DEPTH}")
        for start, acts in (("ready", ready), ("plain", plain)):
            report(start, [acts(case) for case in cases], repeats)
        print(f"  mAP@R from trec_eval: {max(map(difference_of_map, cases)):.1e}", flush=True)


def report(start: str, cases: list[dict[str, Act]], repeats: int) -> None:
    """Print the seconds of every program from one start, and by how much its figures differ from ours."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in cases[0]}
    figures: dict[str, np.ndarray] = {}
    for turn in range(repeats + 1):  # the first compiles
        for name in times:
            gc.collect()
            began, clock = process_time(), perf_counter()
            figures[name] = np.array([case[name]() for case in cases])
            if turn:
                times[name].append((process_time() - began, perf_counter() - clock))
    own = median(seconds for seconds, _ in times["ours"])
    for name, measured in times.items():
        seconds, clock = (median(column) for column in zip(*measured, strict=True))
        apart = np.abs(figures[name] - figures["ours"]).max()
        if apart > CLOSE:
            raise SystemExit(
                f"{name} differs by {apart:.1e}: {dict(zip(NAMES, figures[name].T.tolist(), strict=True))}"
            )
        print(
            f"  {start} {name:18}{seconds:8.3f} s ({clock:.3f} by the clock), {seconds / own:6.1f} × ours, {apart:.0e}"
        )


def difference_of_map(case: Case) -> float:
    """Return the largest difference of a query's mAP@R from trec_eval's map_cut_k with k = R."""
    values = METRICS["mAP@R"](find(case.rankings, case.qrels))
    sizes = case.qrels.positives
    cuts = {f"map_cut_{size}" for size in np.unique(sizes).tolist()}
    theirs = pytrec_eval.RelevanceEvaluator(case.judged, cuts).evaluate(case.run)
    asked = zip(case.qrels.queries.tolist(), sizes.tolist(), values.tolist(), strict=True)
    return max(abs(value - theirs[str(query)][f"map_cut_{size}"]) for query, size, value in asked)
