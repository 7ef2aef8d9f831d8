from typing import Any

from console.inventory import rename, singular
from console.inventory_rows import THINGS
from core.commands import ActCommand, argument


class Command(ActCommand):
    step = "collection"
    help = (
        "Give something another name. What a released version, or a platform, carries by its name keeps it. Files stay "
        "where they are."
    )
    arguments = (
        argument(
            "thing",
            metavar="THING",
            help=", ".join(singular(word) for word, thing in THINGS.items() if thing.key != "id"),
        ),
        argument("name", metavar="NAME", help="its name; of a match source COLLECTION/SOURCE"),
        argument("new", metavar="NEW", help="its name from now on"),
    )

    def act(self, **options: Any) -> dict[str, Any]:
        rename(options["thing"], options["name"], options["new"], actor="rename")
        return {"renamed": f"{singular(options['thing'])} {options['name']}", "to": options["new"]}
