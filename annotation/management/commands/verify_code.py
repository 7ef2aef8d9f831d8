from typing import Any

from annotation.people.receipts import verify_code
from core.commands import ActCommand, argument


class Command(ActCommand):
    step = "site"
    help = "Check a receipt or completion code that a worker shows: what it proves."
    arguments = (argument("code", help="as the worker copied it; capitals and spaces do not matter"),)

    def act(self, **options: Any) -> dict[str, Any]:
        proof = verify_code(options["code"])
        return {
            "genuine": "yes",
            "round": str(proof.round),
            "worker": str(proof.worker),
            "stands for": proof.of,
            "HITs": proof.hits,
            "owed": proof.owed,
            "paid": proof.paid,
        }
