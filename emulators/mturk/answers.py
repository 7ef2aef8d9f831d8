"""What a worker answered, as the QuestionFormAnswers document that requesters read."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from emulators.mturk.xml import SCHEMAS, parse, text_of

NAMESPACE = f"{SCHEMAS}/2005-10-01/QuestionFormAnswers.xsd"


def answers_document(answers: Mapping[str, str | Sequence[str]], *, test: str | None = None) -> str:
    """Return the document for a form's fields, in their order; without characters that XML cannot hold.

    Where a ``test`` (QuestionForm) is given, answers to its questions with options are selections, not texts.
    """
    offered = _with_options(test) if test else set()
    body = "".join(_answer(name, value, is_selection=name in offered) for name, value in answers.items())
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<QuestionFormAnswers xmlns="{NAMESPACE}">'
    return f"{head}{body}\n</QuestionFormAnswers>"


def _with_options(test: str) -> set[str]:
    questions = parse(test).findall("{*}Question")
    return {text_of(each, "QuestionIdentifier") for each in questions if each.find(".//{*}SelectionAnswer") is not None}


def _answer(name: str, value: str | Sequence[str], *, is_selection: bool) -> str:
    element = "SelectionIdentifier" if is_selection else "FreeText"
    values = [value] if isinstance(value, str) else value
    given = "".join(f"\n    <{element}>{_text(each)}</{element}>" for each in values)
    return f"\n  <Answer>\n    <QuestionIdentifier>{_text(name)}</QuestionIdentifier>{given}\n  </Answer>"


def _text(value: str) -> str:
    # A carriage return would come back as a line feed, so it travels as a reference.
    return escape("".join(filter(_fits, value)), {"\r": "&#13;"})


def _fits(character: str) -> bool:
    code = ord(character)
    return character in "\t\n\r" or (code >= 32 and not 0xD800 <= code <= 0xDFFF and code not in (0xFFFE, 0xFFFF))
