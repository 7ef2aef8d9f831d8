from typing import Any

from console.inventory import check_removable, find, remove
from core.commands import ActCommand, argument, ask
from corpus.batches import contents_of


class Command(ActCommand):
    step = "collection"
    help = (
        "Take back an import of captions, pictures, matches or judgments: while nothing depends on what it brought; "
        "otherwise say what does, and change nothing. Every import prints the name of its batch; show collection NAME "
        "lists them. Asks before it takes anything back."
    )
    arguments = (
        argument("batch", metavar="BATCH", help="name of the import, such as coco-2"),
        argument("--yes", action="store_true", help="do not ask"),
    )

    def act(self, **options: Any) -> dict[str, Any]:
        name = options["batch"]
        thing, batch = find("batch", name)
        check_removable(thing, batch)
        brought = contents_of(batch)
        if not options["yes"]:
            origin = f" from {batch.file}" if batch.file else ""
            ask(f"{batch.collection}: {brought}{origin}. Take this back? [y/N] ", otherwise="Nothing was undone.")
        remove("batch", name, actor="undo")
        return {"undone": name, "brought": brought}
