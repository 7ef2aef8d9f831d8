"""Pages rendered from templates: those that every emulator shares, and a marketplace's own."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from werkzeug import Request, Response
from werkzeug.exceptions import NotFound
from werkzeug.routing import Rule
from werkzeug.utils import redirect

HERE = Path(__file__).parent
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


class Pages:
    """The pages of one emulator. Its ``folder`` holds ``templates``, with a ``_site_header.html``, and ``static``.

    ``currency`` is the sign before every amount.
    """

    def __init__(self, folder: Path, *, name: str, currency: str = "$") -> None:
        folders = (folder, HERE)
        loader = FileSystemLoader([each / "templates" for each in folders])
        self._environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
        self._environment.filters |= {"moment": moment, "span": span, "money": partial(money, currency)}
        self._environment.globals |= {"name": name, "currency": currency}
        self._static = {path.name: path for each in folders for path in (each / "static").glob("*")}

    def render(self, template: str, *, status: int = 200, **context: Any) -> Response:
        """Render a template. Every name in it must be given."""
        html = self._environment.get_template(template).render(context)
        return Response(html, status, {"Cache-Control": "no-store"}, mimetype="text/html")

    def rules(self) -> Iterator[Rule]:
        """Return the address of the static files."""
        yield Rule("/static/<file>", methods=["GET"], endpoint=self._file)

    def _file(self, request: Request, file: str) -> Response:
        if file not in self._static:
            raise NotFound
        return Response(self._static[file].read_bytes(), mimetype=guess_type(file)[0])


def go(path: str, **parameters: str) -> Response:
    """Redirect the browser, by GET."""
    return redirect(f"{path}?{urlencode(parameters)}" if parameters else path, 303)


def moment(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S}" if instant else ""


def span(length: timedelta) -> str:
    """Write a length of time in its two largest units: ``1 hour 30 minutes``."""
    left = int(length.total_seconds())
    words = list[str]()
    for unit, seconds in UNITS:
        count, left = divmod(left, seconds)
        if count:
            words.append(f"{count} {unit}{'s' if count > 1 else ''}")
    return " ".join(words[:2]) or "no time"


def money(currency: str, amount: Decimal) -> str:
    return f"{currency}{amount:,.2f}" if amount >= 0 else f"−{currency}{-amount:,.2f}"
