"""A QuestionForm read for people: its overview, and its questions with the answers they allow."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

CHECKBOX_STYLES = {"checkbox", "list", "multichooser"}
REGEX_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}

Given = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Block:
    """A piece of content. ``kind``: title, text, list, picture or formatted; ``items`` are a list's lines."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selection:
    identifier: str
    content: tuple[Block, ...]


@dataclass(frozen=True)
class FreeText:
    """``lowest`` and ``highest`` bind numbers, ``shortest`` and ``longest`` characters, ``pattern`` the whole text."""

    lines: int = 1
    default: str = ""
    numeric: bool = False
    lowest: float | None = None
    highest: float | None = None
    shortest: int = 0
    longest: int | None = None
    pattern: re.Pattern[str] | None = None
    pattern_error: str = ""

    def error(self, text: str) -> str:
        """Return why the text cannot be the answer, or nothing."""
        if self.numeric and not self._is_number(text):
            return f"Enter a number{_between(self.lowest, self.highest)}."
        if len(text) < self.shortest or (self.longest is not None and len(text) > self.longest):
            return f"Write{_between(self.shortest or None, self.longest)} characters; these are {len(text)}."
        if self.pattern and not self.pattern.search(text):
            return self.pattern_error or "This answer has not the form that was asked for."
        return ""

    def _is_number(self, text: str) -> bool:
        try:
            number = float(text)
        except ValueError:
            return False
        return (self.lowest is None or number >= self.lowest) and (self.highest is None or number <= self.highest)


@dataclass(frozen=True)
class Choice:
    """``several``: more than one selection may be ticked; ``other``: the worker may write an answer of their own."""

    selections: tuple[Selection, ...]
    fewest: int = 1
    most: int = 1
    several: bool = False
    other: FreeText | None = None

    def error(self, chosen: Sequence[str]) -> str:
        """Return why these identifiers cannot be the answer, or nothing."""
        known = {selection.identifier for selection in self.selections}
        if not self.other and (unknown := [name for name in chosen if name not in known]):
            return f"{unknown[0]!r} is not one of the answers."
        if not self.fewest <= len(chosen) <= self.most:
            return f"Choose{_between(self.fewest, self.most)}; you chose {len(chosen)}."
        return ""


@dataclass(frozen=True)
class Question:
    identifier: str
    name: str
    required: bool
    content: tuple[Block, ...]
    answer: FreeText | Choice

    def error(self, given: Sequence[str]) -> str:
        """Return why what was given cannot be the answer, or nothing."""
        filled = [text for text in given if text.strip()]
        if not filled:
            return "This question needs an answer." if self.required else ""
        return self.answer.error(filled) if isinstance(self.answer, Choice) else self.answer.error(filled[0])


@dataclass(frozen=True)
class Form:
    """Overviews and questions in the order they stand in."""

    parts: tuple[tuple[Block, ...] | Question, ...]

    @property
    def questions(self) -> list[Question]:
        return [part for part in self.parts if isinstance(part, Question)]

    def errors(self, given: Given) -> dict[str, str]:
        """Return what is wrong with the answers, by question."""
        found = {question.identifier: question.error(given.get(question.identifier, ())) for question in self.questions}
        return {identifier: error for identifier, error in found.items() if error}


def read_form(root: Element) -> Form:
    """Read a parsed QuestionForm. Raises ValueError, naming the question, where it holds an answer we cannot show."""
    parts = (
        _question(part) if _name(part) == "Question" else _blocks(part)
        for part in root
        if _name(part) in ("Overview", "Question")
    )
    return Form(tuple(parts))


def _question(node: Element) -> Question:
    identifier = _text(node, "QuestionIdentifier")
    specification = _child(node, "AnswerSpecification")
    answers = [] if specification is None else [*specification]
    if not answers or _name(answers[0]) not in _ANSWERS:
        raise ValueError(f"Question {identifier!r} asks for neither free text nor a selection.")
    return Question(
        identifier=identifier,
        name=_text(node, "DisplayName"),
        required=_text(node, "IsRequired") == "true",
        content=_blocks(_child(node, "QuestionContent")),
        answer=_ANSWERS[_name(answers[0])](answers[0]),
    )


def _free_text(node: Element) -> FreeText:
    constraints = _child(node, "Constraints")
    numeric, length, form = (_child(constraints, name) for name in ("IsNumeric", "Length", "AnswerFormatRegex"))
    flags = sum(REGEX_FLAGS.get(flag, 0) for flag in _attribute(form, "flags") or "")
    return FreeText(
        lines=int(_text(node, "NumberOfLinesSuggestion") or 1),
        default=_text(node, "DefaultText"),
        numeric=numeric is not None,
        lowest=_number(numeric, "minValue"),
        highest=_number(numeric, "maxValue"),
        shortest=int(_number(length, "minLength") or 0),
        longest=None if (most := _number(length, "maxLength")) is None else int(most),
        pattern=None if form is None else re.compile(_attribute(form, "regex") or "", flags),
        pattern_error=_attribute(form, "errorText") or "",
    )


def _choice(node: Element) -> Choice:
    selections = _child(node, "Selections")
    nodes = [] if selections is None else [*selections]
    other = next((child for child in nodes if _name(child) == "OtherSelection"), None)
    offered = tuple(_selection(child) for child in nodes if _name(child) == "Selection")
    most = int(_text(node, "MaxSelectionCount") or 1)
    return Choice(
        selections=offered,
        fewest=int(_text(node, "MinSelectionCount") or 1),
        most=most,
        several=most > 1 or _text(node, "StyleSuggestion") in CHECKBOX_STYLES,
        other=None if other is None else _free_text(other),
    )


def _selection(node: Element) -> Selection:
    return Selection(_text(node, "SelectionIdentifier"), _blocks(node))


def _blocks(node: Element | None) -> tuple[Block, ...]:
    blocks = (_block(child) for child in (() if node is None else node))
    return tuple(block for block in blocks if block is not None)


def _block(node: Element) -> Block | None:
    match _name(node):
        case "Title":
            return Block("title", node.text or "")
        case "Text":
            return Block("text", node.text or "")
        case "List":
            return Block("list", items=tuple(item.text or "" for item in node))
        case "Binary":
            return Block("picture", _text(node, "AltText"), (_text(node, "DataURL"),))
        case "FormattedContent":
            return Block("formatted", node.text or "")
    return None


_ANSWERS: Mapping[str, Callable[[Element], FreeText | Choice]] = {
    "FreeTextAnswer": _free_text,
    "SelectionAnswer": _choice,
}


def _between(lowest: float | None, highest: float | None) -> str:
    if lowest is not None and lowest == highest:
        return f" exactly {lowest:g}"
    least = "" if lowest is None else f" at least {lowest:g}"
    most = "" if highest is None else f" at most {highest:g}"
    return " and".join(filter(None, (least, most)))


def _name(node: Element) -> str:
    return node.tag.rpartition("}")[2]


def _child(node: Element | None, name: str) -> Element | None:
    return next((child for child in (() if node is None else node) if _name(child) == name), None)


def _text(node: Element, name: str) -> str:
    child = _child(node, name)
    return "" if child is None else (child.text or "").strip()


def _attribute(node: Element | None, name: str) -> str | None:
    return None if node is None else node.get(name)


def _number(node: Element | None, name: str) -> float | None:
    value = _attribute(node, name)
    return None if value is None else float(value)
