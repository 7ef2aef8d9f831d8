"""Acts: what a person does to a thing with a button and at most a few fields.

    round_act = acts_of(Round, "rounds/<slug:name>/", round_or_404, researchers_only)

    @round_act("close", "Close {}?")
    def round_close(round: Round, chosen: Chosen, by: User) -> str:
        '''No more HITs are given out, and a closed round cannot be reopened.'''
        close_round(round, actor=by.get_username())
        return f"Round {round} is closed."

One view and one template serve all of them: a GET asks, a POST acts. The link of an act opens its page in a dialog, or
leads to the page where there is no JavaScript.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from console.permissions import Guard, StaffRequest
from console.places import follow, key_of, page_of
from console.refusals import refuse
from core.errors import CounterpartError
from core.models import Job
from core.web.middleware import takes_uploads

Chosen = Mapping[str, Any]


@dataclass(frozen=True)
class Landing:
    """Where an act ends, with a message about what it did."""

    text: str
    url: str


@dataclass(frozen=True)
class Shown:
    """What an act would do, shown before it is confirmed.

    Attributes:
        key: identifies the plan: with another one, the act asks again.
        button: confirms it, with the cost or the number.
        plan: what the act carries out; it gets it as ``chosen["plan"]``.
        context: what the template shows of it.
    """

    key: str
    button: str
    plan: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)


Outcome = str | Job | Landing
"""A message, with which the person returns to where they came from; a job, which is followed; or a landing."""


@dataclass(frozen=True, kw_only=True)
class Act:
    """An act and its words.

    Attributes:
        name: URL name, that of the function.
        find: returns what the address names: a thing, or a tuple of several. Raises Http404.
        guard: who may.
        perform: does it. Its docstring says what follows from the act, also to the person who is asked.
        question: heading of the page, with ``{}`` for each thing.
        label: of the button that opens it (default: the question's words before the thing).
        button: confirms it (default: the label).
        form: makes the form from the data and the thing.
        asks: sentences on what follows from the act, where they depend on the thing.
        shows: plans the act from the valid form, for acts that are confirmed with their cost. Raises CounterpartError.
        context: what a template of its own needs besides.
        offered: whether the page of the thing offers the act now; ``perform`` decides again.
        menu: the kind of thing whose menu has the act.
        uploads: the most bytes of its files together; 0 without files.
    """

    name: str
    find: Callable[..., Any]
    guard: Guard
    perform: Callable[[Any, Chosen, User], Outcome]
    question: str
    label: str = ""
    button: str = ""
    form: Callable[[QueryDict | None, Any], forms.Form] = lambda data, found: forms.Form(data)
    asks: Callable[[Any], Iterable[str]] | None = None
    shows: Callable[[Any, Chosen], Shown] | None = None
    context: Callable[[Any], Mapping[str, Any]] = lambda found: {}
    offered: Callable[[Any], bool] = lambda found: True
    menu: type[Model] | None = None
    template: str = "console/act.html"
    uploads: int = 0
    do_not_call_in_templates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.question.split(" {}")[0])
        object.__setattr__(self, "button", self.button or self.label)

    def __call__(self, request: StaffRequest, **named: Any) -> HttpResponse:
        """Ask, or act on a POST; what refuses the act is shown above the question."""
        found = self.find(**named)
        form = self.form(request.POST if request.method == "POST" else None, found)
        form.files = request.FILES
        shown = None
        if request.method == "POST" and form.is_valid():
            try:
                chosen = form.cleaned_data
                shown = self.shows(found, chosen) if self.shows else None
                if shown is None or request.POST.get("shown") == shown.key:
                    plan = {"plan": shown.plan} if shown else {}
                    return self._land(request, found, self.perform(found, {**chosen, **plan}, request.user))
            except CounterpartError as error:
                refuse(form, error)
        context = {
            "act": self,
            "found": found,
            "question": self.question.format(*things_of(found)),
            "asks": [*self.asks(found)] if self.asks else [getdoc(self.perform) or ""],
            "form": form,
            "shown": shown,
            "back": _came_from(request) or self._page(found),
            **self.context(found),
            **(shown.context if shown else {}),
        }
        # A field that is wrong is a 422, a refusal of the act a 409.
        status = 409 if form.non_field_errors() else 422 if form.errors else 200
        return render(request, self.template, context, status=status)

    def url(self, *things: Model) -> str:
        """Return the address of the act on these things."""
        return reverse(self.name, args=[key_of(one) for one in things])

    def _land(self, request: StaffRequest, found: Any, outcome: Outcome) -> HttpResponse:
        if isinstance(outcome, Job):
            return follow(outcome)
        if isinstance(outcome, Landing):
            messages.success(request, outcome.text)
            return HttpResponseRedirect(outcome.url)
        messages.success(request, outcome)
        return HttpResponseRedirect(_came_from(request) or self._page(found))

    def _page(self, found: Any) -> str:
        return page_of(things_of(found)[0])


ACTS: dict[str, Act] = {}
"""All acts by name."""


def act(
    address: str, find: Callable[..., Any], guard: Guard, **words: Any
) -> Callable[[Callable[[Any, Any, User], Outcome]], Act]:
    """Declare an act at its address, with the attributes of Act; the function performs it, and raises CounterpartError
    where it is refused."""

    def declare(perform: Callable[[Any, Any, User], Outcome]) -> Act:
        made = Act(name=perform.__name__, find=find, guard=guard, perform=perform, **words)
        takes_uploads(made.uploads)(guard.fills(address, made.name)(made))
        ACTS[made.name] = made
        return made

    return declare


def acts_of(kind: type[Model] | None, base: str, find: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    """Return what declares the acts of the menu of a kind of thing, or on pages alone (None): ``base`` is the address
    of its page."""

    def declare(word: str, question: str, **words: Any) -> Any:
        return act(f"{base}{word}/", find, words.pop("guard", guard), **{"question": question, "menu": kind, **words})

    return declare


def acts_on(thing: Model, user: User) -> list[Act]:
    """Return the acts of the menu of a thing that are possible now and that the user may do."""
    of_kind = [one for one in ACTS.values() if one.menu and isinstance(thing, one.menu)]
    return [one for one in of_kind if one.guard.may(user) and one.offered(thing)]


def things_of(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _came_from(request: StaffRequest) -> str:
    """Return the page of the site from which a person opened the act; empty if that is not known."""
    known = request.POST.get("back") or request.GET.get("back") or request.headers.get("Referer", "")
    place = urlsplit(known)
    if not place.path.startswith("/") or place.path == request.path:
        return ""
    is_ours = url_has_allowed_host_and_scheme(known, {request.get_host()}, require_https=request.is_secure())
    return place._replace(scheme="", netloc="").geturl() if is_ours else ""
