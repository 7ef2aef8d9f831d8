"""Template filters for money, shares, durations and times, and the main navigation."""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import segno
from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Model
from django.http import HttpRequest
from django.template.defaultfilters import linebreaksbr, urlize
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from ninja import Schema

from console.acts import ACTS, acts_on
from console.navigation import MENU, OF_USER, entry_of
from console.places import TABS, key_of
from core import clock
from dataset.judged.verdict_worth import hundredths, round_sentences, worth
from hits.question import Level
from mitl.models import Direction

register = template.Library()
BACKTICKS = re.compile(r"``?([^`]+)``?")


@register.filter
def dollars(amount: Decimal | float | str | None) -> str:
    """``2263.56`` becomes ``$2,263.56``; None becomes a dash."""
    return "–" if amount is None else f"${Decimal(amount):,.2f}"


@register.filter
def qr_code(address: str) -> SafeString:
    """Return a picture of an address, as SVG, which a phone reads with its camera."""
    drawn = segno.make(address, error="m", micro=False)
    return mark_safe(drawn.svg_inline(scale=4, border=4, light="#fff", omitsize=True, svgclass="qr"))  # noqa: S308


@register.filter
def percent(share: float | None) -> str:
    """``0.912`` becomes ``91%``; None becomes a dash."""
    return "–" if share is None else f"{100 * share:.0f}%"


@register.filter
def answer(level: int | str) -> str:
    """``3`` becomes ``Mostly NO``."""
    return Level(int(level)).brief


register.filter(hundredths)
register.filter(worth)
register.filter("round_worth", lambda figures: next(round_sentences(figures), ""))


@register.filter
def number(value: int | None) -> str:
    """``46424`` becomes ``46,424``; None becomes a dash."""
    return "–" if value is None else str(intcomma(value))


COLOURS = "amber blue coral ebony gold green grey indigo ivory lime olive pearl red rose silver teal".split()  # noqa: SIM905
BIRDS = "crane dove duck eagle finch gull heron jay kite lark owl raven robin swan swift wren".split()  # noqa: SIM905


@register.filter
def nickname(worker: object) -> str:
    """Return two words for a worker's pseudonym, which are easier to remember and not unique: ``coral heron``."""
    pseudonym = str(worker)
    try:
        return f"{COLOURS[int(pseudonym[0], 16)]} {BIRDS[int(pseudonym[1], 16)]}"
    except ValueError:
        return pseudonym


@register.filter
def figure(value: float | None) -> str:
    """Return a score in 0..1 as papers print it: ``0.3421`` becomes ``34.2``."""
    return "–" if value is None else f"{100 * value:.1f}"


@register.filter
def duration(seconds: float | None) -> str:
    """``312`` becomes ``5.2 min``; below a minute and a half, ``45 s``; None becomes a dash."""
    if seconds is None:
        return "–"
    if seconds >= 5_400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def ago(moment: datetime) -> str:
    """``3 hours ago``; within the last minute, ``just now``."""
    if clock.now() - moment < timedelta(minutes=1):
        return "just now"
    return f"{timesince(moment, depth=1)} ago"


@register.filter("ago")
def ago_element(moment: datetime) -> str:
    """``ago`` with its exact time and zone as the title."""
    return _time_element(moment, ago(moment))


@register.filter
def moment(value: datetime | None) -> str:
    """``3 Nov, 14:05``, with the year unless it is this one; seconds and zone are its title. None becomes a dash."""
    if value is None:
        return "–"
    this_year = timezone.localtime(value).year == timezone.localtime().year
    return _time_element(value, date_format(timezone.localtime(value), "j M, H:i" if this_year else "j M Y, H:i"))


def _time_element(moment: datetime, text: str) -> str:
    local = timezone.localtime(moment)
    title = date_format(local, "j M Y, H:i:s T")
    return format_html('<time datetime="{}" title="{}">{}</time>', local.isoformat(timespec="seconds"), title, text)


@register.filter
def words(value: object) -> str:
    """Return a stored name or value as text: ``positive_levels`` becomes ``positive levels``; None and [] are a dash.

    A direction is shown by its label, a checksum by its first digits.
    """
    if value is None or value == []:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{words(key)} {entry}" for key, entry in value.items())
    text = str(value)
    if text in Direction:
        return str(Direction(text).label)
    if re.fullmatch("[0-9a-f]{64}", text):
        return f"{text[:12]}…"
    return text.replace("_", " ") if text.islower() else text


@register.filter
def caption(text: str, language: str = "") -> SafeString:
    """Return a caption as HTML: in its own language and direction, which no browser translates."""
    marks = '<span class="notranslate" lang="{}" dir="auto" translate="no">{}</span>'
    return format_html(marks, language, text)


@register.filter
def code(text: str) -> SafeString:
    """Text as HTML, with the text between backticks as code."""
    return mark_safe(BACKTICKS.sub(r"<code>\1</code>", escape(text)))  # noqa: S308  escaped before


@register.inclusion_tag("console/_menu.html", takes_context=True)
def menu(context: template.Context) -> dict[str, object]:
    """Return the links of the main navigation, the one of the current section marked, and those behind the name."""
    request: HttpRequest = context["request"]
    here = entry_of(request.path_info)
    links = [(one, reverse(one.page)) for one in MENU]
    marked = [(one.title, url, "page" if request.path == url else one is here and "true") for one, url in links]
    of_user = [(one.title, reverse(one.page)) for one in OF_USER if one.guard.may(context["user"])]
    return {"links": marked, "of_user": of_user, "user": request.user, "csrf_token": context["csrf_token"]}


@register.inclusion_tag("console/_sorted_head.html", takes_context=True)
def sorted_head(context: template.Context, key: str, title: str, order: str = "descending") -> dict[str, object]:
    """Return the head of a column; its link sorts by ``?sort=``. ``sort`` in the context names the current order."""
    address = context["request"].GET.copy()
    address.pop("page", None)
    address["sort"] = key
    return {"query": address.urlencode(), "key": key, "title": title, "order": order, "here": context["sort"] == key}


@register.inclusion_tag("console/_tabs.html", takes_context=True)
def tabs(context: template.Context, thing: Model) -> dict[str, object]:
    """Return the tabs of a place, the one of this page marked; ``tab`` in the context names that of a page below it."""
    here = context.get("tab") or context["request"].resolver_match.url_name
    links = [(one.label, reverse(one.page, args=[key_of(thing)]), one.page == here) for one in TABS[type(thing)]]
    return {"links": links, "thing": thing}


@register.inclusion_tag("console/_acts_menu.html", takes_context=True)
def acts_menu(context: template.Context, thing: Model) -> dict[str, object]:
    """Return the menu of the acts on a thing that are possible now and that the user may do."""
    acts = acts_on(thing, context["request"].user)
    return {"links": [(one.label, one.url(thing)) for one in acts], "thing": thing}


@register.inclusion_tag("console/_act.html", takes_context=True)
def act(context: template.Context, name: str, *things: Model, kind: str = "quiet") -> dict[str, object]:
    """Return the button that opens an act on the things; empty unless it is possible now and the user may do it."""
    found = ACTS[name]
    named = things if len(things) > 1 else things[0]
    is_offered = found.guard.may(context["request"].user) and found.offered(named)
    return {"label": found.label, "url": found.url(*things) if is_offered else "", "kind": kind}


WITH_PAGES = {"collection", "pool", "annotator", "version"}
"""Fields of answers that name a thing whose page has the field's name."""


@register.inclusion_tag("console/_facts.html")
def facts(answer: Schema, without: str = "") -> dict[str, object]:
    """Rows of a list of facts: what the API answers of a thing, without what the page shows elsewhere, parts that have
    fields of their own, and empty fields."""
    hidden = {"name", "url", *without.split()}
    values = {name: getattr(answer, name) for name in type(answer).model_fields if name not in hidden}
    plain = {name: value for name, value in values.items() if not isinstance(value, Schema | dict | list)}
    return {"facts": [(words(name), _fact(name, value)) for name, value in plain.items() if value not in (None, "")]}


def _fact(name: str, value: Any) -> str:
    if name in WITH_PAGES:
        return format_html('<a href="{}">{}</a>', reverse(name, args=[value]), value)
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, str):
        return linebreaksbr(urlize(value, autoescape=True))
    return words(value) if isinstance(value, bool) else number(value)
