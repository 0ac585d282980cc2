"""The base of the structs that ``scripts/protocol`` generates, and the error that refuses a trial."""

import json
from typing import Any, ClassVar, Self, dataclass_transform


class AdapterError(Exception):
    """A trial cannot be made as requested. ``advice`` is the next step for the user."""

    def __init__(self, text: str, advice: str = "") -> None:
        """``text`` names the cause and the place."""
        super().__init__(text)
        self.advice = advice


@dataclass_transform(kw_only_default=True)
class Struct:
    """A value with the fields that its class declares. A class may declare defaults of the fields.

    ``dataclasses`` would do the same, but takes 20 ms to import and to make the classes.
    """

    declared: ClassVar[tuple[str, ...]] = ()
    """The names of the fields, which are also their keys in JSON."""

    def __init_subclass__(cls) -> None:
        """Collect the names of the class's fields and of its base's."""
        cls.declared = (*cls.declared, *cls.__annotations__)

    def __init__(self, **fields: Any) -> None:
        """Set the fields. Raises TypeError for a field that the class does not declare."""
        if unknown := fields.keys() - {*self.declared}:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        self.__dict__.update(fields)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Return a struct with these values. Values that the class does not declare are ignored."""
        return cls(**{name: value for name, value in values.items() if name in cls.declared})

    def to_json(self) -> str:
        """Return the struct as JSON, as the protocol defines it."""
        return json.dumps(self, default=lambda each: each.fields())

    def fields(self) -> dict[str, Any]:
        """Return the values of all fields by their key in JSON."""
        return {name: getattr(self, name) for name in self.declared}
