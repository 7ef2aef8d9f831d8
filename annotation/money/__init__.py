"""What work earns and rounds cost: the ceiling, the ledger, payments, wages, payroll."""
