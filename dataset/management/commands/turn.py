from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.turns import TurnParameters, take_turn, turn_of
from hits.rounds.packed_rounds import figures_of


class Command(ActCommand):
    step = "round"
    help = (
        "Pack the next turn of a released round: what people judged teaches its annotators, these search again, and "
        "the pairs that the version does not know are packed into a new round of --judge audit+greedy, with the same "
        "queries. The annotators are named ANNOTATOR-VERSION, the pool NAME-pool. The same command resumes."
    )

    def act(self, progress: TerminalBar, *, parameters: TurnParameters, **options: Any) -> dict[str, Any]:
        planned = take_turn(parameters, actor="command", progress=progress)
        pool = planned.pool
        annotators = list(pool.retrievals.order_by("annotator__name").values_list("annotator__name", flat=True))
        lineage = {"turn": turn_of(pool), "beyond": pool.beyond, "annotators": ", ".join(annotators)}
        return {**figures_of(planned), **lineage}
