from typing import Any

from django.core.management.base import CommandParser

from core import clock
from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from corpus.models import Sample
from hits.rounds.packed_rounds import figures_of, pack_round
from hits.rounds.pipeline import remove_unused
from hits.rounds.round_parameters import NewRoundParameters
from hits.task_types import TASK_TYPES
from mitl.models import Pool
from mitl.pooling import pool_sample


class Command(ActCommand):
    step = "round"
    help = "Pack a pool's pairs into a draft round of HITs with gold controls; nothing is published."

    def add_arguments(self, parser: CommandParser) -> None:
        asked = parser.add_mutually_exclusive_group(required=True)
        asked.add_argument("--pool", help="pool whose pairs are judged")
        asked.add_argument("--sample", help="sample whose images are described; with --task caption")
        super().add_arguments(parser)

    def act(self, progress: TerminalBar, *, parameters: NewRoundParameters, **options: Any) -> dict[str, Any]:
        if options["pool"]:
            pool = Pool.objects.named(options["pool"])
            return figures_of(pack_round(parameters.round, pool, parameters, progress=progress))
        if not TASK_TYPES[parameters.task].writes:
            raise CounterpartError(f"The task {parameters.task} asks about a pool: pass --pool in place of --sample.")
        sample = Sample.objects.select_related("collection").named(options["sample"])
        since = clock.now()
        pool = pool_sample(sample, actor="command")
        try:
            return figures_of(pack_round(parameters.round, pool, parameters, progress=progress))
        except CounterpartError:
            remove_unused(Pool.objects.filter(pk=pool.pk, created_at__gte=since), actor="command")
            raise
