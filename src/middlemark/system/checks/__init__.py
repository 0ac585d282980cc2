"""The checks of the machine, one per file. Add a new one to ``registry.py``."""
