"""The XML documents inside calls: what a HIT asks (ExternalQuestion) and what a worker answered."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from counterpart_emulators.mturk.errors import TurkError, invalid_parameter, not_emulated, xml_parse_error

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
EXTERNAL_QUESTION = f"{SCHEMAS}/2006-07-14/ExternalQuestion.xsd"
ANSWERS = f"{SCHEMAS}/2005-10-01/QuestionFormAnswers.xsd"
MOST_BYTES = 65_535
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
NOT_EMULATED = ("HTMLQuestion", "QuestionForm")


class XMLError(Exception):
    """A document that cannot be parsed safely."""


@dataclass(frozen=True)
class Question:
    """The address of the requester's page, and the height of its frame in pixels (0: to fit)."""

    url: str
    frame_height: int


def parse(document: str) -> Element:
    """Return the root of a document without DTDs or entities. Raises XMLError."""
    try:
        return ElementTree.fromstring(document.encode(), forbid_dtd=True)
    except (ElementTree.ParseError, DefusedXmlException, UnicodeError) as error:
        raise XMLError(str(error) or type(error).__name__) from error


def read_question(document: str) -> Question:
    """Read an ExternalQuestion. Raises TurkError: too large, invalid XML, another kind or invalid values."""
    if len(document.encode()) > MOST_BYTES:
        raise invalid_parameter(
            f"The value for parameter Question is too large. It must not be longer than {MOST_BYTES} bytes."
        )
    try:
        root = parse(document)
    except XMLError as error:
        raise xml_parse_error(str(error)) from error
    namespace, _, name = root.tag.rpartition("}")
    namespace = namespace.lstrip("{")
    if name in NOT_EMULATED and namespace.startswith(SCHEMAS):
        raise not_emulated(f"{name}: not emulated; use an ExternalQuestion instead.")
    if (namespace, name) != (EXTERNAL_QUESTION, "ExternalQuestion"):
        raise xml_parse_error(f"Cannot find the declaration of element '{name}' in namespace '{namespace}'.")
    url = _text_of(root, "ExternalURL")
    height = _text_of(root, "FrameHeight")
    if wrong := _wrong(url, height):
        raise wrong
    return Question(url, int(height))


def answers_document(fields: Mapping[str, str]) -> str:
    """Return the QuestionFormAnswers document for a form's fields, in order, without characters that XML forbids."""
    body = "".join(
        f"\n  <Answer>\n    <QuestionIdentifier>{_escaped(name)}</QuestionIdentifier>"
        f"\n    <FreeText>{_escaped(value)}</FreeText>\n  </Answer>"
        for name, value in fields.items()
    )
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<QuestionFormAnswers xmlns="{ANSWERS}">'
    return f"{head}{body}\n</QuestionFormAnswers>"


def _text_of(element: Element, name: str) -> str:
    """Return the stripped text of the first child with this name, in any namespace; "" without one."""
    found = element.find(f"{{*}}{name}")
    return (found.text or "").strip() if found is not None else ""


def _wrong(url: str, height: str) -> TurkError | None:
    if not height.isdecimal():
        return xml_parse_error(f"FrameHeight '{height}' is not a number of pixels.")
    if not url.startswith(("https://", "http://")):
        return xml_parse_error(f"ExternalURL '{url}' is not an http or https address.")
    # The service requires https; pages of a rehearsal on this machine, which browsers trust, may do without.
    host = url.removeprefix("http://").split("/")[0].rsplit(":", 1)[0]
    if url.startswith("http://") and host not in LOCAL_HOSTS:
        return xml_parse_error(f"ExternalURL '{url}' must be an https address.")
    return None


def _escaped(value: str) -> str:
    # A carriage return would be read as a line feed, so it is sent as a reference.
    return escape(NOT_XML.sub("", value), {"\r": "&#13;"})
