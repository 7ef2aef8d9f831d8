"""The faults that MTurk's emulator can have: what they are, and how calls and workers meet them."""
