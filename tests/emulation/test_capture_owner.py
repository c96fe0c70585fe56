"""tcpdump gives its file to the owner of the run folder, who may be no root on the host."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from testbed.emulation.network.capture import owner


def test_the_owner_of_the_folder(tmp_path: Path) -> None:
    assert owner(tmp_path) == pwd.getpwuid(os.geteuid()).pw_name


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: gives a folder away")
def test_another_users_folder_and_one_without_a_name(tmp_path: Path) -> None:
    os.chown(tmp_path, pwd.getpwnam("nobody").pw_uid, -1)
    assert owner(tmp_path) == "nobody"
    os.chown(tmp_path, 3_999_999, -1)
    assert owner(tmp_path) == "root"
