"""What stands in the frame of a task page: the requester's address with its parameters, or a form of our own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from emulators.mturk.questions import Question
from emulators.mturk.site.question_form import Form, read_form
from emulators.mturk.xml import parse

Parameters = list[tuple[str, str]]
Given = Callable[[Parameters], Parameters]

OTHER_NAMES = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"


@dataclass(frozen=True)
class Frame:
    """Either a ``url`` with its ``height`` in pixels (0: what fits) or a ``form``.

    ``elsewhere`` is the origin to open this site at where the task's page shares our host name: a browser then lets
    cookies into the frame that it would keep out on the real site.
    """

    url: str = ""
    height: int = 0
    elsewhere: str = ""
    form: Form | None = None


def frame_of(
    task: Mapping[str, Any], *, origin: str, given: Given, assignment_id: str = "", worker_id: str = ""
) -> Frame:
    """Return the frame of a HIT that is previewed or, with ids, worked on.

    ``origin`` is where its form is sent; ``given`` has the last word on the parameters.
    """
    question: Question = task["question"]
    if question.kind == "QuestionForm":
        return Frame(form=read_form(parse(task["document"])))
    url = question.url if question.kind == "ExternalQuestion" else f"{origin}/worker/html/{task['hit_id']}"
    parameters = [("assignmentId", assignment_id or NOT_AVAILABLE), ("hitId", task["hit_id"]), ("turkSubmitTo", origin)]
    if assignment_id:
        parameters.append(("workerId", worker_id))
    return Frame(
        url=with_parameters(url, given(parameters)), height=question.frame_height, elsewhere=_elsewhere(url, origin)
    )


def with_parameters(url: str, parameters: Parameters) -> str:
    """Append parameters to an address, behind those it has and before its fragment."""
    parts = urlsplit(url)
    query = "&".join(filter(None, (parts.query, urlencode(parameters))))
    return urlunsplit(parts._replace(query=query))


def _elsewhere(url: str, origin: str) -> str:
    """Return our own origin under this machine's other name, where ``url`` is on the same host."""
    theirs, ours = urlsplit(url).hostname, urlsplit(origin)
    if theirs != ours.hostname or theirs not in OTHER_NAMES or url.startswith(origin):
        return ""
    return f"{ours.scheme}://{OTHER_NAMES[theirs]}:{ours.port}"
