from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from core.seeds import add_seed
from corpus.models import Collection
from demo.collection import make_demo_collection


class Command(ActCommand):
    step = "papers"
    help = "Draw a collection of captioned pictures with known truth. Running it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the collection")
        parser.add_argument("--images", type=int, default=600, help="number of pictures (default 600)")
        add_seed(parser, "random seed; equal seeds draw equal pictures")
        parser.add_argument(
            "--lessons", action="store_true", help="only for training annotators: splits train and val, no truth"
        )

    def act(self, progress: TerminalBar, **options: Any) -> str:
        name = options["name"]
        was_there = Collection.objects.filter(name=name).exists()
        collection = make_demo_collection(
            name, images=options["images"], seed=options["seed"], lessons=options["lessons"], progress=progress
        )
        if was_there:
            return f"{name} already exists with this size and seed; nothing was changed."
        return (
            f"{name}: {collection.images.count()} pictures ({collection.images.gallery().count()} in the test split), "
            f"{collection.captions.count()} captions, {collection.matches.filter(source='truth').count()} graded pairs."
        )
