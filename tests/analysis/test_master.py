"""Spark's master: what is none, and one that nobody answers for."""

from __future__ import annotations

import socket

import pytest

from testbed.analysis.spark import master
from testbed.analysis.spark.session import JAVA_HINT, hint_for, start
from testbed.errors import InputError, TestbedError


@pytest.mark.parametrize(
    "text",
    ["nonsense", "", "local[x]", "local[0]", "local[2", "localhost", "spark://host", "spark://", "mesos://h:1",
     "local-cluster[2,1]"],
)  # fmt: skip
def test_what_is_no_master_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(InputError, match="is no Spark master") as error:
        start(text)
    assert error.value.hint is not None
    assert "spark://HOST:PORT" in error.value.hint
    assert "Java" not in error.value.hint


@pytest.mark.parametrize(
    "text",
    ["local", "local[*]", "local[4]", "local[2,3]", "local[*, 3]", "local-cluster[2,1,1024]", "yarn",
     "k8s://https://host:443"],
)  # fmt: skip
def test_what_spark_understands_is_taken(text: str) -> None:
    master.check_master(text)


def test_a_cluster_that_does_not_answer_is_told_so() -> None:
    with socket.socket() as bound:  # and nobody listens
        bound.bind(("127.0.0.1", 0))
        silent = f"127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(TestbedError, match=f"no Spark cluster answers at spark://{silent}: ") as error:
            master.check_master(f"spark://{silent}", patience_s=0.1)
        assert "Java" not in str(error.value.hint)
        with socket.create_server(("127.0.0.1", 0)) as standing:
            master.check_master(f"spark://{silent},127.0.0.1:{standing.getsockname()[1]}")  # one is enough


def test_java_is_advised_only_where_it_is_the_matter() -> None:
    gateway = "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."
    assert hint_for(gateway, "local[*]") == JAVA_HINT
    assert hint_for("java.lang.UnsupportedClassVersionError: org/apache.spark", "yarn") == JAVA_HINT
    refused = f"org.apache.spark.SparkException: Master must either be yarn or\n{gateway}"
    assert hint_for(refused, "local[*]") != JAVA_HINT
    assert "is the cluster at spark://h:1 up" in hint_for("SparkException: awaitResult", "spark://h:1")
