"""Score a qualification test by its AnswerKey."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from xml.etree.ElementTree import Element

from emulators.mturk.errors import xml_parse_error
from emulators.mturk.questions import check_size
from emulators.mturk.xml import SCHEMAS, XMLError, parse, split, text_of

NAMESPACE = f"{SCHEMAS}/2005-10-01/AnswerKey.xsd"
WHOLE = Decimal(1)


def check_answer_key(document: str) -> None:
    """Raise TurkError for a document that is too large or is no AnswerKey."""
    check_size(document, "AnswerKey")
    try:
        root = parse(document)
        if split(root) != (NAMESPACE, "AnswerKey"):
            raise XMLError(f"Cannot find the declaration of element '{root.tag}'.")
        _score(root, {})
    except (XMLError, InvalidOperation) as error:
        raise xml_parse_error(str(error)) from error


def score(document: str, answers: Mapping[str, Sequence[str]]) -> int:
    """Return the qualification's value for the selections made: the scores' sum, as the key maps it to a value."""
    return _score(parse(document), answers)


def _score(root: Element, answers: Mapping[str, Sequence[str]]) -> int:
    questions = root.findall("{*}Question")
    total = sum((_question_score(question, answers) for question in questions), Decimal(0))
    mapping = root.find("{*}QualificationValueMapping")
    value = _mapped(mapping[0], total) if mapping is not None and len(mapping) else total
    return int(value.quantize(WHOLE, ROUND_HALF_UP))


def _question_score(question: Element, answers: Mapping[str, Sequence[str]]) -> Decimal:
    """The score of the option whose selections are exactly those made, or else the question's default."""
    chosen = set(answers.get(text_of(question, "QuestionIdentifier"), ()))
    for option in question.findall("{*}AnswerOption"):
        if {(each.text or "").strip() for each in option.findall("{*}SelectionIdentifier")} == chosen:
            return Decimal(text_of(option, "AnswerScore"))
    return Decimal(text_of(question, "DefaultScore") or 0)


def _mapped(mapping: Element, total: Decimal) -> Decimal:
    _, kind = split(mapping)
    if kind == "PercentageMapping":
        return total * 100 / Decimal(text_of(mapping, "MaximumSummedScore"))
    if kind == "ScaleMapping":
        return total * Decimal(text_of(mapping, "SummedScoreMultiplier"))
    if kind != "RangeMapping":
        raise XMLError(f"Cannot find the declaration of element '{kind}'.")
    for part in mapping.findall("{*}SummedScoreRange"):
        if Decimal(text_of(part, "InclusiveLowerBound")) <= total <= Decimal(text_of(part, "InclusiveUpperBound")):
            return Decimal(text_of(part, "QualificationValue"))
    return Decimal(text_of(mapping, "OutOfRangeQualificationValue"))
