"""pool NAME --collection C --annotators A,B --queries SAMPLE: join top lists into pairs to be judged."""

from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from mitl.jobs import make_pool
from mitl.search.search_parameters import PoolParameters


class Command(ActCommand):
    step = "annotators"
    help = (
        "Join the top places of the annotators' newest lists into one pool: every pair once, with all annotators that "
        "proposed it, the direction, rank and score. Running it again changes nothing."
    )
    figures = True
    parameters = PoolParameters

    def act(self, progress: TerminalBar, *, parameters: PoolParameters, **options: Any) -> dict[str, Any]:
        return make_pool(parameters, actor="pool", progress=progress).figures()
