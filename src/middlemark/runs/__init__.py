"""Measure, store and read back runs: the steps that the verbs of the command line share."""
