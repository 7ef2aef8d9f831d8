from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand, person_named
from core.errors import CounterpartError, some_of
from core.progress import TerminalBar
from core.text import counted
from corpus.input_files import lines
from corpus.models import Collection
from dataset.models import Review, Subject
from dataset.reviews.reviews import Conclusion, conclude


class Command(ActCommand):
    step = "review"
    help = "Exclude captions or images from a collection's dataset, as one person's decision: a review for each."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", help="name of the collection")
        listed = parser.add_mutually_exclusive_group(required=True)
        listed.add_argument("--captions", type=Path, metavar="FILE", help="file of caption ids, one per line")
        listed.add_argument("--images", type=Path, metavar="FILE", help="file of image ids, one per line")
        parser.add_argument("--grounds", choices=Review.Grounds.values, required=True, help="why they are excluded")
        parser.add_argument("--reason", required=True, help="a sentence; recorded with every review")
        parser.add_argument("--by", required=True, metavar="USER", help="the reviewer who decides it")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        collection = Collection.objects.named(options["collection"])
        person = person_named(options["by"])
        if not person.has_perm("annotation.decide_assignment"):
            raise CounterpartError(f"{person} may not review. Ask an admin for the reviewer role.")
        side = "captions" if options["captions"] else "images"
        found = _rows(collection, side, [line.strip() for _, line in lines(options[side])])
        subjects: list[Subject] = [(None, pk) if side == "captions" else (pk, None) for pk in found]
        conclusion = Conclusion(Review.Conclusion.EXCLUDED, grounds=options["grounds"], reason=options["reason"])
        reviews = conclude(collection, subjects, conclusion, by=person)
        waiting = sum(not review.is_settled for review in reviews)
        return {f"{side} reviewed": len(reviews), "waiting for a second person": waiting}


def _rows(collection: Collection, side: str, keys: list[str]) -> list[int]:
    """Return the ids of the rows with these keys, in their order. Raises CounterpartError for unknown ones."""
    known = dict(getattr(collection, side).filter(key__in=keys).values_list("key", "pk"))
    if unknown := [key for key in keys if key not in known]:
        raise CounterpartError(
            f"{counted(len(unknown), f'{side[:-1]} is', f'{side} are')} not in {collection}: {some_of(unknown)}. "
            "Correct the file; nothing was changed."
        )
    return [known[key] for key in dict.fromkeys(keys)]
