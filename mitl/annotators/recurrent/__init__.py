"""What the machines with a recurrent reader of captions share: PVSE, PCME, VSRN and VSE++."""
