"""The matching index: which filters does a publication match, without evaluating them all.

Three ideas. Equal filters share one node. Every node hangs in the bucket of its most selective
equality predicate (its pivot), so that a publication looks up one bucket per pivot attribute; a topic
is a node with nothing left to test, found by one dictionary look-up. In a bucket of many nodes their
numeric intervals are compared all at once (`intervals`), and only those that hold are evaluated.

Adding and removing cost a few dictionary operations. Results are sets: their order means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from broker_grpc.content.covering import covers, intersects
from broker_grpc.content.filters import Filter, Key, Pair, Test
from broker_grpc.content.intervals import Intervals
from protos.content_messages import Operator, Value

Get = Callable[[str], Value | None]

Row = tuple[Iterable[str], tuple[Test, ...]]  # last hops of a node, and what is left to test

MANY = 32  # nodes of a bucket from which on comparing intervals is quicker than evaluating


_BOUNDS = (Operator.GT, Operator.GE, Operator.LT, Operator.LE)


class Node:
    """One distinct filter, and who holds it: `ids` by id, `hops` counted by last hop."""

    __slots__ = ("filter", "hops", "ids", "pivot", "tests")

    def __init__(self, filter_: Filter, pivot: Pair | None) -> None:
        self.filter = filter_
        self.pivot = pivot
        self.ids: dict[str, str] = {}
        self.hops: dict[str, int] = {}
        tests = filter_.rests.get(pivot)  # shared: many brokers hold the same filter
        if tests is None:
            tests = filter_.rests[pivot] = _tests_without(filter_, pivot)
        self.tests: tuple[Test, ...] = tests

    def satisfied(self, get: Get) -> bool:
        """Whether the tests that the pivot does not answer hold."""
        try:
            for attribute, test, operand in self.tests:
                value = get(attribute)
                if value is None or not test(value, operand):
                    return False
        except TypeError:
            return False
        return True


def _tests_without(filter_: Filter, pivot: Pair | None) -> tuple[Test, ...]:
    """Bounds first: they are the tests that fail most."""
    kept = [
        (p.operator not in _BOUNDS, t)
        for p, t in zip(filter_.predicates, filter_.tests, strict=True)
        if not (p.operator == Operator.EQ and (p.attribute, p.value) == pivot)
    ]
    return tuple(t for _, t in sorted(kept, key=lambda entry: entry[0]))


class Bucket:
    """Nodes that share a pivot."""

    __slots__ = ("decided", "intervals", "others", "rows", "size")

    def __init__(self) -> None:
        self.size = 0  # of nodes
        self.decided: Node | None = None  # nothing left to test: there can be only one
        self.others: dict[Key, Node] = {}
        self.intervals: Intervals | None = None  # of the others, once they are many
        # What matching needs, quickest first and close together instead of in an object and two dictionaries
        # per node. None = to be made, see `make_rows`.
        self.rows: tuple[Row, ...] | None = None

    def add(self, node: Node) -> None:
        self.size += 1
        self.rows = None
        if not node.tests:
            self.decided = node
            return
        self.others[node.filter.key] = node
        if self.intervals is not None:
            self.intervals.add(node)
        elif len(self.others) > MANY:
            self.intervals = Intervals()
            for other in self.others.values():
                self.intervals.add(other)

    def remove(self, node: Node) -> None:
        self.size -= 1
        self.rows = None
        if not node.tests:
            self.decided = None
            return
        del self.others[node.filter.key]
        if self.intervals is not None:
            self.intervals.remove(node)
            if len(self.others) < MANY // 2:
                self.intervals = None

    def nodes(self) -> Iterator[Node]:
        if self.decided is not None:
            yield self.decided
        yield from self.others.values()

    def make_rows(self, get: Get) -> Iterable[Row]:
        """Of the nodes worth evaluating: kept until something changes, or chosen by their intervals."""
        if self.intervals is not None:
            decided: list[Row] = [] if self.decided is None else [(self.decided.hops, ())]
            return decided + [(node.hops, node.tests) for node in self.intervals.candidates(get)]
        nodes = sorted(self.nodes(), key=_effort)
        self.rows = tuple((tuple(node.hops), node.tests) for node in nodes)
        return self.rows

    def candidates(self, get: Get) -> Iterable[Node]:
        """Nodes with tests left that are worth evaluating."""
        return self.others.values() if self.intervals is None else self.intervals.candidates(get)


def _effort(node: Node) -> int:
    return len(node.tests)


class FilterIndex:
    """Filters by id; see the module's docstring."""

    __slots__ = ("_hops", "_nodes", "_of_id", "_pairs", "_pivots", "_sole", "_unkeyed", "candidates")

    def __init__(self) -> None:
        self._nodes: dict[Key, Node] = {}
        self._of_id: dict[str, Node] = {}
        self._hops: dict[str, int] = {}  # ids per last hop
        self._pivots: dict[str, dict[Value, Bucket]] = {}
        self._unkeyed = Bucket()  # filters without any equality predicate
        self._pairs: dict[Pair, dict[Key, Node]] = {}  # every equality predicate of every node
        self._sole: tuple[str, dict[Value, Bucket]] | None = None  # all there is, if on one attribute
        self.candidates = 0  # distinct filters in the buckets of the last match: what matching costs

    def __len__(self) -> int:
        return len(self._of_id)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._of_id

    def distinct(self) -> int:
        return len(self._nodes)

    def ids(self) -> list[str]:
        return list(self._of_id)

    # ------------------------------------------------------------ change

    def add(self, id_: str, filter_: Filter, hop: str = "") -> None:
        """`id_` must be new."""
        node = self._nodes.get(filter_.key)
        if node is None:
            node = self._insert(filter_)
        elif hop not in node.hops:
            self._bucket_of(node).rows = None
        node.ids[id_] = hop
        node.hops[hop] = node.hops.get(hop, 0) + 1
        self._hops[hop] = self._hops.get(hop, 0) + 1
        self._of_id[id_] = node

    def remove(self, id_: str) -> Filter:
        """Raises KeyError if `id_` is unknown."""
        node = self._of_id.pop(id_)
        hop = node.ids.pop(id_)
        _count_down(node.hops, hop)
        _count_down(self._hops, hop)
        if not node.ids:
            self._delete(node)
        elif hop not in node.hops:
            self._bucket_of(node).rows = None
        return node.filter

    def _insert(self, filter_: Filter) -> Node:
        node = Node(filter_, self._choose_pivot(filter_))
        self._nodes[filter_.key] = node
        for pair in filter_.equalities:
            self._pairs.setdefault(pair, {})[filter_.key] = node
        self._bucket_of(node).add(node)
        self._find_sole()
        return node

    def _delete(self, node: Node) -> None:
        del self._nodes[node.filter.key]
        for pair in set(node.filter.equalities):
            del self._pairs[pair][node.filter.key]
            if not self._pairs[pair]:
                del self._pairs[pair]
        bucket = self._bucket_of(node)
        bucket.remove(node)
        if node.pivot is not None and not bucket.size:
            self._drop_bucket(node.pivot)
        self._find_sole()

    def _drop_bucket(self, pivot: Pair) -> None:
        table = self._pivots[pivot[0]]
        del table[pivot[1]]
        if not table:
            del self._pivots[pivot[0]]

    def _find_sole(self) -> None:
        one = len(self._pivots) == 1 and not self._unkeyed.size
        self._sole = next(iter(self._pivots.items())) if one else None

    def _choose_pivot(self, filter_: Filter) -> Pair | None:
        """The equality predicate that fewest filters have; the last one of equals (`class` is first)."""
        best: Pair | None = None
        fewest = 0
        for pair in filter_.equalities:
            shared = len(self._pairs.get(pair, ()))
            if best is None or shared <= fewest:
                best, fewest = pair, shared
        return best

    def _bucket_of(self, node: Node) -> Bucket:
        if node.pivot is None:
            return self._unkeyed
        table = self._pivots.setdefault(node.pivot[0], {})
        bucket = table.get(node.pivot[1])
        if bucket is None:
            bucket = table[node.pivot[1]] = Bucket()
        return bucket

    # ------------------------------------------------------------ match a publication

    def match_hops(self, attributes: Mapping[str, Value]) -> set[str]:
        """Last hops of all filters that the publication matches. The innermost loop of a broker."""
        get = attributes.get
        found: set[str] = set()
        if self._sole is not None:  # as in most workloads: one look-up, and nothing else to touch
            bucket = self._sole[1].get(get(self._sole[0]))  # type: ignore[arg-type]  # no bucket is for None
            if bucket is None:
                self.candidates = 0
                return found
            buckets, self.candidates = [bucket], bucket.size
        else:
            buckets = self._buckets(get)
            self.candidates = sum(bucket.size for bucket in buckets)
        for bucket in buckets:
            for hops, tests in bucket.rows or bucket.make_rows(get):
                if found and found.issuperset(hops):
                    continue  # it could add nothing
                try:
                    for attribute, test, operand in tests:
                        value = get(attribute)
                        if value is None or not test(value, operand):
                            break
                    else:
                        found.update(hops)
                except TypeError:  # a number where the filter has a string, or the reverse
                    continue
        return found

    def match(self, attributes: Mapping[str, Value]) -> list[str]:
        """Ids of all filters that the publication matches."""
        get = attributes.get
        found: list[str] = []
        for bucket in self._buckets(get):
            if bucket.decided is not None:
                found += bucket.decided.ids
            for node in bucket.candidates(get):
                if node.satisfied(get):
                    found += node.ids
        return found

    def _buckets(self, get: Get) -> list[Bucket]:
        found = [self._unkeyed] if self._unkeyed.size else []
        for attribute, table in self._pivots.items():
            bucket = table.get(get(attribute))  # type: ignore[arg-type]  # no bucket is for None
            if bucket is not None:
                found.append(bucket)
        return found

    # ------------------------------------------------------------ relate to a filter

    def intersecting(self, filter_: Filter) -> list[str]:
        """Ids of the filters that a publication could match together with this one."""
        return [
            id_ for node in self._compatible(filter_) if intersects(node.filter, filter_) for id_ in node.ids
        ]

    def intersects_any(self, filter_: Filter) -> bool:
        return any(intersects(node.filter, filter_) for node in self._compatible(filter_))

    def hop_intersects(self, hop: str, filter_: Filter) -> bool:
        """As `intersects_any`, of the filters with this last hop."""
        nodes = self._compatible(filter_)
        return any(hop in node.hops and intersects(node.filter, filter_) for node in nodes)

    def _compatible(self, filter_: Filter) -> Iterator[Node]:
        """All nodes but those whose pivot contradicts an equality predicate of the filter."""
        wanted = dict(filter_.equalities)
        yield from self._unkeyed.nodes()
        for attribute, table in self._pivots.items():
            if attribute in wanted:
                bucket = table.get(wanted[attribute])
                if bucket is not None:
                    yield from bucket.nodes()
            else:
                for bucket in table.values():
                    yield from bucket.nodes()

    def covered(self, filter_: Filter) -> bool:
        """Whether some filter here covers this one."""
        if filter_.key in self._nodes:
            return True
        return any(covers(node.filter, filter_) for node in self._wider(filter_))

    def _wider(self, filter_: Filter) -> Iterator[Node]:
        """A wider filter's pivot is an equality of this one."""
        yield from self._unkeyed.nodes()
        for attribute, value in filter_.equalities:
            bucket = self._pivots.get(attribute, {}).get(value)
            if bucket is not None:
                yield from bucket.nodes()

    def covered_by(self, filter_: Filter) -> list[str]:
        """Ids of the filters here that this one covers, equal ones included."""
        # By key: equal filters that contradict themselves may have different pivots.
        equal = self._nodes.get(filter_.key)
        found = list(equal.ids) if equal is not None else []
        for node in self._narrower(filter_):
            if node is not equal and covers(filter_, node.filter):
                found += node.ids
        return found

    def _narrower(self, filter_: Filter) -> list[Node]:
        """A narrower filter has every equality of this one."""
        best: dict[Key, Node] | None = None
        for pair in filter_.equalities:
            nodes = self._pairs.get(pair, {})
            if best is None or len(nodes) < len(best):
                best = nodes
        return list(self._nodes.values()) if best is None else list(best.values())


def _count_down(counts: dict[str, int], key: str) -> None:
    left = counts[key] - 1
    if left:
        counts[key] = left
    else:
        del counts[key]
