"""prefilter NAME --pool P [--threshold 0.25]: a pool without unlikely pairs."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from counterpart_annotators.words import UNLIKELY_BELOW
from mitl.models import Pool
from mitl.pooling import prefilter_pool


class Command(ActCommand):
    step = "annotators"
    help = (
        "Copy a pool without the pairs whose caption shares too few words with the image's own captions "
        "(BLEU-1 after stemming, without stop words). The other pool stays. Running it again changes nothing."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the new pool: letters, digits, - and _")
        parser.add_argument("--pool", required=True, metavar="P", help="the pool to filter")
        parser.add_argument(
            "--threshold",
            type=float,
            default=UNLIKELY_BELOW,
            metavar="T",
            help=f"drop pairs that score below this, above 0 and at most 1 (default {UNLIKELY_BELOW})",
        )

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        original = Pool.objects.named(options["pool"])
        pool = prefilter_pool(options["name"], pool=original, threshold=options["threshold"], progress=progress)
        return {
            "pool": pool.name,
            "proposals": pool.n_proposals,
            "pairs": pool.n_pairs,
            "dropped": original.n_pairs - pool.n_pairs,
        }
