"""What verdicts are worth, and judging again: python -m benchmarks.certainty DATA [--draws N] [--write]

On two public crowds (DATA/crowd/rte and DATA/crowd/web: label.csv, truth.csv) and a simulated one (the preset
``paper``), the first votes of each item are replayed in a random order; a tenth of the items are gold controls.

Calibration: the expected calibration error, over ten equal bins, of the probability that a verdict's side is right, and
of the share that the method itself gives to that side.

Judging again: each item has one vote, then further ones for a tenth of the items at a time, chosen by
``vote_gains.best_order`` or at random; the share of verdicts on the wrong side, by votes an item. Means
over draws. With --write into docs/benchmarks.md.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import django
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.doc_tables import DOCS, write_tables

CHART = DOCS / "images" / "judging-again.svg"
METHODS = ("majority", "dawid-skene", "ordinal")
AGAIN = ("majority", "dawid-skene")
POLICIES = ["judge again", "random"]
VOTES = (1, 2, 3, 5, None)
CONTROLS = 10  # one of this number of items is a gold control
STEPS = 20  # of judging again, each a vote for a tenth of the items
SHOWN = (0, 2, 5, 10, 20)
ITEMS, WORKERS, EACH = 2_000, 60, 7  # simulated
LEVELS = (0.13, 0.15, 0.22, 0.5)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Crowd:
    """``labels``: item, worker, label; ``truth``: the label of each item; ``match``: the labels that are a match."""

    name: str
    labels: pd.DataFrame
    truth: "pd.Series[int]"
    match: tuple[int, ...]

    @property
    def levels(self) -> list[int]:
        return sorted(self.labels["label"].unique())

    def is_match(self, items: Sequence[int]) -> NDArray[np.bool_]:
        return self.truth.loc[items].isin(self.match).to_numpy()

    def draw(self, seed: int) -> "Replay":
        """Return the votes in a random order, and a random tenth of the items as controls."""
        shuffled = self.labels.sample(frac=1, random_state=seed)
        items = np.random.default_rng(seed).permutation(self.truth.index)[: len(self.truth) // CONTROLS]
        sides = {True: self.match, False: tuple(set(self.levels) - set(self.match))}
        gold = dict(zip(items.tolist(), (sides[one] for one in self.is_match(items).tolist()), strict=True))
        return Replay(self, shuffled.assign(turn=shuffled.groupby("item").cumcount()), gold)


@dataclass(frozen=True)
class Replay:
    """The votes of a crowd, each with its ``turn`` among those of its item, and the levels of ``gold`` controls."""

    crowd: Crowd
    votes: pd.DataFrame
    gold: dict[int, tuple[int, ...]]

    def judge(self, n: "int | pd.Series[int] | None", method: str) -> "Judged":
        """Return the verdicts by the first ``n`` votes of each item (None: all)."""
        from counterpart_statistics.aggregation import certainty_of, choose_levels, fit_votes
        from counterpart_statistics.aggregation.sorted_votes import read_votes

        limit = self.votes["item"].map(n) if isinstance(n, pd.Series) else n
        first = self.votes if n is None else self.votes[self.votes["turn"] < limit]
        read = read_votes(first, levels=self.crowd.levels, gold=self.gold)
        shares = pd.DataFrame(fit_votes(read, method).distribution, index=read.item_names, columns=read.levels)
        certainty = certainty_of(read, self.crowd.match)
        yes = first["label"].isin(self.crowd.match).groupby(first["item"]).agg(["sum", "size"])
        table = pd.DataFrame(
            {
                "is_match": choose_levels(shares).isin(self.crowd.match),
                "match": certainty.rows.read(),
                "share": shares[list(self.crowd.match)].sum(axis=1),
                "lead": 2 * yes["sum"] - yes["size"],
            }
        ).drop(index=list(self.gold))
        return Judged(table, self.crowd.is_match(table.index), certainty.figures)


@dataclass(frozen=True)
class Judged:
    """``table``: by item (no controls) whether its verdict is a match, the probability of a match, the share that the
    method gives to matches, and how many more votes it has for a match than against."""

    table: pd.DataFrame
    truth: NDArray[np.bool_]
    figures: dict[str, float]

    @property
    def right(self) -> NDArray[np.bool_]:
        return self.table["is_match"].to_numpy() == self.truth

    def of_side(self, column: str) -> Floats:
        """Return the probability, or share, of the side of each verdict."""
        values = self.table[column].to_numpy()
        return np.where(self.table["is_match"], values, 1 - values)

    def calibration_error(self, column: str) -> float:
        return calibration_error(self.of_side(column), self.right)


def calibration_error(probability: Floats, right: NDArray[np.bool_]) -> float:
    """Return the mean distance, over ten equal bins by their sizes, of the mean probability from the share right."""
    bins = np.minimum((probability * 10).astype(int), 9)
    sizes = np.bincount(bins, minlength=10)
    return float(np.abs(np.bincount(bins, probability - right, minlength=10)).sum() / sizes.sum())


def crowds(data: Path) -> Iterator[Crowd]:
    for name, match in (("rte", (1,)), ("web", (2, 3, 4))):
        folder = data / "crowd" / name
        truth = pd.read_csv(folder / "truth.csv").set_index("item")["truth"]
        labels = pd.read_csv(folder / "label.csv")
        yield Crowd(name, labels[labels["item"].isin(truth.index)], truth, match)
    yield simulated()


def simulated(seed: int = 0) -> Crowd:
    """Return votes of the simulated crowd ``paper`` on items whose levels are as often as the demo's."""
    from simulation.profiles import load_profile

    rng = np.random.default_rng(seed)
    profile = load_profile("paper")
    truth = rng.choice(4, ITEMS, p=LEVELS)
    rows = np.array(profile.confusion)
    workers = np.array([[rng.dirichlet(row * profile.likeness) for row in rows] for _ in range(WORKERS)])
    clicks = profile.random_clicks * (rng.random(WORKERS) < profile.careless_workers)[:, None, None]
    workers = workers * (1 - clicks) + clicks / 4
    items = np.repeat(np.arange(ITEMS), EACH)
    who = np.concatenate([rng.choice(WORKERS, EACH, replace=False) for _ in range(ITEMS)])
    answers = [rng.choice(4, p=workers[one, truth[item]]) + 1 for one, item in zip(who, items, strict=True)]
    labels = pd.DataFrame({"item": items, "worker": who, "label": answers})
    return Crowd("simulated", labels, pd.Series(truth + 1), (1, 2))


def calibration(crowd: Crowd, draws: int) -> Iterator[list[str]]:
    for n in VOTES:
        errors = {method: ([], []) for method in METHODS}
        for seed in range(draws):
            replay = crowd.draw(seed)
            for method, (own, ours) in errors.items():
                judged = replay.judge(n, method)
                own.append(judged.calibration_error("share"))
                ours.append(judged.calibration_error("match"))
        cells = [f"{np.mean(own):.3f} → {np.mean(ours):.3f}" for own, ours in errors.values()]
        yield [crowd.name, str(n or "all"), *cells]


def curves_of(crowd: Crowd, draws: int) -> Iterator[dict[str, Any]]:
    """Yield the mean share of wrong verdicts after each step, by method and choice."""
    for method, policy in product(AGAIN, POLICIES):
        wrong = np.mean([list(curve(crowd.draw(seed), method, policy, seed)) for seed in range(draws)], axis=0)
        yield {"crowd": crowd.name, "method": method, "choice": policy, "wrong": wrong.tolist()}


def draw_curves(curves: list[dict[str, Any]], path: Path) -> None:
    """Plot the share of wrong verdicts by votes an item, a panel for each crowd."""
    from mitl.charts.drawing import distinct_lines, panel, titled, write_chart

    panels = []
    for crowd in dict.fromkeys(one["crowd"] for one in curves):
        shown = [one for one in curves if one["crowd"] == crowd and one["method"] == "dawid-skene"]
        points = [
            {"choice": one["choice"], "votes": 1 + step / 10, "wrong": wrong}
            for one in shown
            for step, wrong in enumerate(one["wrong"])
        ]
        wrong = {"title": "verdicts on the wrong side", "axis": {"format": ".0%"}}
        encoding = {
            "x": {"field": "votes", "type": "quantitative", "scale": {"zero": False}, "title": "votes an item"},
            "y": {"field": "wrong", "type": "quantitative"} | wrong,
            **distinct_lines("choice", POLICIES),
        }
        mark = {"type": "line", "strokeWidth": 2}
        panels.append(panel(crowd, points, width=190, height=190, mark=mark, encoding=encoding))
    title = "Judging again: wrong verdicts by votes"
    write_chart(titled(title, "Aggregated by dawid-skene.", hconcat=panels, spacing=24), path)


def curve(replay: Replay, method: str, policy: str, seed: int) -> Iterator[float]:
    """Yield the share of verdicts on the wrong side with one vote an item and after every tenth of a vote more."""
    rng = np.random.default_rng(seed)
    there = replay.votes.groupby("item").size()
    n = pd.Series(1, index=there.index)
    n[list(replay.gold)] = there[list(replay.gold)]  # as controls of many HITs
    spare = 0
    for _ in range(STEPS + 1):
        judged = replay.judge(n, method)
        yield float(1 - judged.right.mean())
        spare += len(judged.table) // 10
        spare -= _ask(n, there, judged, method, spare, policy, rng)


def _ask(
    n: "pd.Series[int]",
    there: "pd.Series[int]",
    judged: Judged,
    method: str,
    budget: int,
    policy: str,
    rng: np.random.Generator,
) -> int:
    """Add votes to ``n`` for at most ``budget``, of items that have more votes ``there``; return how many."""
    from counterpart_statistics import vote_gains
    from evaluation.asking import judging_again

    table = judged.table[(n < there)[judged.table.index]]
    if policy == "random":
        chosen, each = rng.permutation(len(table))[:budget], 1
    else:
        chosen, each, _ = vote_gains.best_order(
            judged.of_side("match")[(n < there)[judged.table.index]],
            table["is_match"].to_numpy(),
            {votes: budget // votes for votes in judging_again.EACH},
            figures=judged.figures,
            lead=table["lead"].to_numpy() if method == "majority" else None,
        )
    items = table.index[chosen]
    before = n.sum()
    n[items] = np.minimum(n[items] + each, there[items])
    return int(n.sum() - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with crowd/rte and crowd/web")
    parser.add_argument("--draws", type=int, default=5, help="number of random draws (default 5)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/benchmarks.md")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    lines = ["", f"| crowd | votes | {' | '.join(f'`{one}`' for one in METHODS)} |", "|---|---|---|---|---|"]
    every = list(crowds(options.data))
    lines += [f"| {' | '.join(row)} |" for crowd in every for row in calibration(crowd, options.draws)]
    lines += ["", f"| crowd | method | choice | {' | '.join(f'{1 + step / 10:g} votes' for step in SHOWN)} |"]
    lines += ["|---|---|---|" + "---|" * len(SHOWN)]
    curves = [one for crowd in every for one in curves_of(crowd, options.draws)]
    for one in curves:
        cells = [one["crowd"], f"`{one['method']}`", one["choice"], *(f"{one['wrong'][step]:.1%}" for step in SHOWN)]
        lines.append(f"| {' | '.join(cells)} |")
    print("\n".join(lines))
    if options.write:
        draw_curves(curves, CHART)
        write_tables("certainty", "\n".join(lines))


if __name__ == "__main__":
    main()
