"""Certainty of verdicts, and judging again: python -m benchmarks.certainty DATA [--draws N] [--demo] [--write]

Answer sets of 16 pairs and two controls count only if both controls are right. The sets are those of two public crowds
(DATA/crowd/rte and DATA/crowd/web: label.csv, truth.csv), of simulated crowds, and, with --demo, of the two rounds of
the demo whose folder VAR_DIR names.
"""

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import django
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.doc_tables import write_tables
from counterpart_statistics.aggregation import full_conclusion
from counterpart_statistics.aggregation.certainty_intervals import corrected, correction_by
from counterpart_statistics.vote_gains import best_order

PAIRS = 16  # of a set, without its two controls
LEVELS = (0.13, 0.15, 0.22, 0.5)  # of simulated pairs, as in the demo
MATCH = np.array([True, True, False, False])
Floats = NDArray[np.float64]
POLARITY = {True: "positive", False: "negative"}
VOTES = (1, 2, 3, 5)
MOST = 6  # votes of a simulated pair
REVIEWS = 60
EACH = (1, 2, 3)  # further votes on a pair of one order
CALIBRATION = ("crowd|votes|right|said|said − right|ECE|chance|log loss|held|after reviews", "|".join(["---"] * 10))
ENDS = (("low", "high"), ("low_after", "high_after"))
AGAIN = ("crowd|said|wrong|promised|judged again|held|at random", "|".join(["---"] * 7))


@dataclass(frozen=True)
class Answers:
    """``rows``, by set: ``set``, ``worker``, ``item``, ``level``, ``control`` (its polarity; empty: a candidate) and
    ``counted``. ``truth``: whether each candidate matches, by item."""

    rows: pd.DataFrame
    truth: "pd.Series[bool]"

    def first(self, n: "int | pd.Series[int]") -> "Answers":
        """Return the sets that are asked until each candidate has ``n`` votes that count, without further votes."""
        wanted = self.rows["item"].map(n) if isinstance(n, pd.Series) else n
        of_pairs = self.rows["control"] == ""
        voted = of_pairs & self.rows["counted"]
        before = voted.groupby(self.rows["item"]).cumsum() - voted
        asked = of_pairs & (before < wanted)
        sets = self.rows["set"].isin(self.rows.loc[asked, "set"].unique())
        return replace(self, rows=self.rows[sets & (asked | ~of_pairs)])


@dataclass(frozen=True)
class PublicCrowd:
    """``labels``: item, worker, level; ``truth``: whether each item is a match."""

    name: str
    labels: pd.DataFrame
    truth: "pd.Series[bool]"

    def draw(self, seed: int) -> Answers:
        """Draw a ninth of the items as controls, and sets of the workers' answers in a random order."""
        rng = np.random.default_rng(seed)
        known = rng.permutation(self.truth.index)[: len(self.truth) // 9].tolist()
        rows = self.labels.sample(frac=1, random_state=seed)
        of_controls = rows["item"].isin(known)
        rows["control"] = rows["item"].map(self.truth.map(POLARITY)).where(of_controls, "")
        rows["part"] = rows.groupby([rows["worker"], of_controls]).cumcount() // np.where(of_controls, 2, PAIRS)
        rows["set"] = rows.groupby(["worker", "part"]).ngroup()
        rows = rows[of_controls.groupby(rows["set"]).transform("sum").eq(2)]
        rows["set"] = rng.permutation(rows["set"].max() + 1)[rows["set"]]
        passed = (rows["control"] == "") | (rows["control"] == (rows["level"] <= 2).map(POLARITY))
        rows["counted"] = passed.groupby(rows["set"]).transform("all")
        return Answers(rows.sort_values(["set", "item"]), self.truth.drop(index=known))


@dataclass(frozen=True)
class SimulatedCrowd:
    """``profile``: a preset of the simulation, whose wrong answers are those to controls; ``harder``: how many times as
    often pairs go wrong. ``careless``: the share of workers who answer at random. ``controls``: how many different ones
    (0: each set has its own). ``misleading``: the share of pairs on which everybody sees the other side."""

    name: str
    profile: str = "paper"
    careless: float = 0.25
    harder: float = 1.0
    controls: int = 0
    misleading: float = 0.0
    items: int = 600
    workers: int = 24

    def draw(self, seed: int) -> Answers:
        """Draw workers and their answers to sets, asked until each pair has MOST votes that count."""
        from simulation.profiles import load_profile

        rng = np.random.default_rng(seed)
        shape = load_profile(self.profile)
        confusion = np.array(shape.confusion) * shape.likeness
        people = np.array([[rng.dirichlet(row) for row in confusion] for _ in range(self.workers)])
        people[: round(self.careless * self.workers)] = 0.25
        levels = rng.choice(4, self.items, p=LEVELS)
        many = self.controls or 2 * self.items * MOST
        control_levels = np.where(np.arange(many) % 2, rng.integers(0, 2, many), rng.integers(2, 4, many))
        seen = np.where(rng.random(self.items) < self.misleading, 3 - levels, levels)
        shown = np.concatenate([seen, control_levels])
        hard = np.exp(rng.normal(0, 0.8, len(shown)))
        hard[: self.items] *= self.harder
        sets = np.array_split(rng.permutation(self.items), round(self.items / PAIRS))
        todo = list(range(len(sets))) * MOST
        met = np.zeros((self.workers, len(sets)), dtype=bool)
        parts: list[pd.DataFrame] = []
        while todo:
            of = todo.pop(0)
            free = np.flatnonzero(~met[:, of] & (met.sum(axis=1) < many // 2))
            if not len(free):
                continue
            who = rng.choice(free)
            place = (met[who].sum() + who) % (many // 2) if self.controls else len(parts)
            met[who, of] = True
            items = np.concatenate([self.items + 2 * place + np.arange(2), sets[of]])
            answers = _answers(people[who], shown[items], hard[items], rng)
            counted = bool((MATCH[answers] == MATCH[shown[items]])[:2].all())
            todo += [] if counted else [of]
            row = {"set": len(parts), "worker": who, "item": items, "level": answers + 1, "counted": counted}
            parts.append(pd.DataFrame(row | {"is_match": MATCH[shown[items]]}))
        rows = pd.concat(parts, ignore_index=True)
        rows["control"] = rows.pop("is_match").map(POLARITY).where(rows["item"] >= self.items, "")
        return Answers(rows, pd.Series(MATCH[levels]))


def _answers(person: Floats, levels: NDArray, hard: Floats, rng: np.random.Generator) -> NDArray:
    """Draw a worker's answers, whose sides are wrong ``hard`` times as often as usual, but at most 45 times in 100."""
    shares = person[levels]
    wrong = MATCH[levels][:, None] != MATCH
    usual = (shares * wrong).sum(axis=1)
    drawn = np.minimum(usual * hard, np.maximum(usual, 0.45))
    shares = shares * np.where(wrong, (drawn / usual)[:, None], ((1 - drawn) / (1 - usual))[:, None])
    return (rng.random(len(levels))[:, None] > shares.cumsum(axis=1)[:, :3]).sum(axis=1)


SIMULATED = (
    SimulatedCrowd("a quarter careless"),
    SimulatedCrowd("careful", profile="careful", careless=0),
    SimulatedCrowd("controls 2 times easier", harder=2),
    SimulatedCrowd("controls 5 times easier", harder=5),
    SimulatedCrowd("12 different controls", controls=12, workers=60),
    SimulatedCrowd("a tenth of the pairs misleads", misleading=0.1),
)


def public_crowds(data: Path) -> Iterator[PublicCrowd]:
    """Read the crowds, with levels as those of a round: two of ``rte``, and five of ``web``, three of them a match."""
    for name, levels in (("rte", {1: 1, 0: 4}), ("web", {4: 1, 3: 1, 2: 2, 1: 3, 0: 4})):
        truth = pd.read_csv(data / "crowd" / name / "truth.csv").set_index("item")["truth"].map(levels) <= 2
        labels = pd.read_csv(data / "crowd" / name / "label.csv").rename(columns={"label": "level"})
        labels = labels[labels["item"].isin(truth.index)].assign(level=labels["level"].map(levels))
        yield PublicCrowd(name, labels, truth)


@dataclass(frozen=True)
class DemoRound:
    """A round of the demo in the database."""

    name: str

    def draw(self, seed: int) -> Answers:
        """Return the submitted sets, whatever the seed, and what is known of the pairs."""
        from corpus.matches import known_pairs
        from dataset.judged.answer_tables import answers_of
        from hits.models import Round

        round = Round.objects.get(name=self.name)
        rows = answers_of([round])[0].rename(columns={"answer_set": "set"}).sort_values("set", kind="stable")
        rows["item"] = rows.groupby(["image", "caption", "control"]).ngroup()
        pairs = rows[rows["control"] == ""].drop_duplicates("item").set_index("item")[["image", "caption"]]
        true = pd.MultiIndex.from_arrays(list(known_pairs(round.pool.collection, "truth", max_grade=2).T))
        return Answers(rows, pd.Series(pd.MultiIndex.from_frame(pairs).isin(true), index=pairs.index))


Crowd = PublicCrowd | SimulatedCrowd | DemoRound


def judge(answers: Answers) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the verdicts by the majority, by item: ``is_match``, ``said``: the probability that the side is right, and
    ``right``: whether it is; and the figures of the round."""
    rows = answers.rows.assign(image=answers.rows["item"], caption=0)
    found = full_conclusion(rows[rows["counted"]], certain=True, answers=rows[rows["control"] != ""])
    table = found.verdicts.set_index("image").rename(columns={"probability": "said"})
    is_match = table["level"] <= 2
    right = is_match == answers.truth.loc[table.index]
    return table.assign(is_match=is_match, right=right), found.certainty.figures if found.certainty else {}


def calibration_error(said: Floats, right: NDArray[np.bool_]) -> float:
    """Return the mean distance, over ten equal bins by their sizes, of the mean probability from the share right."""
    bins = np.minimum((said * 10).astype(int), 9)
    return float(np.abs(np.bincount(bins, said - right, minlength=10)).sum() / len(said))


def figures_of(answers: Answers, seed: int) -> dict[str, float]:
    """Return what a round says and how far it is right. ``chance``: the calibration error by chance alone; ``held``:
    whether the interval holds, NaN where nothing is said; ``after``: said - right of the rest after reviews."""
    rng = np.random.default_rng(seed)
    table, figures = judge(answers)
    said = table["said"].to_numpy()
    right = table["right"].to_numpy()
    order = rng.permutation(len(said))
    reviewed = order[:REVIEWS]
    rest = order[REVIEWS:]
    correction, _ = correction_by(said[reviewed], right[reviewed])
    held = np.nan if figures["silent"] else float(figures["right_low"] <= right.mean() <= figures["right_high"])
    return {
        "right": right.mean(),
        "said": said.mean(),
        "excess": said.mean() - right.mean(),
        "error": calibration_error(said, right),
        "chance": np.mean([calibration_error(said, rng.random(len(said)) < said) for _ in range(20)]),
        "loss": -np.log(np.clip(np.where(right, said, 1 - said), 1e-6, 1)).mean(),
        "held": held,
        "after": corrected(said[rest], correction).mean() - right[rest].mean(),
    }


def calibration(crowd: Crowd, draws: int) -> Iterator[str]:
    """Yield a row of the table for each number of votes."""
    for n in (1,) if isinstance(crowd, DemoRound) else VOTES:
        found = pd.DataFrame([figures_of(crowd.draw(seed).first(n), seed) for seed in range(draws)])
        mean = found.mean()
        mean_of = {name: f"{of:.3f}" for name, of in mean.items()}
        spread = {name: f"{of:+.3f}±{found[name].std(ddof=0):.3f}" for name, of in mean.items()}
        held = f"{mean_of['held']}/{found['held'].count()}" if found["held"].count() else "silent"
        yield (
            f"{crowd.name}|{n}|{mean_of['right']}|{mean_of['said']}|{spread['excess']}|{spread['error'][1:]}|"
            f"{mean_of['chance']}|{mean_of['loss']}|{held}|{spread['after']}"
        )


def judged_again(crowd: Crowd, draws: int) -> str:
    """Return a row of the table: lone votes, and half as many further ones by *Judge again* or at random."""
    mean = pd.DataFrame([_again(crowd.draw(seed), seed) for seed in range(draws)]).mean()
    share = {name: f"{of:.1%}" for name, of in mean.items()}
    before, later = (f" ({share[low]}–{share[high]})" if low in share else "" for low, high in ENDS)
    held = f"{mean['held']:.2f}" if "held" in mean else "silent"
    promised = f"{share['promised']}{later}|{share['after']}|{held}|{share['random']}"
    return f"{crowd.name}|{share['said']}{before}|{share['wrong']}|{promised}"


def _again(answers: Answers, seed: int) -> dict[str, float]:
    """Return shares of wrong verdicts: with lone votes, ``said`` and really ``wrong``; with further votes, ``promised``
    and really wrong ``after`` them, and with as many on pairs drawn at ``random``; the ends of the ranges, and whether
    the second one ``held``."""
    from dataset.judged.verdict_worth import wrong_range

    table, figures = judge(answers.first(1))
    pairs = len(table)
    is_match = table["is_match"].to_numpy()
    said = table["said"].to_numpy()
    affordable = {votes: pairs // 2 // votes for votes in EACH}
    order = best_order(said, is_match, affordable, figures=figures, lead=np.where(is_match, 1.0, -1.0))
    found = {"said": 1 - said.mean(), "wrong": 1 - table["right"].mean()}
    found["promised"] = found["said"] - order.gain / pairs
    drawn = np.random.default_rng(seed).permutation(pairs)[: len(order.places)].tolist()
    for name, places in (("after", order.places), ("random", drawn)):
        n = pd.Series(1, index=table.index)
        n.iloc[places] += order.votes
        found[name] = 1 - judge(answers.first(n))[0]["right"].mean()
    for (low, high), gain in zip(ENDS, (0.0, order.gain), strict=True):
        if ends := wrong_range(figures, corrected=gain):
            found |= {low: ends.low / pairs, high: ends.high / pairs}
            found["held"] = float(ends.low <= found["after"] * pairs <= ends.high)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with crowd/rte and crowd/web")
    parser.add_argument("--draws", type=int, default=20, help="number of random draws (default 20)")
    parser.add_argument("--demo", action="store_true", help="the demo's rounds too: VAR_DIR names its folder")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/benchmarks.md")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    crowds: list[Crowd] = [*public_crowds(options.data), *SIMULATED]
    rounds = [DemoRound("demo-doubtful"), DemoRound("demo-round")] if options.demo else []
    rows = [row for one in rounds for row in calibration(one, 1)]
    rows += [row for crowd in crowds for row in calibration(crowd, options.draws)]
    again = [judged_again(crowd, options.draws) for crowd in crowds]
    text = "\n".join(f"|{row}|" if row else "" for row in (*CALIBRATION, *rows, "", *AGAIN, *again))
    print(text)
    if options.write:
        write_tables("certainty", text)


if __name__ == "__main__":
    main()
