"""What a HIT asks: an ExternalQuestion, an HTMLQuestion or a QuestionForm, checked as far as the marketplace does."""

from dataclasses import dataclass
from typing import Literal
from xml.etree.ElementTree import Element

from emulators.mturk.errors import TurkError, xml_parse_error
from emulators.mturk.xml import SCHEMAS, XMLError, parse, split, text_of

MOST_BYTES = 65_535

Kind = Literal["ExternalQuestion", "HTMLQuestion", "QuestionForm"]

NAMESPACES: dict[str, Kind] = {
    f"{SCHEMAS}/2006-07-14/ExternalQuestion.xsd": "ExternalQuestion",
    f"{SCHEMAS}/2011-11-11/HTMLQuestion.xsd": "HTMLQuestion",
    f"{SCHEMAS}/2005-10-01/QuestionForm.xsd": "QuestionForm",
    f"{SCHEMAS}/2017-11-06/QuestionForm.xsd": "QuestionForm",
}


@dataclass(frozen=True)
class Question:
    """A question as the worker's site needs it: the frame's address or its HTML, and its height (0: to fit)."""

    kind: Kind
    url: str = ""
    html: str = ""
    frame_height: int = 0


def read_question(document: str, *, parameter: str = "Question") -> Question:
    """Read a question. Raises TurkError: too large, not XML, of no known kind, or without what its kind needs."""
    check_size(document, parameter)
    try:
        root = parse(document)
    except XMLError as error:
        raise xml_parse_error(str(error)) from error
    namespace, name = split(root)
    kind = NAMESPACES.get(namespace)
    if kind is None or kind != name:
        raise xml_parse_error(f"Cannot find the declaration of element '{name}' in namespace '{namespace}'.")
    if kind == "QuestionForm":
        _need(root.find("{*}Question") is not None, "A QuestionForm needs at least one Question.")
        return Question(kind)
    height = text_of(root, "FrameHeight")
    _need(height.isdigit(), f"FrameHeight '{height}' is not a number of pixels.")
    return _external(root, int(height)) if kind == "ExternalQuestion" else _html(root, int(height))


def check_size(document: str, parameter: str) -> None:
    """Raise the marketplace's error for a document of more than 65,535 bytes."""
    if len(document.encode()) > MOST_BYTES:
        raise TurkError(
            f"The value for parameter {parameter} is too large. It must not be longer than {MOST_BYTES} bytes.",
            code="ParameterValidationError",
        )


def _external(root: Element, height: int) -> Question:
    url = text_of(root, "ExternalURL")
    _need(url.startswith(("https://", "http://")), f"ExternalURL '{url}' is not an http or https address.")
    _need(not _is_plain_and_far(url), f"ExternalURL '{url}' must be an https address.")
    return Question("ExternalQuestion", url=url, frame_height=height)


def _is_plain_and_far(url: str) -> bool:
    """The marketplace wants https; a rehearsal on this machine, whose pages browsers take for safe, may do without."""
    host = url.removeprefix("http://").split("/")[0].rsplit(":", 1)[0]
    return url.startswith("http://") and host not in ("127.0.0.1", "localhost", "[::1]")


def _html(root: Element, height: int) -> Question:
    html = text_of(root, "HTMLContent")
    _need(bool(html), "HTMLContent is empty.")
    return Question("HTMLQuestion", html=html, frame_height=height)


def _need(is_right: bool, what: str) -> None:
    if not is_right:
        raise xml_parse_error(what)
