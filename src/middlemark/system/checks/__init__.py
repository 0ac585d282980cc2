"""The checks of the machine, one per file. A new check must be added to ``registry.py``."""
