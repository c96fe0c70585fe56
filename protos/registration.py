"""Numbers and names that several packages draw from: each has one holder, and plug-ins their own range."""

from __future__ import annotations

import re


class RegistrationError(ValueError):
    """A number or name that is taken, or outside the range of whoever wants it."""


class Claims:
    """Who holds which numbers and names of one sort of thing.

    `own`: the project's numbers, `others`: those of all other packages. Every name has to fit `names`.
    """

    def __init__(self, sort: str, own: range, others: range, names: str) -> None:
        self.sort, self.own, self.others = sort, own, others
        self._fits = re.compile(names)
        self._numbers: dict[int, str] = {}
        self._names: dict[str, str] = {}

    def take(self, number: int, name: str, holder: str, builtin: bool) -> None:
        """`holder`: where it comes from, to be named in errors. Raises RegistrationError."""
        self.check(number, name, holder, builtin)
        self._numbers[number] = self._names[name] = holder

    def check(self, number: int, name: str, holder: str, builtin: bool) -> None:
        """Raises RegistrationError when `take` would."""
        allowed = self.own if builtin else self.others
        if number not in allowed:
            whose = "the project's own are" if builtin else "those of plug-ins are"
            raise RegistrationError(
                f"{holder} wants {self.sort} number {number}; {whose} {allowed[0]} to {allowed[-1]}"
            )
        if not self._fits.fullmatch(name):
            raise RegistrationError(f"{holder}: {name!r} is no name of a {self.sort}")
        self._refuse_second("number", number, self._numbers.get(number), holder)
        self._refuse_second("name", name, self._names.get(name), holder)

    def _refuse_second(self, what: str, wanted: int | str, first: str | None, second: str) -> None:
        if first is not None:
            raise RegistrationError(f"{self.sort} {what} {wanted} is wanted by both {first} and {second}")
