"""A quick look at a table: means and 95 % intervals over the rows of each x, a line per colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testbed.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure as Drawing


def figure(table: pandas.DataFrame, x: str, y: str, colour: str | None = None) -> Drawing:
    """A matplotlib figure. The rows at one x (and colour) are repetitions, as over seeds: say which rows you
    mean (`table.query(...)`) before. Words on x are categories: points without lines."""
    import matplotlib
    from matplotlib.figure import Figure as Drawing

    from testbed.reproduction.figures.plot import COLOURS, LOOK, MARKERS

    for column in filter(None, (x, y, colour)):
        if column not in table.columns:
            hint = did_you_mean(column, map(str, table.columns))
            raise InputError(f"the table has no column {column!r}", hint=hint)
    groups: list[tuple[Any, pandas.DataFrame]] = [("", table)] if colour is None else [*table.groupby(colour)]
    with matplotlib.rc_context(LOOK):
        drawing = Drawing(figsize=(6.4, 4.0), layout="constrained")
        axes = drawing.subplots()
        for place, (label, rows) in enumerate(groups):
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            _series(axes, rows, x, y, str(label), look)
        axes.set(xlabel=x, ylabel=y)
        if colour is not None:
            axes.legend(title=colour)
    return drawing


def _series(axes: Any, rows: pandas.DataFrame, x: str, y: str, label: str, look: dict[str, str]) -> None:
    from testbed.reproduction.interval import mean_interval

    known = rows[rows[y].notna() & rows[x].notna()]
    found = {at: mean_interval(group[y].to_list()) for at, group in known.groupby(x)}
    means = [one.mean for one in found.values()]
    spread = [[one.mean - one.low for one in found.values()], [one.high - one.mean for one in found.values()]]
    words = any(isinstance(at, str) for at in found)
    style = "" if words else "-"
    axes.errorbar([*found], means, yerr=spread, linestyle=style, capsize=2.5, label=label, **look)
