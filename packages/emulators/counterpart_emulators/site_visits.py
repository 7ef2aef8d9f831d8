"""A visit to a marketplace's site: who is signed in, the pages they see, and the way to the sign-in page and back."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, Self, TypeVar

from werkzeug import Request, Response
from werkzeug.routing import Rule

from counterpart_emulators.marketplace import Marketplace, Refusal
from counterpart_emulators.web_pages import Pages, go

World = TypeVar("World", bound=Marketplace[Any])
Acts = TypeVar("Acts")


class NotSignedInError(Exception):
    """The page needs a person who is signed in."""


@dataclass(frozen=True)
class Visit(ABC, Generic[World, Acts]):
    """A request to the site. ``acts`` does what people do, faults included; ``local``: they may use the controls.

    ``done_texts`` confirm the last act, by its name in the address. ``form_fields`` are the fields of the form that
    registers a person, the id first; ``person_word`` is what pages call a person.
    """

    cookie: ClassVar[str]
    home: ClassVar[str]
    sign_in: ClassVar[str]
    done_texts: ClassVar[Mapping[str, str]]
    form_fields: ClassVar[tuple[str, ...]]
    person_word: ClassVar[str]

    world: World
    acts: Acts
    pages: Pages
    request: Request
    local: bool

    @classmethod
    def rules(
        cls, views: Iterable[tuple[str, str, Callable[..., Response]]], visit_of: Callable[[Request], Self]
    ) -> Iterator[Rule]:
        """Return a rule for every view, which is given the visit that ``visit_of`` makes of a request."""

        def answer(view: Callable[..., Response], request: Request, **values: str) -> Response:
            visit = visit_of(request)
            try:
                return view(visit, **values)
            except NotSignedInError:
                return go(cls.sign_in, next=request.full_path.rstrip("?") if request.method == "GET" else cls.home)
            except Refusal as refusal:
                return visit.refused(str(refusal))

        for method, path, view in views:
            yield Rule(path, methods=[method], endpoint=partial(answer, view))

    @abstractmethod
    def people(self) -> Mapping[str, Any]:
        """Return all registered people, by id."""

    @abstractmethod
    def registered(self, given: Mapping[str, str]) -> str:
        """Register the person whom a form describes and return their id. Raises Refusal."""

    def is_registered(self, person_id: str) -> bool:
        return person_id in self.people()

    @abstractmethod
    def refused(self, text: str) -> Response:
        """Explain why an act is not possible."""

    @cached_property
    def person(self) -> str | None:
        """The id of the registered person who is signed in with this browser."""
        named = self.request.cookies.get(self.cookie, "")
        return named if self.is_registered(named) else None

    def require_person(self) -> str:
        """Return who is signed in. Raises NotSignedInError."""
        if person := self.person:
            return person
        raise NotSignedInError

    @property
    def done(self) -> str:
        """The sentence that confirms their last act."""
        return self.done_texts.get(self.request.args.get("done", ""), "")

    @property
    def next(self) -> str:
        """Where to go after signing in: an address of this site."""
        place = self.request.values.get("next", "")
        return self.home if not place.startswith("/") or place.startswith(("//", "/\\")) else place

    def page(self, template: str, *, here: str = "", status: int = 200, **context: Any) -> Response:
        common: Mapping[str, Any] = {"worker": self.person, "local": self.local, "here": here}
        return self.pages.render(template, status=status, **common, **context)

    def sign_in_form(self, *, error: str = "", given: Mapping[str, str] | None = None, status: int = 200) -> Response:
        filled = {name: (given or {}).get(name, "") for name in self.form_fields}
        known = sorted(self.people().values(), key=lambda each: each.id)
        return self.page("sign_in.html", status=status, next=self.next, error=error, given=filled, known=known)

    def sign_in_registered(self) -> Response:
        """Sign in the registered person whom the form names."""
        person_id = self.request.form.get(self.form_fields[0], "")
        if not self.is_registered(person_id):
            return self.sign_in_form(error=f"No {self.person_word} {person_id!r} is registered.", status=400)
        return self.enter(person_id)

    def register(self) -> Response:
        """Register the person whom the form describes, and sign them in."""
        given = self.request.form
        try:
            return self.enter(self.registered(given))
        except Refusal as refusal:
            return self.sign_in_form(error=str(refusal), given=given, status=400)

    def enter(self, person_id: str) -> Response:
        """Sign a person in and go to the next page."""
        response = go(self.next)
        response.set_cookie(self.cookie, person_id, httponly=True, samesite="Lax")
        return response

    def leave(self) -> Response:
        """Sign out."""
        response = go(self.sign_in)
        response.delete_cookie(self.cookie)
        return response


def whole(given: Mapping[str, str], name: str, default: int) -> int:
    """Return a whole number of a form. Raises Refusal."""
    text = given.get(name, "").strip() or str(default)
    if not text.isdecimal():
        raise Refusal(f"{text!r} is not a whole number.")
    return int(text)
