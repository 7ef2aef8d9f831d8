import urllib.request
from datetime import UTC, datetime, timedelta
from urllib.error import HTTPError

import pytest

from counterpart_emulators.mturk.signing import OTHER_ACCOUNT, REQUESTER, Credential


def test_a_call_signed_by_the_requester_is_answered(connect):
    assert connect(REQUESTER).get_account_balance()["AvailableBalance"] == "10000.00"


@pytest.mark.parametrize(
    ("credential", "code", "says"),
    [
        (Credential(REQUESTER.access_key, "wrong"), "InvalidSignatureException", "does not match the signature"),
        (Credential("AKIANOBODY", "secret"), "UnrecognizedClientException", "security token"),
        (OTHER_ACCOUNT, "RequestError", "must be linked to your Amazon Mechanical Turk Account"),
    ],
)
def test_a_call_of_another_account_is_refused_in_aws_words(connect, refused, credential, code, says):
    refusal = refused(connect(credential).get_account_balance)
    assert refusal[0] == code
    assert says in refusal[2]


def test_a_signature_for_another_region_is_refused(connect, refused):
    code, _, message = refused(connect(region="sandbox").get_account_balance)
    assert (code, "'sandbox'" in message) == ("InvalidSignatureException", True)


def unsigned(url: str, body: bytes = b"{}", **headers: str) -> HTTPError:
    target = {"X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance"}
    request = urllib.request.Request(url, data=body, headers=target | headers)
    with pytest.raises(HTTPError) as caught:
        urllib.request.urlopen(request)
    return caught.value


def test_an_unsigned_call_is_refused(emulator):
    error = unsigned(emulator.url)
    assert (error.code, b"MissingAuthenticationTokenException" in error.read()) == (400, True)


def test_a_signature_that_cannot_be_read_is_refused(emulator):
    error = unsigned(emulator.url, Authorization="AWS4-HMAC-SHA256 Credential=nonsense")
    assert b"IncompleteSignatureException" in error.read()


def signed_headers(mturk) -> dict[str, str]:
    """Return the headers of a call that was signed and sent."""
    seen: dict[str, str] = {}
    mturk.meta.events.register("before-send.mturk", lambda request, **_: seen.update(request.headers))
    mturk.get_account_balance()
    return {name: each.decode() if isinstance(each, bytes) else each for name, each in seen.items()}


def test_a_body_changed_after_signing_is_refused(emulator, mturk):
    headers = {name: each for name, each in signed_headers(mturk).items() if name != "Content-Length"}
    with urllib.request.urlopen(urllib.request.Request(emulator.url, data=b"{}", headers=headers)) as unchanged:
        assert unchanged.status == 200
    assert b"InvalidSignatureException" in unsigned(emulator.url, b'{"a": 1}', **headers).read()


def test_an_old_signature_is_refused(emulator, mturk):
    now = datetime.now(UTC)
    same_day = now - timedelta(hours=1) if now.hour else now + timedelta(hours=1)
    for at in (same_day, now - timedelta(days=400)):
        headers = signed_headers(mturk) | {"X-Amz-Date": f"{at:%Y%m%dT%H%M%SZ}"}
        assert b"Signature expired" in unsigned(emulator.url, **headers).read()
