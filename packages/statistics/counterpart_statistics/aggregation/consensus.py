"""Workers and annotators together, after CROWDLAB (Goh et al. 2022): every member has a vote of its own weight."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from counterpart_statistics.aggregation.fit import Fit, Tallies
from counterpart_statistics.aggregation.ordinal import ordinal
from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import Batch, Codes, Floats, Votes

FOLDS = 5
FEWEST = 50  # pairs from which a member's calibration is learned
_LEAST = 1e-6  # weight of a worker, so that items of bad workers keep a distribution


def consensus(votes: Votes, proposals: pd.DataFrame | None = None) -> Fit:
    """Return the weighted means of the workers' distributions and the annotators' calibrated ones.

    ``proposals`` has the columns ``item`` (its code), ``annotator``, ``direction``, ``rank`` and ``score``; without
    any, the result is that of ``ordinal``. A member is an annotator in one direction. Its scores and ranks become
    probabilities of the levels by a logistic regression on the workers' distributions, learned on four fifths of its
    items for the last fifth. A vote weighs ``1 - e / e0``, at least 0: ``e`` is the expected share of wrong levels of a
    worker or member, ``e0`` that of always naming the most frequent level. A member's weight is multiplied by the
    square root of the votes per item. Items without votes and gold controls are left out. It holds all votes in
    memory.
    """
    people = ordinal(votes)
    whole = votes.whole
    distribution = people.distribution
    members = _members(whole, distribution, proposals)
    if not members:
        return people
    baseline = distribution[~whole.is_gold].mean(axis=0).max()
    weights = np.maximum(_skill(Tallies.of(votes, people, "median").reliability(), baseline), _LEAST)
    of_people = np.bincount(whole.items, weights=weights[whole.workers], minlength=len(distribution))
    sums = of_people[:, None] * distribution
    total = of_people.copy()
    crowd = np.sqrt((~whole.on_gold).sum() / votes.candidates)
    rows = []
    for member in members:
        accuracy, frequent = member.accuracy(distribution)
        weight = max(0.0, float(_skill(accuracy, frequent))) * crowd
        np.add.at(sums, member.items, weight * member.probabilities)
        np.add.at(total, member.items, weight)
        rows.append((member.annotator, member.direction, len(member.items), accuracy, weight))
    table = pd.DataFrame(rows, columns=["annotator", "direction", "pairs", "accuracy", "weight"])
    return Fit(SpooledRows.of(sums / total[:, None]), people.skills.assign(weight=weights), table)


def _skill(accuracy: Floats | float, baseline: float) -> Floats:
    return np.maximum(1 - (1 - np.asarray(accuracy)) / max(1 - baseline, 1e-9), 0)


@dataclass(frozen=True)
class _Member:
    """An annotator in one direction: calibrated ``probabilities`` of the levels for each of its ``items``."""

    annotator: str
    direction: str
    items: Codes
    probabilities: Floats

    def accuracy(self, distribution: Floats) -> tuple[float, float]:
        """Return the expected share of its items on which its likeliest level is right, and that of one fixed level."""
        known = distribution[self.items]
        named = known[np.arange(len(known)), self.probabilities.argmax(axis=1)]
        return float(named.mean()), float(known.mean(axis=0).max())


def _members(votes: Batch, distribution: Floats, proposals: pd.DataFrame | None) -> list[_Member]:
    """Return the members that proposed at least 50 of the candidates, by annotator and direction."""
    if proposals is None or proposals.empty:
        return []
    places = pd.Index(votes.rows["code"]).get_indexer(pd.Index(proposals["item"]))
    voted = (places >= 0) & ~votes.is_gold[places]
    # Of several rounds, each may have asked of a pair.
    table = proposals[voted].assign(item=places[voted]).sort_values(["annotator", "direction", "item", "rank", "score"])
    table = table.drop_duplicates(["annotator", "direction", "item"])
    members = []
    for (annotator, direction), rows in table.groupby(["annotator", "direction"], sort=True):
        if len(rows) >= FEWEST:
            items = rows["item"].to_numpy()
            features = _features(rows["score"].to_numpy(float), rows["rank"].to_numpy(float))
            members.append(_Member(str(annotator), str(direction), items, _calibrated(features, distribution[items])))
    return members


def _features(scores: Floats, ranks: Floats) -> Floats:
    """Return the scores and the logarithms of the ranks, each with mean 0 and standard deviation 1."""
    columns = np.stack([scores, np.log(ranks)], axis=1)
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1)


def _calibrated(features: Floats, known: Floats) -> Floats:
    """Return the probabilities of the levels for each row of ``features``, learned on the folds without the row."""
    # Imported here, as it takes 80 MB in every process that does.
    from sklearn.linear_model import LogisticRegression

    fold = np.arange(len(features)) % FOLDS
    probabilities = np.zeros_like(known)
    for held_out in range(FOLDS):
        learned = fold != held_out
        asked = fold == held_out
        rows, levels = np.nonzero(known[learned] > 1e-3)
        if len(set(levels)) == 1:
            probabilities[asked, levels[0]] = 1
            continue
        model = LogisticRegression(max_iter=1_000)
        model.fit(features[learned][rows], levels, sample_weight=known[learned][rows, levels])
        probabilities[np.ix_(asked, model.classes_)] = model.predict_proba(features[asked])
    return probabilities
