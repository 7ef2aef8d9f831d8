"""Errors of the Requester API, with the codes and texts of the live service."""

from datetime import UTC, datetime

STAMPED = ("RequestError", "ServiceFault", "ParameterValidationError")


class TurkError(Exception):
    """A refused call. ``code`` is the exception's name on the wire, ``turk_code`` the marketplace's own code.

    Most texts end in the epoch milliseconds in parentheses, with " s" in the sandbox, as live ones do.
    """

    def __init__(
        self, message: str, *, code: str = "RequestError", turk_code: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.turk_code = f"AWS.MechanicalTurk.{turk_code}" if turk_code else None
        self.status = status

    def text(self, at: datetime, *, sandbox: bool) -> str:
        """Return the message as it is sent at an instant."""
        if self.code not in STAMPED:
            return self.message
        return f"{self.message} ({int(at.astimezone(UTC).timestamp() * 1000)}{' s' if sandbox else ''})"


def does_not_exist(kind: str, row_id: str) -> TurkError:
    """Unknown id. ``kind``: Hit, Assignment, QualificationType, Qualification, …"""
    return TurkError(f"{kind} {row_id} does not exist.", turk_code=f"{'HIT' if kind == 'Hit' else kind}DoesNotExist")


def wrong_assignment_state(*allowed: str) -> TurkError:
    """Return the error for an assignment whose state does not allow the call."""
    return TurkError(
        f"This operation can be called with a status of: {','.join(allowed)}", turk_code="InvalidAssignmentState"
    )


def wrong_hit_state(status: str, *allowed: str) -> TurkError:
    """Return the error for a HIT whose state does not allow the call."""
    return TurkError(
        f"This HIT is currently in the state '{status}'.  "
        f"This operation can be called with a status of: {', '.join(allowed)}",
        turk_code="InvalidHITState",
    )


def already_processed(token: str) -> TurkError:
    # The live code of this error is undocumented; clients have to go by the message.
    return TurkError(
        f'The idempotency token "{token}" has already been processed.', turk_code="IdempotencyTokenAlreadyProcessed"
    )


def xml_parse_error(what: str) -> TurkError:
    return TurkError(
        f"There was an error parsing the XML question or answer data in your request. {what}", turk_code="XMLParseError"
    )


def invalid_value(parameter: str, value: object) -> TurkError:
    return invalid_parameter(f'The value "{value}" is not valid for the parameter {parameter}.')


def out_of_range(parameter: str, value: object, least: object, most: object) -> TurkError:
    return invalid_parameter(
        f"The value {value} is invalid for {parameter}. Valid values range from {least} to {most}."
    )


def invalid_parameter(text: str) -> TurkError:
    return TurkError(text, code="ParameterValidationError")


def not_emulated(text: str) -> TurkError:
    # No SDK retries a 501, as it does other server errors.
    return TurkError(text, code="ServiceFault", turk_code="NotEmulated", status=501)
