from argparse import Action, ArgumentParser, Namespace
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from counterpart_annotators.words import UNLIKELY_BELOW
from mitl.jobs import make_pool
from mitl.models import Pool
from mitl.pooling import prefilter_pool
from mitl.search.search_parameters import PoolParameters

OF_LISTS = ("collection", "annotators", "queries")
"""What a pool of lists needs, and a copy of another pool has."""


class Bleu(Action):
    """The flag of a copy: the options that a pool of lists needs are then not required."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, *given: Any) -> None:
        namespace.bleu = True
        for action in parser._actions:
            action.required = action.required and action.dest not in OF_LISTS


class Command(ActCommand):
    step = "annotators"
    help = (
        "Join the top places of the annotators' newest lists into one pool: every pair once, with all annotators that "
        "proposed it, the direction, rank and score. With --bleu, copy a pool without unlikely pairs; that pool stays. "
        "Running it again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        PoolParameters.add_options(parser)
        copy = parser.add_argument_group("a copy of another pool, in place of lists")
        copy.add_argument(
            "--bleu",
            action=Bleu,
            nargs=0,
            default=False,
            help="leave out the pairs whose caption shares too few words with the image's own captions (BLEU-1 after "
            "stemming, without stop words)",
        )
        copy.add_argument("--pool", metavar="P", help="the pool to copy")
        copy.add_argument(
            "--threshold",
            type=float,
            default=UNLIKELY_BELOW,
            metavar="T",
            help=f"leave out pairs that score below this, above 0 and at most 1 (default {UNLIKELY_BELOW})",
        )

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        if bool(options["pool"]) != options["bleu"] or (options["bleu"] and any(options[name] for name in OF_LISTS)):
            raise CounterpartError(f"Pass --bleu with --pool and no list, or --{', --'.join(OF_LISTS)} without them.")
        if not options["bleu"]:
            return make_pool(PoolParameters.from_options(options), actor="pool", progress=progress).figures()
        other = Pool.objects.named(options["pool"])
        pool = prefilter_pool(options["name"], pool=other, threshold=options["threshold"], progress=progress)
        dropped = other.n_pairs - pool.n_pairs
        return {"pool": pool.name, "proposals": pool.n_proposals, "pairs": pool.n_pairs, "dropped": dropped}
