"""Packages of a software distribution as topics: who has which installed, and how often they are updated.

No data is shipped; the law is made from what is known of Debian. A tenth of the packages is on every machine;
the popularity of the others falls as a power of the rank. Packages depend on more popular ones, and a user
with a package has what it depends on. Profiles (desktop, server, ...) make users alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from testbed.topology.seeding import Draw
from testbed.workload.interests import Interests

DAYS_A_YEAR = 365.0


@dataclass(frozen=True)
class Distribution:
    packages: int = 3000
    core: float = 0.1  # share of the packages that everyone has
    slope: float = 1.87  # of popularity against rank, from Debian's popularity contest of February 2008
    profiles: int = 4
    preferred: float = 4.0  # how much likelier a profile's packages are for its users, before the cap at 1
    dependencies: int = 2  # of a package, at most
    rarest_per_year: float = 1.0
    most_per_week: float = 1.0


def popularity(law: Distribution) -> list[float]:
    """Of each package by rank: 1 in the core, then rank^-slope from there."""
    core = max(1, round(law.core * law.packages))
    return [min(1.0, ((rank + 1) / core) ** -law.slope) for rank in range(law.packages)]


def dependencies(law: Distribution, draw: Draw) -> list[list[int]]:
    """Of each package: up to so many more popular ones outside the core, which everyone has anyway."""
    core = max(1, round(law.core * law.packages))
    found: list[list[int]] = []
    for package in range(law.packages):
        wanted = draw.below(law.dependencies + 1) if package > core else 0
        found.append(sorted({core + draw.below(package - core) for _ in range(wanted)}))
    return found


def installed(law: Distribution, users: int, draw: Draw) -> Interests:
    """What each user has, dependencies included, in random order."""
    chances, needs = popularity(law), dependencies(law, draw)
    profile_of = [draw.below(law.profiles) for _ in range(law.packages)]
    return [_of_user(law, chances, needs, profile_of, draw) for _ in range(users)]


def _of_user(
    law: Distribution, chances: list[float], needs: list[list[int]], profile_of: list[int], draw: Draw
) -> list[int]:
    mine = draw.below(law.profiles)
    others = (law.profiles - law.preferred) / (law.profiles - 1) if law.profiles > 1 else 1.0
    has: set[int] = set()
    for package, chance in enumerate(chances):
        weight = law.preferred if profile_of[package] == mine else max(others, 0.0)
        if chance == 1.0 or draw.unit() < min(1.0, chance * weight):
            has.add(package)
    for package in sorted(has, reverse=True):  # what it needs is more popular, so comes later
        _close(package, needs, has)
    return draw.shuffled(sorted(has))


def _close(package: int, needs: list[list[int]], has: set[int]) -> None:
    """With everything that it depends on, and that on."""
    left = [package]
    while left:
        for one in needs[left.pop()]:
            if one not in has:
                has.add(one)
                left.append(one)


def updates_per_day(law: Distribution, draw: Draw) -> list[float]:
    """Log-uniform between the rarest and the most frequent, per package."""
    low, high = law.rarest_per_year / DAYS_A_YEAR, law.most_per_week / 7
    return [float(low * (high / low) ** draw.unit()) for _ in range(law.packages)]
