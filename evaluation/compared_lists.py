"""The stored lists of annotators that an analysis looks at: those of their newest searches of a collection."""

from typing import Annotated

from core.parameters import POSITIONAL, Option, Parameters
from corpus.models import Collection, Sample
from mitl.models import Annotator
from mitl.search.store import NewestLists, newest_lists


class ListsParameters(Parameters):
    collection: Annotated[str, "the collection that was searched", POSITIONAL]
    annotators: Annotated[tuple[str, ...], "the annotators, comma-separated"]
    queries: Annotated[str | None, "sample of queries (default: the whole gallery)", Option(metavar="SAMPLE")] = None

    def newest(self, depth: int) -> NewestLists:
        """Return the lists. Raises CounterpartError for unknown names, and for lists that are missing or shorter."""
        sample = Sample.objects.named(self.queries) if self.queries else None
        annotators = Annotator.objects.all_named(self.annotators)
        return newest_lists(Collection.objects.named(self.collection), annotators, sample, depth)
