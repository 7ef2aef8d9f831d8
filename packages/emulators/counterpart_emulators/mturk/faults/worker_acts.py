"""What workers do, and the faults they meet: time that passes, reissued ids, odd addresses and answers."""

from collections.abc import Callable, Mapping
from typing import Any

from counterpart_emulators.marketplace import PersonActs
from counterpart_emulators.mturk.world import World
from counterpart_emulators.mturk.xml_documents import ANSWERS, answers_document

Parameters = list[tuple[str, str]]
Fields = Mapping[str, str]

DOCTYPE = '<!DOCTYPE QuestionFormAnswers SYSTEM "file:///etc/passwd">'
ENTITIES = (
    '<!DOCTYPE QuestionFormAnswers [<!ENTITY a "zebra"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>'
)


def _with_prologue(fields: Fields, prologue: str) -> str:
    declaration, _, body = answers_document(fields).partition("\n")
    return f"{declaration}\n{prologue}\n{body}"


def _repeated(fields: Fields) -> str:
    """Return the answers with the first field a second time, with another value."""
    name = next(iter(fields))
    first = answers_document(fields)
    second = answers_document({name: f"{fields[name]} again"})
    answer = second[second.index("\n  <Answer>") : second.index("\n</QuestionFormAnswers>")]
    return first.replace("\n</QuestionFormAnswers>", f"{answer}\n</QuestionFormAnswers>")


# Answers that no form of ours sends, and that a requester has to survive.
SHAPES: Mapping[str, Callable[[Fields], str]] = {
    "empty": lambda fields: "",
    "no answers": lambda fields: answers_document({}),
    "unknown fields": lambda fields: answers_document({**fields, "browser_extension": "42", "": "nameless"}),
    "repeated field": _repeated,
    "foreign": lambda fields: answers_document(dict.fromkeys(fields, "another worker's answer")),
    "doctype": lambda fields: _with_prologue(fields, DOCTYPE),
    "entities": lambda fields: _with_prologue(dict.fromkeys(fields, "?"), ENTITIES).replace(">?<", ">&d;<"),
    "markup": lambda fields: answers_document(dict.fromkeys(fields, "<script>alert(1)</script>]]>&amp;")),
    "cut off": lambda fields: answers_document(fields)[:-20],
    "other namespace": lambda fields: answers_document(fields).replace(ANSWERS, "urn:elsewhere"),
}

ADDRESSES: Mapping[str, Callable[[Parameters], Parameters]] = {
    "slash": lambda given: [(name, f"{value}/" if name == "turkSubmitTo" else value) for name, value in given],
    "repeated": lambda given: [*given, *given],
    "contradicting": lambda given: [*given, ("assignmentId", "3SOMEBODYELSES")],
    "no worker": lambda given: [(name, value) for name, value in given if name != "workerId"],
}


class Work(PersonActs[World]):
    """Acts for workers. Faults name these operations: preview, accept, work, submit and return. All raise Refusal."""

    def accept(self, hit_id: str, worker_id: str) -> dict[str, Any]:
        self.let_time_pass("accept")
        policies = [fault.settings["to"] for fault in self._plan.happening("accept", "reissue")]
        if not policies:
            return self._world.accept(hit_id, worker_id)
        with self._world.looking() as state:
            usual = state.reissue
            self._world.act("set_reissue", policy=policies[0])
            try:
                return self._world.accept(hit_id, worker_id)
            finally:
                self._world.act("set_reissue", policy=usual)

    def submit(self, assignment_id: str, worker_id: str, fields: Fields) -> dict[str, Any]:
        self.let_time_pass("submit")
        answer = None
        for fault in self._plan.happening("submit", "answer")[:1]:
            own = {name: value for name, value in fields.items() if name != "assignmentId"}
            answer = SHAPES[fault.settings["shape"]](own or {"nothing": ""})
        return self._world.submit(assignment_id, worker_id, dict(fields), answer=answer)

    def return_assignment(self, assignment_id: str, worker_id: str) -> dict[str, Any]:
        self.let_time_pass("return")
        return self._world.return_assignment(assignment_id, worker_id)

    def address(self, operation: str, parameters: Parameters) -> Parameters:
        """Return the parameters in a task's address on ``preview`` or ``work``."""
        for fault in self._plan.happening(operation, "address"):
            parameters = ADDRESSES[fault.settings["form"]](parameters)
        return parameters
