"""The scope of a page of pairs: a pool, a round, a version or a collection."""

from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from annotation.models import Judgment
from annotation.work.judgments import answers_in
from corpus.models import Collection
from dataset.models import Aggregation, Version
from hits.models import Round
from mitl.models import Pool


@dataclass(frozen=True)
class PairScope:
    """A pool, round, version or whole collection whose pairs are shown, with the votes and verdicts of its rounds."""

    row: Pool | Round | Version | Collection

    @property
    def kind(self) -> str:
        return self.row._meta.model_name or ""

    @property
    def collection(self) -> Collection:
        if isinstance(self.row, Collection):
            return self.row
        return self.row.pool.collection if isinstance(self.row, Round) else self.row.collection

    @cached_property
    def rounds(self) -> list[int]:
        if isinstance(self.row, Round):
            return [self.row.pk]
        rows = Round.objects.filter(pool__in=self.pools) if isinstance(self.row, Collection) else self.row.rounds.all()
        return list(rows.values_list("pk", flat=True))

    @cached_property
    def pools(self) -> list[int]:
        if isinstance(self.row, Pool):
            return [self.row.pk]
        if isinstance(self.row, Collection):
            return list(self.row.pools.values_list("pk", flat=True))
        return list(Round.objects.filter(pk__in=self.rounds).values_list("pool", flat=True).distinct())

    @cached_property
    def aggregations(self) -> list[Aggregation]:
        """The last aggregation of each round that has one."""
        rows = Aggregation.objects.filter(round__in=self.rounds).select_related("round").order_by("at", "pk")
        return list({row.round_id: row for row in rows}.values())

    @property
    def file(self) -> Aggregation | None:
        """The aggregation of a round whose verdicts are in a file."""
        return next((one for one in self.aggregations if one.file and self.kind == "round"), None)

    @property
    def in_files(self) -> list[Round]:
        """The rounds of a pool with verdicts in a file: filters and orders see those of pairs under review only."""
        return [one.round for one in self.aggregations if one.file and self.kind == "pool"]

    @property
    def votes(self) -> QuerySet[Judgment]:
        """The counted judgments of its rounds."""
        return answers_in(*self.rounds).counted()
