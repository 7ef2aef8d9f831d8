"""Pages made of templates, and how times, spans and money are written on them."""

from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from werkzeug import Response

from emulators.mturk.site.formatted import formatted
from emulators.mturk.site.question_form import Choice, Question

HERE = Path(__file__).parent
STATIC = HERE / "static"
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def moment(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S}" if instant else ""


def span(length: timedelta) -> str:
    """Write a length of time in its two largest units: ``1 hour 30 minutes``."""
    left, words = int(length.total_seconds()), list[str]()
    for unit, seconds in UNITS:
        count, left = divmod(left, seconds)
        if count:
            words.append(f"{count} {unit}{'s' if count > 1 else ''}")
    return " ".join(words[:2]) or "no time"


def money(amount: Decimal) -> str:
    return f"${amount:,.2f}" if amount >= 0 else f"−${-amount:,.2f}"


def own_words(question: Question, given: list[str]) -> str:
    """Return what a worker wrote beside the selections that were offered."""
    offered = {each.identifier for each in question.answer.selections} if isinstance(question.answer, Choice) else set()
    return next((text for text in given if text not in offered), "")


def page(template: str, *, status: int = 200, **context: Any) -> Response:
    """Render a template; whatever it names must be given."""
    html = _environment.get_template(template).render(context)
    return Response(html, status, {"Cache-Control": "no-store"}, mimetype="text/html")


_environment = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
_environment.filters |= {"moment": moment, "span": span, "money": money, "formatted": formatted}
_environment.tests |= {"asked": lambda part: isinstance(part, Question), "chosen": lambda a: isinstance(a, Choice)}
_environment.globals["own_words"] = own_words
