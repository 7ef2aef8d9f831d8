"""The parameters of ``retrieve`` and ``pool``, which those of planning a round include."""

from typing import Annotated, Literal

from django import forms

from core.errors import CounterpartError
from core.parameters import OFF_PAGE, POSITIONAL, Option, Parameters
from core.seeds import SeedField
from corpus.models import Collection, Sample
from counterpart_topk.hubness.reranking import Steps, parse_steps
from mitl.models import Annotator
from mitl.search.request import CASCADE_DEPTH, DEPTH, Engine, RunOn
from mitl.search.store import NewestLists, newest_lists
from mitl.search.top_lists import Device


class SearchParameters(Parameters):
    """Which annotators search, and how."""

    annotators: Annotated[tuple[str, ...], "annotators that propose pairs"]
    engine: Annotated[
        Engine,
        "exact search of embeddings by blocks, or faiss: a flat index, ranked again in float64; both find the same "
        "lists",
    ] = "blocked"
    cascade: Annotated[
        str, "annotator whose lists limit the pairs that cross-encoders have to score", Option(metavar="A")
    ] = ""
    cascade_depth: Annotated[
        int, forms.IntegerField(min_value=1, help_text="places of the cascade's lists that cross-encoders score")
    ] = CASCADE_DEPTH
    rerank: Annotated[
        str,
        forms.CharField(
            required=False,
            label="Re-ranking",
            help_text="corrections so that hubs do not crowd the lists: csls, is or rgm, or one and then rgm, with "
            "optional settings, such as csls:k=10,rgm:k=5:relaxation=2",
        ),
        Option(metavar="STEPS"),
    ] = ""

    @property
    def steps(self) -> Steps:
        """The steps of the re-ranking. Raises CounterpartError where ``rerank`` is not understood."""
        try:
            return parse_steps(self.rerank) if self.rerank else ()
        except ValueError as error:
            raise CounterpartError(str(error)) from error


class GallerySearchParameters(SearchParameters):
    """A search of a whole gallery."""

    collection: Annotated[str, "the collection to search", POSITIONAL]
    queries: Annotated[str, "sample of queries (default: the whole gallery)", Option(metavar="SAMPLE")] = ""
    gallery: Annotated[
        str,
        "search this gallery beyond the collection's rows (import_gallery) for a sample's queries; items that are "
        "found become rows",
        Option(metavar="G"),
    ] = ""
    depth: Annotated[int, "length of the lists"] = DEPTH
    device: Annotated[Device, "device that does the computation"] = "cpu"
    shards: Annotated[
        int | None,
        "search in N parts of the longer side, each in bounded memory (default: one run here; parts of 65,536 rows on "
        "ray)",
    ] = None

    @property
    def by_parts(self) -> bool:
        """Whether the search is made part by part."""
        return self.shards is not None or bool(self.gallery)


class RetrieveParameters(GallerySearchParameters):
    """A search of a whole gallery by the command, which can also estimate and tune it, and run it elsewhere."""

    estimate: Annotated[bool, "print the number of pairs and the time they would take; search nothing"] = False
    yes: Annotated[bool, "start even if the estimate is more than an hour"] = False
    tune: Annotated[
        bool, "choose the settings of the corrections, and how many there are, on the split val, and print all trials"
    ] = False
    engine_on: Annotated[
        RunOn,
        "where searches of embeddings run, part by part: local, in this process; ray, on the cluster that RAY_ADDRESS "
        "names, or one on this computer: it opens a job an annotator and returns; the lists are those of a single run",
    ] = "local"
    wait: Annotated[bool, "with --engine-on ray: make the search from here and wait; needs no worker for the job"] = (
        False
    )

    @property
    def by_parts(self) -> bool:
        return super().by_parts or self.engine_on != "local"


class PoolingParameters(Parameters):
    """Which places of the lists become a pool's pairs."""

    top_k: Annotated[int, forms.IntegerField(min_value=1, help_text="places of each list to pool")] = 5
    control_depth: Annotated[
        int,
        forms.IntegerField(min_value=1, help_text="negative controls come from outside this many places of each list"),
    ] = 25
    direction: Annotated[
        Literal["both", "i2t", "t2i"],
        "lists to pool; i2t: captions for query images, t2i: images for query captions",
    ] = "both"
    beyond: Annotated[
        str,
        forms.CharField(
            required=False,
            max_length=80,
            help_text="leave out the pairs that this match source knows, such as those judged for a version",
        ),
        Option(metavar="VERSION"),
        OFF_PAGE,
    ] = ""
    accept_blind: Annotated[
        bool, "also take annotators whose lists have equal scores, or mostly begin with the same items"
    ] = False


class PoolParameters(PoolingParameters):
    """A pool of the annotators' newest lists."""

    name: Annotated[str, "name of the pool: letters, digits, - and _", POSITIONAL]
    collection: Annotated[str, "the collection that was searched"]
    annotators: Annotated[tuple[str, ...], "annotators that propose pairs"]
    queries: Annotated[str, "the sample of queries", Option(metavar="SAMPLE")]
    gallery: Annotated[
        str,
        "take the lists over this gallery beyond the collection's rows (retrieve --gallery)",
        Option(metavar="G"),
        OFF_PAGE,
    ] = ""
    seed: Annotated[
        int,
        SeedField(help_text="only recorded: a pool draws nothing, and pack draws the controls by a seed of its own"),
        OFF_PAGE,
    ] = 0


class ListsParameters(Parameters):
    collection: Annotated[str, "the collection that was searched", POSITIONAL]
    annotators: Annotated[tuple[str, ...], "the annotators, comma-separated"]
    queries: Annotated[str | None, "sample of queries (default: the whole gallery)", Option(metavar="SAMPLE")] = None

    def newest(self, depth: int) -> NewestLists:
        """Return the lists. Raises CounterpartError for unknown names, and for lists that are missing or shorter."""
        sample = Sample.objects.named(self.queries) if self.queries else None
        annotators = Annotator.objects.all_named(self.annotators)
        return newest_lists(Collection.objects.named(self.collection), annotators, sample, depth)
