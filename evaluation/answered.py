"""What was judged in rounds or in a released version, with what annotators proposed for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import pandas as pd

from annotation.work.judgments import answers_in
from core.errors import CounterpartError, some_of
from core.parameters import POSITIONAL, Option, Parameters
from core.progress import Progress
from corpus.models import Collection, Sample
from counterpart_statistics.aggregation import conclude
from counterpart_statistics.judged import PAIR
from dataset.judged.answer_tables import answers_of, read_table
from dataset.judged.released_tables import answers_of_version, verdicts_of_version
from dataset.models import Version
from dataset.versions.version_files import query_ids
from hits.models import Round
from hits.task_types import require_pairs
from hits.task_types.task_type import TaskType
from mitl.models import Annotator, Direction, Proposal
from mitl.search.gallery import sampled_queries


@dataclass(frozen=True)
class Answered:
    """The answers and answer sets of rounds or of a version of one collection, as ``answers_of`` and
    ``answers_of_version`` return them."""

    name: str
    collection: Collection
    sample: Sample
    rounds: Sequence[Round]
    answers: pd.DataFrame
    sets: pd.DataFrame
    version: Version | None = None

    @cached_property
    def votes(self) -> pd.DataFrame:
        """The answers that count, on candidates."""
        return self.answers[self.answers["counted"] & (self.answers["control"] == "")]

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The majority's level of every judged pair (ties: the median): ``image``, ``caption``, ``level``."""
        return conclude(self.votes)[[*PAIR, "level"]]

    @cached_property
    def conclusions(self) -> pd.DataFrame:
        """As ``verdicts``; of a version its released levels, which follow from reviews and its own aggregation."""
        if self.version is None:
            return self.verdicts
        return verdicts_of_version(self.version)

    @cached_property
    def queries(self) -> dict[Direction, set[int]]:
        """The queries of each direction; of a version those that were not excluded."""
        queries = query_ids(self.version) if self.version else sampled_queries(self.sample)
        return {direction: set(ids.tolist()) for direction, ids in queries.items()}

    @cached_property
    def proposals(self) -> pd.DataFrame:
        """What annotators proposed for the rounds: ``image``, ``caption``, ``annotator``, ``direction``, ``rank`` and
        ``score``, of two pools the first."""
        pools = {one.pool_id for one in self.rounds}
        columns = {"image_id": "image", "caption_id": "caption", "annotator_id": "annotator"}
        columns |= {name: name for name in ("rank", "direction", "score")}
        table = read_table(Proposal.objects.filter(pool__in=pools).order_by("pool", "pk"), columns)
        names = dict(Annotator.objects.filter(pk__in=table["annotator"].unique().tolist()).values_list("pk", "name"))
        table["annotator"] = table["annotator"].map(names)
        return table.drop_duplicates([*PAIR, "annotator", "direction"], ignore_index=True)

    @property
    def note(self) -> str:
        """What is left out, and who judged, in a line."""
        left_out = int((~self.answers["counted"]).sum())
        n = len(self.answers)
        simulated = int(self.answers["simulated"].sum())
        played = f" {simulated:,} of all are of simulated workers." if simulated else ""
        return f"{self.name}: {n:,} answers, of which {left_out:,} do not count and are left out.{played}"


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
    if judged.votes.empty:
        raise CounterpartError(
            f"{judged.name} has no judgments that count, of {len(judged.answers)}. Analyse it once work is accepted."
        )
    return judged


def round_of_task(name: str, task: TaskType) -> Round:
    """Return a round of a type of task. Raises CounterpartError for one of another, and if no judgment counts."""
    found = Round.objects.named(name)
    if found.task != task.name:
        raise CounterpartError(f"Round {found} has the task {found.task}; pack one with --task {task}.")
    if not answers_in(found).counted().exists():
        raise CounterpartError(f"Round {found} has no judgments that count. Analyse it once work is accepted.")
    return found


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
    pool = rounds[0].pool
    name = f"Round {rounds[0]}" if len(rounds) == 1 else f"Rounds {', '.join(map(str, rounds))}"
    return Answered(name, pool.collection, pool.sample, rounds, *answers_of(rounds))


def _of_version(version: Version) -> Answered:
    rounds = list(version.rounds.all())
    answers, sets = answers_of_version(version)
    return Answered(f"Version {version}", version.collection, version.sample, rounds, answers, sets, version)
