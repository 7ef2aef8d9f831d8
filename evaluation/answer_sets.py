"""What was judged in rounds, or in a released version: every answer as a row, and every submitted answer set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Annotated, Any

import numpy as np
import pandas as pd
from django.db.models import Q, QuerySet

from annotation.models import Assignment, Judgment, Rejection, Worker
from core.errors import CounterpartError, some_of
from core.parameters import POSITIONAL, Option, Parameters
from core.progress import Progress
from corpus.models import Collection, Sample
from dataset.aggregation import conclude
from dataset.models import Version
from dataset.version_files import JUDGMENTS, checked_file, load_pairs
from evaluation.judged_pairs import queries_of
from hits.models import Control, Item, Round
from hits.question import RIGHT_LEVELS
from hits.task_types import require_pairs
from mitl.models import Annotator, Direction, Proposal

PAIR = ["image", "caption"]
MATCH = (1, 2)
"""The levels that are a match."""
PART = 20_000  # rows that are read at a time


@dataclass(frozen=True)
class Answered:
    """The answers of rounds or of a released version, which are over one collection.

    ``answers``: a row per answer: ``image`` and ``caption`` (database ids), ``worker`` (a pseudonym), ``level``,
    ``shortcoming``, ``wrong_way``, ``control`` (its polarity, empty for a candidate), ``counted`` (its answer set was
    accepted), ``simulated``, ``answer_set`` (the row of ``sets``). Answers to retired controls are left out.

    ``sets``: a row per submitted answer set: ``worker``, ``accepted``, ``excluded`` (its votes do not count; others
    wait for a decision), ``rejected`` (unpaid; NaN in a version, which does not hold it), ``seconds`` (NaN if unknown)
    and ``pairs``.
    """

    name: str
    collection: Collection
    sample: Sample
    rounds: Sequence[Round]
    answers: pd.DataFrame
    sets: pd.DataFrame
    version: Version | None = None

    @property
    def is_vote(self) -> "pd.Series[bool]":
        """Which answers count and are on candidates."""
        return self.answers["counted"] & (self.answers["control"] == "")

    @cached_property
    def votes(self) -> pd.DataFrame:
        """The answers that count, on candidates."""
        return self.answers[self.is_vote]

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The majority's level of every judged pair (ties: the median): ``image``, ``caption``, ``level``."""
        return conclude(self.votes)[["image", "caption", "level"]]

    @cached_property
    def conclusions(self) -> pd.DataFrame:
        """As ``verdicts``; of a version its released levels, in which reviews and its own aggregation stand."""
        if self.version is None:
            return self.verdicts
        levels = [(pair.image, pair.caption, int(pair.level)) for pair in load_pairs(self.version) if pair.level]
        table = pd.DataFrame(levels, columns=["image", "caption", "level"])
        return table.assign(**_ids(self.collection, table))

    @cached_property
    def queries(self) -> dict[Direction, set[int]]:
        """The queries of each direction; of a version those that were not excluded."""
        if self.version is not None:
            return {direction: set(ids.tolist()) for direction, ids in queries_of(self.version).items()}
        sides = zip(Direction, (self.sample.images, self.sample.captions), strict=True)
        return {direction: set(rows.values_list("pk", flat=True)) for direction, rows in sides}

    @cached_property
    def proposals(self) -> pd.DataFrame:
        """What annotators proposed for the rounds: ``image``, ``caption``, ``annotator``, ``direction``, ``rank`` and
        ``score``, of two pools the first."""
        pools = {one.pool_id for one in self.rounds}
        columns: dict[str, Any] = {
            **dict.fromkeys(("image_id", "caption_id", "annotator_id", "rank"), np.int64),
            **{"direction": "U3", "score": np.float64},
        }
        table = _read(Proposal.objects.filter(pool__in=pools).order_by("pool", "pk"), columns)
        names = dict(Annotator.objects.filter(pk__in=table["annotator"].unique().tolist()).values_list("pk", "name"))
        table["annotator"] = table["annotator"].map(names)
        return table.drop_duplicates(["image", "caption", "annotator", "direction"], ignore_index=True)

    @property
    def right(self) -> pd.Series:
        """Whether each answer is right: NaN for candidates."""
        polarity, level = self.answers["control"], self.answers["level"]
        right = pd.Series(np.nan, index=self.answers.index)
        for name, levels in RIGHT_LEVELS.items():
            of_polarity = polarity == str(name)
            right[of_polarity] = level[of_polarity].isin(levels).astype(float)
        return right

    @property
    def note(self) -> str:
        """What is left out, and who judged, in a line."""
        left_out = int((~self.answers["counted"]).sum())
        n = len(self.answers)
        simulated = int(self.answers["simulated"].sum())
        played = f" {simulated:,} of all are of simulated workers." if simulated else ""
        return f"{self.name}: {n:,} answers, of which {left_out:,} do not count and are left out.{played}"


@dataclass(frozen=True, kw_only=True)
class AnswersParameters(Parameters):
    """The rounds, or the version, whose answers are read."""

    round: Annotated[
        tuple[str, ...], "rounds of one collection, comma-separated", POSITIONAL, Option(metavar="ROUND[,ROUND]")
    ] = ()
    version: Annotated[str, "a released version, by its files, instead of rounds", Option(metavar="V")] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.round) == bool(self.version):
            raise CounterpartError("Name either rounds or, with --version, a released version.")


def read_answers(named: AnswersParameters, *, progress: Progress) -> Answered:
    """Read the answers of rounds or of a version.

    Raises CounterpartError for unknown names; for rounds of several collections; for a version without judgments; and
    if no answer on a candidate counts.
    """
    progress("reading judgments", 0, None)
    judged = _of_version(Version.objects.named(named.version)) if named.version else _of_rounds(named.round)
    if not judged.is_vote.any():
        raise CounterpartError(
            f"{judged.name} has no judgments that count, of {len(judged.answers)}. Analyse it once work is accepted."
        )
    return judged


def _of_rounds(names: Sequence[str]) -> Answered:
    rounds = [Round.objects.named(name) for name in dict.fromkeys(names)]
    for one in rounds:
        require_pairs(one)
    collections = {one.pool.collection for one in rounds}
    if len(collections) > 1:
        raise CounterpartError(
            f"The rounds are over {len(collections)} collections: {some_of(sorted(map(str, collections)))}. "
            "Name rounds of one collection."
        )
    columns: dict[str, Any] = {
        **dict.fromkeys(("image_id", "caption_id", "worker_id", "item_id", "assignment_id", "level"), np.int64),
        **{"shortcoming": "U14", "wrong_way": "U11"},
    }
    answers = _read(Judgment.objects.filter(assignment__hit__round__in=rounds).order_by(), columns)
    items = Item.objects.filter(hit__round__in=rounds, control__isnull=False)
    controls: Any = items.values_list("pk", "control__polarity", "control__state")
    sets = _sets_of(rounds, answers["assignment"])
    gold = pd.DataFrame(list(controls), columns=["item", "control", "state"]).set_index("item")
    answers["control"] = answers["item"].map(gold["control"]).fillna("")
    answers["counted"] = answers["assignment"].map(sets["accepted"]).fillna(False).astype(bool)
    workers = _workers(rounds)
    answers["simulated"] = answers["worker"].map(workers["simulated"]).astype(bool)
    rehearsed = {one.pk for one in rounds if one.rehearsal}
    answers["simulated"] |= answers["assignment"].map(sets["round"]).isin(rehearsed)
    answers["worker"] = answers["worker"].map(workers["pseudonym"])
    sets["worker"] = sets["worker"].map(workers["pseudonym"])
    retired = gold.index[gold["state"] == Control.State.RETIRED]
    answers = answers[~answers["item"].isin(retired)].rename(columns={"assignment": "answer_set"})
    pool = rounds[0].pool
    name = f"Round {rounds[0]}" if len(rounds) == 1 else f"Rounds {', '.join(map(str, rounds))}"
    return Answered(
        name,
        pool.collection,
        pool.sample,
        rounds,
        answers.drop(columns="item").reset_index(drop=True),
        sets.drop(columns=["state", "round"]),
    )


def _read(rows: QuerySet[Any], columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return columns of rows, by name and dtype, read in parts: texts take several times as much in an array."""
    found: Any = rows.values_list(*columns).iterator(chunk_size=PART)
    parts: list[pd.DataFrame] = []
    while not parts or len(parts[-1]) == PART:
        part = np.fromiter(islice(found, PART), dtype=[*columns.items()])
        parts.append(pd.DataFrame({name.removesuffix("_id"): part[name] for name in columns}))
    return pd.concat(parts, ignore_index=True)


def _sets_of(rounds: Sequence[Round], assignments: Any) -> pd.DataFrame:
    submitted = Assignment.objects.with_hit().filter(hit__round__in=rounds, state__in=Assignment.SUBMITTED)
    columns = {"pk": "pk", "worker": "worker", "state": "state", "active_seconds": "seconds", "hit__round": "round"}
    rows: Any = list(submitted.order_by("pk").values_list(*columns))
    sets = pd.DataFrame(rows, columns=list(columns.values())).set_index("pk")
    settled = Q(needs_second=False) | Q(seconded_at__isnull=False)
    standing = Rejection.objects.filter(settled, assignment__hit__round__in=rounds, dropped_at=None)
    ids, numbers = np.unique(assignments, return_counts=True)
    return sets.assign(
        seconds=sets["seconds"].astype(float),
        accepted=sets["state"] == Assignment.State.ACCEPTED,
        excluded=sets["state"] == Assignment.State.EXCLUDED,
        rejected=sets.index.isin(list(standing.values_list("assignment_id", flat=True))).astype(float),
        pairs=pd.Series(numbers, ids).reindex(sets.index, fill_value=0),
    )


def _workers(rounds: Sequence[Round]) -> pd.DataFrame:
    rows: Any = Worker.objects.filter(assignments__hit__round__in=rounds).distinct()
    columns = ["pk", "pseudonym", "simulated"]
    return pd.DataFrame(list(rows.values_list(*columns)), columns=columns).set_index("pk")


def _of_version(version: Version) -> Answered:
    texts = ["round", "control", "worker", "image", "caption", "shortcoming", "wrong_way"]
    numbers = ["hit", "assignment", "level", "counted", "control_retired", "simulated", "active_seconds"]
    kinds: Any = dict.fromkeys(texts, str) | dict.fromkeys(numbers[:-1], np.int64)
    try:
        rows = pd.read_csv(
            checked_file(version, JUDGMENTS),
            usecols=texts + numbers,
            dtype=kinds | {"active_seconds": float},
            keep_default_na=False,
            na_values={"active_seconds": [""]},
        )
    except ValueError as error:
        raise CounterpartError(f"Version {version} has judgments of another form. Release it again.") from error
    groups = rows.groupby(["round", "hit", "assignment"], sort=True)
    rows["answer_set"] = groups.ngroup()
    rows["counted"], rows["simulated"] = rows["counted"] == 1, rows["simulated"] == 1
    of_set = rows.groupby("answer_set")
    accepted = of_set["counted"].first()
    sets = pd.DataFrame(
        {
            "worker": of_set["worker"].first(),
            "accepted": accepted,
            "excluded": ~accepted,
            "rejected": np.nan,
            "seconds": of_set["active_seconds"].first(),
            "pairs": of_set.size(),
        }
    )
    answers = rows.assign(**_ids(version.collection, rows))[rows["control_retired"] == 0].reset_index(drop=True)
    rounds = list(version.rounds.all())
    return Answered(f"Version {version}", version.collection, version.sample, rounds, answers, sets, version)


def _ids(collection: Collection, table: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the database ids for the keys of ``image`` and ``caption``. Raises CounterpartError if some are gone."""
    found = {}
    for column, rows in (("image", collection.images), ("caption", collection.captions)):
        ids = table[column].map(dict(rows.values_list("key", "pk")))
        gone = table.loc[ids.isna(), column].unique().tolist()
        if gone:
            raise CounterpartError(
                f"{collection} no longer has {len(gone)} of the {column}s: {some_of(gone)}. Import it again."
            )
        found[column] = ids.astype(np.int64)
    return found
