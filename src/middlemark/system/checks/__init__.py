"""The checks of the machine, one in each file. A new check must also be added to ``registry.py``."""
