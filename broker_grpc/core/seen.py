"""A window of ids: what was here before is known again, but not for ever."""

from __future__ import annotations

from collections import OrderedDict


class SeenIds:
    """Remembers the last `size` different ids, the oldest goes first. Being seen again makes none younger."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._ids: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._ids)

    def is_new(self, id_: str) -> bool:
        """Was it never here, as far as is remembered? From now on it was."""
        if id_ in self._ids:
            return False
        self._ids[id_] = None
        if len(self._ids) > self._size:
            self._ids.popitem(last=False)
        return True
