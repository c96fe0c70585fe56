"""The difference of two tables, row by row. Pure: data frames in, differences out.

Rows are matched by their key: the columns that say what a row is about, never by position alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas
from pandas.api.types import is_bool_dtype, is_numeric_dtype

# Who made the table is said elsewhere; instants of a run are its own, what counts is the time between them.
NOT_COMPARED = frozenset({"run", "name", "engine", "clock", "published_us", "delivered_us"})
# Numbers that say which row it is, not what was measured.
KEY_NUMBERS = frozenset({"seed", "round", "node", "hops", "window_s", "interval", "count_of"})
KEYS: dict[str, tuple[str, ...]] = {
    "deliveries": ("publication", "subscriber"),
    "losses": ("outcome", "settled"),
    "wire": ("source", "target", "link"),
    "delay": ("group_by", "group"),
}
OCCURRENCE = "occurrence"
DIRECT = "direct_us"  # the planned delay to which a stretch is the ratio


@dataclass(frozen=True)
class ColumnDiff:
    column: str
    rows: int  # in which the two differ
    largest: float  # of the absolute differences, B - A, with its sign; nan for texts
    relative: float  # the same, of the larger of the two values; 1 when one side has no value
    where: str  # the row of the largest difference
    a: str  # its values there
    b: str
    mean_a: float
    mean_b: float


@dataclass(frozen=True)
class TableDiff:
    table: str
    rows_a: int
    rows_b: int
    only_a: int  # rows whose key the other does not have
    only_b: int
    columns: list[ColumnDiff] = field(default_factory=list)
    columns_only_a: list[str] = field(default_factory=list)
    columns_only_b: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        return not (self.only_a or self.only_b or self.columns or self.columns_only_a or self.columns_only_b)


@dataclass(frozen=True)
class Close:
    """How far numbers may be apart and count as the same."""

    relative: float = 0.0
    within_us: float = 0.0

    def apart(
        self, column: str, difference: np.ndarray, relative: np.ndarray, direct_us: np.ndarray | None
    ) -> np.ndarray:
        """`direct_us`: of each row, what its stretches are ratios to; None in a table without any."""
        off: np.ndarray = relative > self.relative
        if column.startswith("stretch") and direct_us is not None:
            off &= ~(np.abs(difference) * direct_us <= self.within_us)
        if column.endswith("_us"):
            off &= ~(np.abs(difference) <= self.within_us)  # no number is close to one that is missing
        return off


def compare_tables(
    name: str,
    a: pandas.DataFrame,
    b: pandas.DataFrame,
    tolerance: float = 0.0,
    ignore: Collection[str] = (),
    within_us: float = 0.0,
) -> TableDiff:
    """Numbers are the same when they differ by at most `tolerance` of the larger one, times (columns `_us`)
    also when they differ by at most `within_us`, and stretches when the delays behind them do."""
    a, b = _without(a, ignore), _without(b, ignore)
    key = key_columns(name, a, b)
    left, right = _keyed(a, key), _keyed(b, key)
    both = left.index.intersection(right.index, sort=False)
    shared = [c for c in left.columns if c in right.columns]
    close = Close(tolerance, within_us)
    direct_us = _numbers(left.loc[both, DIRECT]) if DIRECT in shared else None
    found = [_compare_column(c, left.loc[both, c], right.loc[both, c], close, direct_us) for c in shared]
    return TableDiff(
        name,
        len(a),
        len(b),
        len(left) - len(both),
        len(right) - len(both),
        [column for column in found if column is not None],
        [c for c in a.columns if c not in b.columns],
        [c for c in b.columns if c not in a.columns],
    )


def _without(frame: pandas.DataFrame, ignore: Collection[str]) -> pandas.DataFrame:
    """A run's tables have one seed, which is told once; a reproduction's tables have a row per seed."""
    ignored = {*NOT_COMPARED, *ignore} | ({"seed"} if "run" in frame.columns else set())
    return frame.drop(columns=[c for c in frame.columns if c in ignored])


def key_columns(name: str, a: pandas.DataFrame, b: pandas.DataFrame) -> list[str]:
    shared = [c for c in a.columns if c in b.columns]
    if name in KEYS:
        return [c for c in shared if c in KEYS[name]]
    return [c for c in shared if c in KEY_NUMBERS or _is_text(a[c]) or _is_text(b[c])]


def _is_text(values: pandas.Series) -> bool:
    return is_bool_dtype(values) or not is_numeric_dtype(values)


def _keyed(frame: pandas.DataFrame, key: Sequence[str]) -> pandas.DataFrame:
    """The n-th row with a key is matched with the other table's n-th row with that key."""
    words = frame[list(key)].astype(object).where(frame[list(key)].notna(), "-").astype(str)
    joined = words.agg(", ".join, axis=1) if key and len(frame) else pandas.Series("", index=frame.index)
    again = joined.groupby(joined).cumcount()
    index = pandas.MultiIndex.from_arrays([joined, again], names=["row", OCCURRENCE])
    return frame.drop(columns=list(key)).set_axis(index)


def _numbers(values: pandas.Series) -> np.ndarray:
    numbers: np.ndarray = values.to_numpy(dtype=float, na_value=np.nan)
    return numbers


def _compare_column(
    name: str, a: pandas.Series, b: pandas.Series, close: Close, direct_us: np.ndarray | None
) -> ColumnDiff | None:
    if _is_text(a) or _is_text(b):
        return _compare_texts(name, a, b)
    x, y = _numbers(a), _numbers(b)
    difference = y - x
    scale = np.maximum(np.abs(x), np.abs(y))
    relative = np.divide(np.abs(difference), scale, out=np.zeros_like(scale), where=scale > 0)
    relative = np.where(np.isnan(x) != np.isnan(y), 1.0, np.nan_to_num(relative))
    off = close.apart(name, difference, relative, direct_us)
    if not off.any():
        return None
    at = int(np.argmax(np.where(off, np.nan_to_num(np.abs(difference), nan=np.inf), -1.0)))
    means = [float(np.nanmean(v)) if np.isfinite(v).any() else float("nan") for v in (x, y)]
    return ColumnDiff(
        name, int(off.sum()), float(difference[at]), float(relative[at]), _where(a, at),
        short(x[at]), short(y[at]), *means,
    )  # fmt: skip


def _compare_texts(name: str, a: pandas.Series, b: pandas.Series) -> ColumnDiff | None:
    x = a.astype(object).where(a.notna(), "-").astype(str).to_numpy()
    y = b.astype(object).where(b.notna(), "-").astype(str).to_numpy()
    off = x != y
    if not off.any():
        return None
    at = int(np.argmax(off))
    nan = float("nan")
    return ColumnDiff(name, int(off.sum()), nan, 1.0, _where(a, at), str(x[at]), str(y[at]), nan, nan)


def _where(values: pandas.Series, at: int) -> str:
    row, again = values.index[at]
    return f"{row} ({again + 1}.)" if again else str(row)


def short(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:,.10g}"
