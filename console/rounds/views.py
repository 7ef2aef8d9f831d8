"""Rounds: the list."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.work.standing import standings
from console.pagination import page_of
from console.permissions import members_only
from console.rounds.schemas import counted_rounds


@members_only.reads
def rounds(request: HttpRequest) -> HttpResponse:
    rows = page_of(request, counted_rounds())
    shown = list(rows)
    known = standings(shown)
    lines = [(one, known[one.pk]) for one in shown]
    return render(request, "console/rounds/rounds.html", {"rows": rows, "lines": lines, "things": "rounds"})
