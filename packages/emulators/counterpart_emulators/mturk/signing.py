"""Who signed a request: AWS Signature Version 4, computed again by botocore's own signer."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from werkzeug import Request

from counterpart_emulators.mturk.errors import TurkError

REGION = "us-east-1"
SERVICE = "mturk-requester"
VALID_FOR = timedelta(minutes=15)

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 +Credential=(?P<key>[^/,]+)/(?P<date>\d{8})/(?P<region>[^/,]+)/(?P<service>[^/,]+)/aws4_request"
    r", *SignedHeaders=(?P<headers>[^,]+), *Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Credential:
    """A key that may sign. ``linked``: its account is linked to the marketplace's requester."""

    access_key: str
    secret_key: str
    linked: bool = True


# Valid for an emulator only; printed by the command and used by its tests.
REQUESTER = Credential("AKIAEMULATEDREQUESTR", "emulated-secret-of-the-requester")
OTHER_ACCOUNT = Credential("AKIAEMULATEDSTRANGER", "emulated-secret-of-another-account", linked=False)
CREDENTIALS = {each.access_key: each for each in (REQUESTER, OTHER_ACCOUNT)}


def check_signature(request: Request) -> None:
    """Raise TurkError, in AWS's words, unless a credential signed the request whose account is linked."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    claim = _claim(headers)
    known = CREDENTIALS.get(claim["key"])
    if known is None:
        raise TurkError("The security token included in the request is invalid.", code="UnrecognizedClientException")
    _check_scope(claim)
    _check_time(headers.get("x-amz-date", ""), claim["date"])
    if not hmac.compare_digest(_signature(known, claim, headers, request), claim["signature"]):
        raise _invalid(
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
            "Access Key and signing method. Consult the service documentation for details."
        )
    if not known.linked:
        raise TurkError("Your AWS account must be linked to your Amazon Mechanical Turk Account.")


def _claim(headers: Mapping[str, str]) -> dict[str, str]:
    authorization = headers.get("authorization", "")
    if not authorization:
        raise TurkError("Missing Authentication Token", code="MissingAuthenticationTokenException")
    found = _AUTHORIZATION.fullmatch(authorization)
    if found is None:
        raise TurkError(
            "Authorization header requires 'Credential', 'SignedHeaders' and 'Signature' parameters of "
            "AWS4-HMAC-SHA256.",
            code="IncompleteSignatureException",
        )
    return found.groupdict()


def _check_scope(claim: dict[str, str]) -> None:
    if claim["region"] != REGION:
        raise _invalid(f"Credential should be scoped to a valid region, not '{claim['region']}'.")
    if claim["service"] != SERVICE:
        raise _invalid(f"Credential should be scoped to correct service: '{SERVICE}'.")


def _check_time(stamp: str, date: str) -> None:
    """A signature is valid for 15 minutes of real time, whatever the emulator's clock says."""
    try:
        at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise _invalid("X-Amz-Date must be in ISO8601 basic format.") from None
    if abs(datetime.now(UTC) - at) > VALID_FOR or not stamp.startswith(date):
        raise _invalid(f"Signature expired: {stamp} is not within {VALID_FOR} of {datetime.now(UTC):%Y%m%dT%H%M%SZ}.")


def _signature(known: Credential, claim: dict[str, str], headers: Mapping[str, str], request: Request) -> str:
    signed = {name: headers[name] for name in claim["headers"].split(";") if name in headers}
    again = AWSRequest(method=request.method, url=request.url, headers=signed, data=request.get_data())
    again.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(Credentials(known.access_key, known.secret_key), claim["service"], claim["region"])
    return signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)


def _invalid(text: str) -> TurkError:
    return TurkError(text, code="InvalidSignatureException")
