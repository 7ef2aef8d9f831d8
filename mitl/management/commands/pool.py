"""pool NAME --collection C --annotators A,B --queries SAMPLE: join top lists into pairs to be judged."""

from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.models import Collection, Gallery, Sample
from mitl.models import Annotator
from mitl.pooling import pool_proposals
from mitl.search_parameters import PoolParameters


class Command(ActCommand):
    help = (
        "Join the top places of the annotators' newest lists into one pool: every pair once, with all annotators that "
        "proposed it, the direction, rank and score. Running it again changes nothing."
    )
    figures = True
    parameters = PoolParameters

    def act(self, progress: TerminalBar, *, parameters: PoolParameters, **options: Any) -> dict[str, Any]:
        pool = pool_proposals(
            parameters.name,
            collection=Collection.objects.named(parameters.collection),
            annotators=Annotator.objects.all_named(parameters.annotators),
            sample=Sample.objects.named(parameters.queries),
            top_k=parameters.top_k,
            control_depth=parameters.control_depth,
            direction=parameters.direction,
            beyond=parameters.beyond,
            listed=Gallery.objects.named(parameters.gallery) if parameters.gallery else None,
            seed=parameters.seed,
            progress=progress,
        )
        return pool.figures()
