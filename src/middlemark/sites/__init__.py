"""The machines where roles run: their processes, scratch folders, leftovers, counters, evidence and witness."""
