"""Where roles run, and all that belongs to a machine: processes, scratch, residue, counters, evidence, the witness."""
