from typing import Any

from annotation.people.erasure import check_forgettable, forget_worker
from core.commands import ActCommand, argument, ask
from core.text import counted


class Command(ActCommand):
    step = "site"
    help = "Delete the platform ids of a worker for ever. Judgments stay, under the pseudonym."
    arguments = (
        argument("id", help="the worker's pseudonym"),
        argument("--yes", action="store_true", help="do not ask first"),
    )

    def act(self, **options: Any) -> str:
        pseudonym = options["id"]
        check_forgettable(pseudonym)
        if not options["yes"]:
            question = f"Delete every platform ID of worker {pseudonym}? This cannot be undone. [y/N] "
            ask(question, otherwise="Nothing was erased.")
        deleted = forget_worker(pseudonym, actor="forget_worker")
        return f"Erased {counted(deleted, 'platform id')} of worker {pseudonym}."
