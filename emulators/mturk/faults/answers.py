"""Answers that no form of ours would send: what a requester's parser has to live with."""

from collections.abc import Callable, Mapping

from emulators.mturk.answers import NAMESPACE, answers_document

Fields = Mapping[str, str]

DOCTYPE = '<!DOCTYPE QuestionFormAnswers SYSTEM "file:///etc/passwd">'
ENTITIES = (
    '<!DOCTYPE QuestionFormAnswers [<!ENTITY a "zebra"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>'
)


def _with_prologue(fields: Fields, prologue: str) -> str:
    declaration, _, body = answers_document(fields).partition("\n")
    return f"{declaration}\n{prologue}\n{body}"


def _entities(fields: Fields) -> str:
    return _with_prologue(dict.fromkeys(fields, "?"), ENTITIES).replace(">?<", ">&d;<")


def _repeated(fields: Fields) -> str:
    """The first field a second time, with another value."""
    name = next(iter(fields))
    first, second = answers_document(fields), answers_document({name: f"{fields[name]} again"})
    answer = second[second.index("\n  <Answer>") : second.index("\n</QuestionFormAnswers>")]
    return first.replace("\n</QuestionFormAnswers>", f"{answer}\n</QuestionFormAnswers>")


SHAPES: Mapping[str, Callable[[Fields], str]] = {
    "empty": lambda fields: "",
    "no answers": lambda fields: answers_document({}),
    "unknown fields": lambda fields: answers_document({**fields, "browser_extension": "42", "": "nameless"}),
    "repeated field": _repeated,
    "foreign": lambda fields: answers_document(dict.fromkeys(fields, "somebody else's answer")),
    "doctype": lambda fields: _with_prologue(fields, DOCTYPE),
    "entities": _entities,
    "markup": lambda fields: answers_document(dict.fromkeys(fields, "<script>alert(1)</script>]]>&amp;")),
    "cut off": lambda fields: answers_document(fields)[:-20],
    "other namespace": lambda fields: answers_document(fields).replace(NAMESPACE, "urn:elsewhere"),
}


def misshapen(shape: str, fields: Fields) -> str:
    """Return the Answer of one of ``SHAPES`` for what the worker's form sent."""
    own = {name: value for name, value in fields.items() if name != "assignmentId"}
    return SHAPES[shape](own or {"nothing": ""})
