"""Workloads from what people have: descriptions of other tools, recordings, and the file that they become."""
