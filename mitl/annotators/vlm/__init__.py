"""A vision-language model behind an OpenAI-compatible endpoint, asked for the four-level judgment of every pair.

It costs money or a GPU's time a pair, so it is best used in a cascade. Answers are kept in ``VAR_DIR/chat.sqlite3`` as
they arrive and never asked for again: by endpoint, model, wording, picture and caption.
"""

import os
from decimal import Decimal
from typing import TYPE_CHECKING

from core.errors import CounterpartError
from mitl.annotators.base import Arrays, Settings
from mitl.annotators.vlm.options import OPTIONS, read_money
from mitl.models import Annotator

if TYPE_CHECKING:
    from mitl.chat.client import Service
    from mitl.chat.judging import ChatJudge

CHECKPOINT = "none"
CROSS_ENCODER = True
LEDGER = "chat.sqlite3"

__all__ = ["CHECKPOINT", "CROSS_ENCODER", "OPTIONS", "architecture", "open_annotator"]


def open_annotator(annotator: Annotator, device: str) -> "ChatJudge":
    """Return the machine; nothing is asked yet, and where it computes is not ours to say.

    Raises CounterpartError where no model is named, or the environment variable of the key is not set.
    """
    from django.conf import settings

    from mitl.chat.client import Asker
    from mitl.chat.judging import ChatJudge
    from mitl.chat.ledger import Ledger

    service, ledger = service_of(annotator.options), Ledger(settings.VAR_DIR / LEDGER)
    return ChatJudge(service, ledger, Asker(service, ledger), int(annotator.options["picture"]))


def service_of(options: Settings) -> "Service":
    """Return the service that the settings describe, with the key out of the environment."""
    from mitl.chat.client import Prices, Service
    from mitl.chat.ledger import Ceiling

    if not options["model"]:
        raise CounterpartError("it names no model; add the annotator with --option model=NAME.")
    read, written = (_price(options, name) for name in ("input_price", "output_price"))
    return Service(
        endpoint=str(options["endpoint"]),
        model=str(options["model"]),
        key_variable=str(options["key_variable"]),
        key=_key(str(options["key_variable"])),
        prices=Prices(read, written, int(options["picture_tokens"])),
        ceiling=Ceiling(int(options["ceiling"]), read_money("money", str(options["money"]))),
        attempts=int(options["attempts"]),
        timeout=float(options["timeout"]),
        per_minute=int(options["per_minute"]),
        parallel=int(options["parallel"]),
    )


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of it."""
    from mitl.chat.questions import VERSION

    return {
        "model": str(settings["model"]),
        "endpoint": str(settings["endpoint"]),
        "question": f"the four levels, wording {VERSION}, pictures of at most {settings['picture']} pixels a side",
        "score": "expected match weight: 1 x P(100% YES) + 0.5 x P(Partially YES)",
    }


def _price(options: Settings, name: str) -> Decimal:
    return read_money(name, str(options[name])) or Decimal(0)


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise CounterpartError(f"the environment variable {variable}, which is to hold its key, is not set; set it.")
    return key
