"""Pages of long lists, and counts of related rows that do not multiply each other."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from core.untrusted import whole_number


def page_of(request: HttpRequest, rows: QuerySet[Any] | Sequence[Any], *, size: int = 50) -> Page:
    """Return the page in ``?page=``, or the nearest existing one."""
    return Paginator(rows, size).get_page(request.GET.get("page"))


def number_in(request: HttpRequest, name: str) -> int:
    """Return a number of the address; 0 where it is none, or longer than any of ours."""
    return whole_number(request.GET.get(name, ""), below=10**9) or 0


def count_of(model: type[Model], path: str, **only: Any) -> Coalesce:
    """Return an expression that counts the rows of ``model`` whose ``path`` is the outer row, filtered by ``only``."""
    related = model._default_manager.order_by().filter(**{path: OuterRef("pk")}, **only)
    return Coalesce(Subquery(related.values(path).annotate(n=Count("pk")).values("n")), 0)
