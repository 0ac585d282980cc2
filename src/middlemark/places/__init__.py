"""Where a worker runs: a prefix to its argv and the placement it applies to itself."""

from middlemark.places.here import Place, place_processes, place_roles

__all__ = ["Place", "place_processes", "place_roles"]
