"""The machines where roles run: processes, scratch folders, leftovers, counters, evidence, the witness."""
