"""An emulator of Prolific: the researchers' API, the participants' site, webhooks and controls, in one process."""

TOKEN = "emulated-prolific-token"  # noqa: S105 - opens nothing but an emulator
