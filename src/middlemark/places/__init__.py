"""Where a worker runs: a prefix to its argv and the placement it applies to itself."""

from middlemark.places.here import Place, Placement, place_roles

__all__ = ["Place", "Placement", "place_roles"]
