"""Licences of data by their SPDX ids, and what other sites call them."""

SPDX = (
    *("CC0-1.0", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-ND-4.0"),
    *("CC-BY-NC-3.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0", "CC-BY-NC-ND-4.0"),
    *("ODbL-1.0", "ODC-By-1.0", "PDDL-1.0", "CDLA-Permissive-1.0", "CDLA-Permissive-2.0", "CDLA-Sharing-1.0"),
    *("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause"),
)
_BY_NAME = {known.lower(): known for known in SPDX}
_OTHER_ON_THE_HUB = {"ODbL-1.0": "odbl", "ODC-By-1.0": "odc-by", "PDDL-1.0": "pddl"}


def spdx_id(licence: str) -> str:
    """Return the licence's SPDX id; empty if it is not in ``SPDX``."""
    return _BY_NAME.get(licence.strip().lower(), "")


def licence_url(licence: str) -> str:
    """Return where the licence is found; empty for a text that is neither an SPDX id nor an address."""
    if known := spdx_id(licence):
        return f"https://spdx.org/licenses/{known}"
    return licence if licence.startswith(("https://", "http://")) else ""


def on_the_hub(licence: str) -> dict[str, str]:
    """Return the fields of a Hugging Face card for the licence: the Hub has ids of its own, others have a name."""
    if not licence:
        return {"license": "unknown"}
    if known := spdx_id(licence):
        return {"license": _OTHER_ON_THE_HUB.get(known, known.lower())}
    url = licence_url(licence)
    return {"license": "other", "license_name": licence} | ({"license_link": url} if url else {})
