"""Mutual TLS between brokers and clients: a certificate is needed, and it says who one is."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import grpc.aio
import pytest

from broker_grpc.client.api import Client, NotConnected
from broker_grpc.errors import ProtocolError
from broker_grpc.process.tls import CONTROL_ROLE, Authority, TlsError, TlsFiles, channel_credentials
from broker_grpc.process.transport import LINK, StreamLost
from tests.broker_process.broker_nodes import PATIENCE_S, BrokerNode, Poker
from tests.broker_process.orders import Orders
from tests.broker_process.overlay import Overlay


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("ca"))


@pytest.fixture
async def pair(tmp_path: Path, authority: Authority) -> AsyncIterator[Overlay]:
    overlay = await Overlay(tmp_path, 2, [(1, 2)], authority=authority).start()
    yield overlay
    overlay.stop()


def test_keys_are_private(authority: Authority) -> None:
    files = authority.issue("x")
    assert stat.S_IMODE(Path(files.key).stat().st_mode) == 0o600
    assert stat.S_IMODE((authority.folder / "ca.key").stat().st_mode) == 0o600


async def test_a_publication_over_mutual_tls(pair: Overlay, authority: Authority) -> None:
    driver = authority.issue("clients-h1", also=["bob", "carol"])
    async with (
        Client(pair[1].address, id="alice", tls=authority.issue("alice")) as alice,
        Client(pair[2].address, id="bob", broker="B2", tls=driver) as bob,
        Client(pair[2].address, id="carol", tls=driver) as carol,
    ):
        await alice.advertise("[class,eq,'X']")
        await bob.subscribe("[class,eq,'X']")
        await carol.subscribe("[class,eq,'X']")
        await pair.settled()
        await alice.publish("[class,'X']")
        for client in (bob, carol):
            assert (await asyncio.wait_for(anext(client), PATIENCE_S)).publisher == "alice"


async def test_without_a_certificate_nobody_comes_in(pair: Overlay, tmp_path: Path) -> None:
    for tls in (None, Authority.create(tmp_path / "other").issue("alice", ["127.0.0.1"])):
        with pytest.raises(NotConnected):
            async with Client(pair[1].address, id="alice", tls=tls, connect_timeout_s=0.7):
                pass


async def test_a_certificate_of_another_name_is_refused(pair: Overlay, authority: Authority) -> None:
    mallory = authority.issue("mallory", ["127.0.0.1"])
    with pytest.raises(ProtocolError, match="certificate is not that of 'alice'"):
        await Poker(pair[1].address, "alice", tls=mallory).greet()
    with pytest.raises(ProtocolError, match="certificate is not that of 'B1'"):
        await Poker(pair[2].address, "B1", tls=mallory, method=LINK).greet(kind="broker", incarnation=1 << 40)


async def test_a_broker_with_the_wrong_certificate_is_not_dialled(
    pair: Overlay, authority: Authority, tmp_path: Path
) -> None:
    impostor = BrokerNode(tmp_path, "B3", flood=False, tls=authority.issue("mallory", ["127.0.0.1"])).start()
    with pytest.raises(NotConnected):
        async with Client(
            impostor.address, id="alice", broker="B3", tls=authority.issue("alice"), connect_timeout_s=0.7
        ):
            pass
    impostor.stop()


async def test_orders_need_a_role_in_the_certificate(tmp_path: Path, authority: Authority) -> None:
    node = BrokerNode(
        tmp_path,
        "B1",
        flood=False,
        options={"control_service": True},
        tls=authority.issue("B1", ["127.0.0.1"]),
    ).start()
    async with Orders(node.address, "any secret", authority.issue("alice"), "B1") as orders:
        with pytest.raises(grpc.aio.AioRpcError, match="neither the run's secret nor the role"):
            await orders.shut_down()
    async with Orders(node.address, "", authority.issue("orderly", roles=[CONTROL_ROLE]), "B1") as orders:
        assert (await orders.status()).broker == "B1"
        await orders.shut_down()
    assert node.process.wait(PATIENCE_S) == 0


async def test_clear_text_does_not_reach_a_tls_broker(pair: Overlay) -> None:
    with pytest.raises(StreamLost):
        await Poker(pair[1].address, "alice").greet()


def test_missing_files_are_named() -> None:
    with pytest.raises(TlsError, match=r"nowhere\.pem"):
        channel_credentials(TlsFiles("nowhere.pem", "x", "y"))


@pytest.mark.parametrize("host", ["0.0.0.0", "0", "[::]", ""])
def test_without_tls_a_broker_does_not_listen_everywhere(tmp_path: Path, host: str) -> None:
    open_to_all = BrokerNode(tmp_path, "B1", flood=False, host=host)
    with pytest.raises(AssertionError, match="only on an address of its own"):
        open_to_all.start()


def test_with_tls_it_may(tmp_path: Path, authority: Authority) -> None:
    guarded = BrokerNode(tmp_path, "B2", flood=False, host="0.0.0.0", tls=authority.issue("B2"))
    guarded.start()
    assert guarded.stop() == 0
