"""Figures 5 to 9 of DYNATOPS: what the checks can say, and a small instance computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas
import pytest

from experiments.dynatops import models
from experiments.dynatops.claims import location, poisson, visits
from experiments.dynatops.claims.data import VALUES, Data
from experiments.dynatops.figures import model_figures
from experiments.dynatops.location import SYSTEMS
from experiments.dynatops.location import location as on_location
from experiments.dynatops.models import LOCATION, POISSON, SMOKE
from experiments.dynatops.poisson import poisson as on_poisson
from experiments.dynatops.readings import READINGS
from testbed.reproduction.claim import judge

RATES = (0.0125, 0.05, 0.1, 0.2)
Change = Callable[[dict[str, Any]], dict[str, float]]


def as_the_paper_has_it(row: dict[str, Any]) -> dict[str, float]:
    """Made-up values for which every sentence of section 6.3 holds."""
    system, rate, period = row["system"], row.get("rate", 0.1), row["period"]
    ours = system.startswith("dynatops")
    found = dict.fromkeys(VALUES, 100.0) | {"moved": 10.0, "load_deviation": 50.0}
    if row["model"] == "poisson":
        found |= {"changes": 1000 * rate * (0.2 if ours else 1.0)}
        zipf = row["pattern"] == "zipf"
        found |= {"delay": 105.0, "overhead": 100.0} | (
            {"delay": 99.0 if zipf else 106.0} if system == "tco" else {}
        )
        found |= {"overhead": 90.0} if system == "tco" else {}
        found["reconfiguration"] = 30_000 * rate**1.1 if system == "tco" else 100 + 100 * rate + 5 / period
        if ours:
            found |= {"delay": (90.0 if zipf else 94.5) + period / 100, "overhead": 40.0 + period / 100}
    else:
        shrunk = {2: 1.0, 5: 0.9, 10: 0.8, 20: 0.7, 50: 0.6}[row["cluster"]]
        similar = ours or system.startswith("up")
        scale = 1.0
        if system.startswith("bnr"):
            scale = 0.9
        if similar:
            scale = 0.35 * shrunk * (1.0 if ours else 1.2)
        found |= {"delay": 100 * scale + period / 1000, "overhead": 100 * scale + period / 1000}
        found |= {"tree_messages": 50 * shrunk if similar else 100.0}
        found |= {
            "management": {2: 40.0, 5: 35.0, 10: 30.0, 20: 33.0, 50: 38.0}[row["cluster"]]
            if similar
            else 100.0
        }
        found |= {"delay": 60.0, "overhead": 60.0} if system == "geops" else {}
        found |= {"handovers": 15.0 if similar else 100.0, "reconfiguration": 100.0 - period / 10}
        if similar:
            found["load_deviation"] = 60 + row["cluster"] if row["load"] == 0 else 20.0
    return found


def table(change: Change = lambda row: {}) -> Data:
    made = []
    for seed in (1, 2):
        for pattern, rate, period in (
            *(("modes", rate, 10) for rate in (*RATES, 0.025)),
            ("uniform", 0.1, 10), ("zipf", 0.1, 10), ("modes", 0.025, 5), ("modes", 0.025, 20),
        ):  # fmt: skip
            for system in (*models.STATIC, *models.RECONFIGURED, *models.SIMILAR, "tco"):
                made.append(
                    {
                        "model": "poisson", "system": system, "pattern": pattern, "rate": rate,
                        "period": period, "seed": seed,
                    }
                )  # fmt: skip
        for cluster, load, period in (
            *((c, 0.5, 168) for c in (2, 5, 10, 20, 50)), (2, 0.0, 168), (10, 0.0, 168), (10, 0.5, 72),
            (10, 0.5, 336),
        ):  # fmt: skip
            systems = SYSTEMS if (cluster, load, period) == (10, 0.5, 168) else ("up", "dynatops")
            for system in systems:
                made.append(
                    {
                        "model": "location", "system": system, "cluster": cluster, "load": load,
                        "period": period, "seed": seed,
                    }
                )  # fmt: skip
    for row in made:
        values = as_the_paper_has_it(row)
        values |= change(row)
        row |= {f"v_{name}": value * (1 + row["seed"] / 1e5) for name, value in values.items()}
    rows = pandas.DataFrame(made)
    return Data(rows[rows.model == "poisson"], rows[rows.model == "location"])


def outcomes(data: Data) -> dict[str, str]:
    claims = [*location.CLAIMS, *poisson.CLAIMS]
    return {one.claim: one.outcome for one in judge(claims, data, "made up", READINGS)}


CALIBRATED = {"D6a-least", "D6a-40", "D6a-ten", "D6a-u"}
STATED_TWICE = {"D0-delay"}  # 30 % less delay in general, where figure 7b has 10 %


def test_the_papers_own_shapes_pass() -> None:
    found = outcomes(table())
    assert {claim for claim, one in found.items() if one == "unknown"} == CALIBRATED
    assert {claim for claim, one in found.items() if one == "fail"} <= STATED_TWICE


def of(system: str, **values: float) -> Change:
    return lambda row: values if row["system"] == system else {}


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (of("dynatops", changes=900.0), "D7a"),
        (of("dynatops", changes=1.0), "D7a"),  # more than the stated 80 % is not it either
        (of("dynatops", changes=1.0), "D7a-rises"),
        (of("tco", delay=1.0), "D7b-tco"),
        (of("dynatops", delay=200.0), "D7b-least"),
        (of("dynatops", delay=50.0), "D7b-10"),
        (of("tco", overhead=200.0), "D7c-tco"),
        (of("dynatops", overhead=60.0), "D7c-50"),
        (of("tco", reconfiguration=5.0), "D7d-tco"),
        (of("tco", reconfiguration=150.0), "D7d-80"),
        (of("tco", reconfiguration=150.0), "D7d-flat"),
        (of("dynatops", delay=200.0), "D8-delay"),
        (of("dynatops", overhead=99.0), "D8-overhead"),
        (of("tco", delay=50.0), "D8a-tco"),
        (of("dynatops", reconfiguration=7.0), "D9-poisson-reconfiguration"),
        (of("geops", handovers=20.0), "D6c"),
        (of("up", load_deviation=500.0), "D6b-zero"),
        (of("up", load_deviation=500.0), "D6b-weighed"),
        (of("geops", delay=10.0), "D6d-geops"),
        (of("bayeux-16(loc+pns)", delay=50.0), "D6d-bayeux"),
        (of("bayeux-16(static)", overhead=30.0), "D6e-bayeux"),
        (of("geops", overhead=30.0), "D6e-geops"),
        (of("up", delay=300.0), "D6d-up"),
        (of("bnr(loc)", overhead=300.0), "D6e-bnr"),
        (of("bnr(static)", delay=300.0), "D6d-bnr-bayeux"),
        (lambda row: {"delay": row.get("cluster", 1.0)}, "D6f-delay"),
        (lambda row: {"tree_messages": row.get("cluster", 1.0)}, "D6a-trees"),
        (lambda row: {"delay": row["period"] / 10.0}, "D9-location-delay"),
    ],
)  # fmt: skip
def test_each_check_can_fail(change: Change, claim: str) -> None:
    assert outcomes(table(change))[claim] == "fail"


def test_where_nobody_ever_moves_there_is_no_cost_to_compare() -> None:
    found = outcomes(table(of("dynatops", moved=0.0, reconfiguration=0.0)))
    assert found["D7d-80"] == found["D7d-flat"] == found["D9-poisson-delay"] == "unknown"
    assert outcomes(Data(pandas.DataFrame(), pandas.DataFrame()))["D7d-80"] == "unknown"


def test_all_claims_are_judged_from_a_small_instance_and_drawn() -> None:
    """Every check has what it asks for in the columns that the computations give."""
    arguments = {"users": 60, "brokers": 10, "topics": 24, "modes": 4, "hours": 10, **POISSON}
    names = [*models.STATIC, *models.RECONFIGURED, *models.SIMILAR, "tco"]
    one, other = (
        on_poisson(lambda line: None, systems=names, seed=3, **arguments)["poisson"] for _ in range(2)
    )
    assert one.equals(other)
    assert list(one.system) == ["bayeux-2", "bayeux-4", "bayeux-16", "chash", "bnr", "bnr-prefix", "tco",
                                *models.SIMILAR]  # fmt: skip
    static = one[one.system.isin(models.STATIC)]
    assert static.changes.nunique() == 1, "where users are does not depend on the overlay"
    assert (one[one.system == "tco"].relays == 0).all()
    size: dict[str, Any] = {"users": 60, "rows": 4, "columns": 10, "days": 5, "square": 4}
    rows = on_location(lambda line: None, systems=["up", "dynatops"], seed=3, **size, **LOCATION)["location"]
    assert (rows.telling == 5 * 40 * 9).all()
    with pytest.raises(ValueError, match="placements"):
        on_location(lambda line: None, systems=["up", "geops"], seed=3, **size, **LOCATION)
    drawn = list(model_figures(table(), pandas.DataFrame(), "made up"))
    assert {"fig6a", "fig6b", "fig7d", "fig8b", "fig9-location-delay"} <= {one.id for one in drawn}


def test_every_point_is_another_computation() -> None:
    points = [p for group in models.of_seed(models.Instance(), 1).values() for p in group]
    keys = [p.row_key for p in points]
    assert len(set(keys)) == len(keys)
    assert len({(p.set, p.id) for p in points}) == len(points) > 35
    assert len({p.id for group in models.of_seed(SMOKE, 2).values() for p in group}) > 20
    assert {claim.id for claim in visits.CLAIMS} == set(
        next(r for r in READINGS if r.id == "mobility").calibrated_on
    )
