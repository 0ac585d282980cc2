"""Measures, stores and reads back runs: the steps that the verbs of the command line share."""
