"""The environment of a command in the guest, where a plain user is root."""

from __future__ import annotations

from testbed.emulation.guest.inside.sessions import as_root


def test_a_plain_users_path_gets_the_administration_folders() -> None:
    environment = as_root({"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C"})
    assert environment["LANG"] == "C"
    assert environment["PATH"].split(":")[:3] == ["/usr/local/bin", "/usr/bin", "/bin"]
    assert {"/usr/sbin", "/sbin"} <= set(environment["PATH"].split(":"))


def test_no_path_at_all_gives_no_empty_entry() -> None:
    """An empty entry would mean the current folder."""
    assert "" not in as_root({})["PATH"].split(":")
