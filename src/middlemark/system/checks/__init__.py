"""The checks of the machine, one each: a new one has its place in ``registry.py``."""
