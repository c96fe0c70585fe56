"""Connect this process's terminal with a command in a guest, as ssh does."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from types import FrameType

from testbed.emulation.guest.handle import GuestHandle
from testbed.emulation.guest.process import GuestProcess
from testbed.emulation.readable import readable

READ_SIZE = 512
END_OF_INPUT = b"\x04"


def interact(guest: GuestHandle, argv: Sequence[str], env: dict[str, str] | None = None) -> int:
    """Run a command on a terminal of its own, relayed to ours; returns its exit code.

    Keys go to the command (Ctrl-C too), and a changed window size is passed on. Where our input is no
    terminal it is typed in, and its end is Ctrl-D.
    """
    columns, rows = shutil.get_terminal_size()
    process = guest.start(argv, env=env, terminal=(rows, columns))
    with _raw(sys.stdin.fileno()), _window_changes(process):
        _relay(guest, process, sys.stdin.fileno(), sys.stdout.fileno())
    return process.wait()


def _relay(guest: GuestHandle, process: GuestProcess, keyboard: int, screen: int) -> None:
    assert guest.connection is not None
    sources: list[int] = [keyboard, guest.connection.fileno()]
    while process.code is None:
        ready = readable(sources)
        if guest.connection.fileno() in ready:
            process.poll(0)
            os.write(screen, process.take_terminal_output())
        if keyboard in ready:
            data = os.read(keyboard, READ_SIZE)
            process.write(data or END_OF_INPUT)
            if not data:
                sources.remove(keyboard)
    os.write(screen, process.take_terminal_output())


@contextlib.contextmanager
def _raw(fd: int) -> Iterator[None]:
    """Let every key through while the block runs; nothing to do where there is no terminal."""
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setraw(fd, termios.TCSADRAIN)  # what was typed already counts
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _window_changes(process: GuestProcess) -> Iterator[None]:
    def resized(number: int, frame: FrameType | None) -> None:
        columns, rows = shutil.get_terminal_size()
        process.resize(rows, columns)

    before = signal.signal(signal.SIGWINCH, resized)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
