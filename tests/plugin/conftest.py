"""One installation serves all tests here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.gossip_site import EXAMPLE, install


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example as an installer leaves it."""
    return install(EXAMPLE, tmp_path_factory.mktemp("gossip"))
