"""What the guest has for itself, and what of the host it hides by that."""

from __future__ import annotations

import pytest

from testbed.emulation.guest.inside.mounts import is_hidden


@pytest.mark.parametrize(
    ("folder", "hidden"),
    [
        ("/tmp/site", True),
        ("/tmp/../tmp/site", True),
        ("/run/user/1000", True),
        ("/tmp", False),
        ("/tmpfoo", False),
        ("/usr/lib", False),
    ],
)
def test_folders_below_a_private_mount_are_hidden(folder: str, hidden: bool) -> None:
    assert is_hidden(folder) is hidden
