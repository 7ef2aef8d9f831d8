from typing import Any

from console.inventory import check_removable, find, remove, singular
from console.inventory_rows import THINGS
from core.commands import ActCommand, argument, ask


class Command(ActCommand):
    step = "collection"
    help = (
        "Remove something that nothing depends on, with its files; otherwise say what does. A draft of a round, a job "
        "that has ended and an annotator whose lists no pool uses can go; what was published or released stays. Asks "
        "before it removes."
    )
    arguments = (
        argument("thing", metavar="THING", help=", ".join(map(singular, THINGS))),
        argument("name", metavar="NAME", help="its name; of a retrieval or job its number, as list shows it"),
        argument("--yes", action="store_true", help="do not ask"),
    )

    def act(self, **options: Any) -> dict[str, Any]:
        thing = options["thing"]
        name = options["name"]
        check_removable(*find(thing, name))
        if not options["yes"]:
            question = f"Remove {singular(thing)} {name}? This cannot be undone. [y/N] "
            ask(question, otherwise="Nothing was removed.")
        remove(thing, name, actor="remove")
        return {"removed": f"{singular(thing)} {name}"}
