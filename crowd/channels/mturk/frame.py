"""What MTurk adds to our page's address inside its frame, and what it makes of the form that the page sends."""

import re
from collections.abc import Mapping, Sequence

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from crowd.channels.base import Arrival, ChannelError
from crowd.channels.mturk.environments import environment_of

SUBMIT_PATH = "/mturk/externalSubmit"
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
ENTITY, WORKER = re.compile(r"[A-Z0-9]{1,64}"), re.compile(r"A[A-Z0-9]{7,63}")
ANSWERS = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd}"


def arrival(environment: str, fields: Mapping[str, Sequence[str]]) -> Arrival:
    """Read assignmentId, hitId, workerId and turkSubmitTo from an address's fields, each a list of its values.

    Raises ChannelError where one is malformed, comes twice with different values, or is missing although the HIT was
    accepted, and where the form should go to a site that is none of the environment's.
    """
    assignment = _one(fields, "assignmentId") or PREVIEW
    is_preview = assignment == PREVIEW
    return Arrival(
        posting_id=_matching(ENTITY, _one(fields, "hitId"), "hitId", optional=is_preview),
        assignment_id="" if is_preview else _matching(ENTITY, assignment, "assignmentId"),
        worker_id=_matching(WORKER, _one(fields, "workerId"), "workerId", optional=is_preview),
        finish_url=_finish_url(environment, _one(fields, "turkSubmitTo")),
        finish_fields={"assignmentId": assignment},
        is_preview=is_preview,
    )


def answer_fields(content: str) -> dict[str, str]:
    """Parse QuestionFormAnswers into free text by question. Unknown parts are ignored; what is no such XML, declares
    a DTD or entities, or is empty gives no fields."""
    try:
        root = fromstring(content, forbid_dtd=True) if content.strip() else None
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    answers = [] if root is None else root.findall(f"{ANSWERS}Answer")
    return {
        answer.findtext(f"{ANSWERS}QuestionIdentifier", ""): answer.findtext(f"{ANSWERS}FreeText", "") or ""
        for answer in answers
    }


def _one(fields: Mapping[str, Sequence[str]], name: str) -> str:
    values = set(fields.get(name, ()))
    if len(values) > 1:
        raise _refused(f"{name} came {len(fields[name])} times with different values.")
    return values.pop() if values else ""


def _matching(pattern: re.Pattern[str], value: str, name: str, *, optional: bool = False) -> str:
    if (optional and not value) or pattern.fullmatch(value):
        return value
    raise _refused(f"{name} is {'malformed' if value else 'missing'}.")


def _finish_url(environment: str, wanted: str) -> str:
    origins = environment_of(environment).origins
    origin = wanted.rstrip("/") or origins[0]
    if origin not in origins:
        raise _refused(f"turkSubmitTo is {wanted!r}, which is no site of MTurk's {environment}.")
    return origin + SUBMIT_PATH


def _refused(text: str) -> ChannelError:
    return ChannelError(f"This address is not one that MTurk makes: {text}", permanent=True)
