"""What only a rehearsal has: the clock's hands, the account's balance, faults, and a look at everything."""
