"""The command group: finds verb modules beside this file, and imports one only when it is used.

A verb is a module `testbed/cli/<verb>.py` with a click command called `command`. Its one-line help is the
first line of that command's docstring, read from the source text, so `testbed --help` imports no verb.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import click

from testbed.errors import TestbedError

INTERRUPTED = 130
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

# The order of `testbed --help`. A verb that is not named here is listed under "More".
SECTIONS: dict[str, tuple[str, ...]] = {
    "Describe an experiment": ("topology", "validate", "schema"),
    "Run it": ("deploy", "simulate", "sweep", "rerun"),
    "Look into a running deployment": ("status", "pub", "sub", "exec", "shell", "cli", "exchange", "stop"),
    "Look at the result": ("analyze", "tables", "report", "events", "diff", "logs"),
    "Reproduce a paper": ("reproduce", "nightly"),
    "This machine": ("doctor", "kernel", "clean"),
}

EPILOG = """\b
Examples:
  testbed doctor                             what can this machine do?
  testbed deploy topologies/quickstart.yaml  run an experiment
  testbed analyze results/quickstart/latest  make its tables with Spark
  testbed VERB --help                        a verb's options and examples
"""


class VerbGroup(click.Group):
    """A click group whose commands are the modules of a folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(verb_help())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        module = name.replace("-", "_")
        if name not in self.list_commands(ctx):
            return None
        found = importlib.import_module(f"testbed.cli.{module}").command
        assert isinstance(found, click.Command), f"testbed/cli/{module}.py: `command` is no click command"
        found.name = name
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        word = args[0]
        if word not in known and not word.startswith("-"):
            near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
            fix = f"did you mean 'testbed {near[0]}'?" if near else "'testbed --help' lists the verbs"
            raise click.UsageError(f"there is no verb {word!r}\nfix: {fix}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        helps = verb_help()
        for title, verbs in sections(helps):
            with formatter.section(title):
                formatter.write_dl([(verb, helps[verb]) for verb in verbs], col_spacing=4)


def verb_help() -> dict[str, str]:
    """Every verb with its one-line help: of the modules that Python finds in this package."""
    found = {}
    folders = sys.modules[__package__].__path__
    for path in sorted(path for folder in folders for path in Path(folder).glob("[a-z]*.py")):
        text = one_line_help(path)
        if text is not None:
            found[path.stem.replace("_", "-")] = text
    return found


def one_line_help(path: Path) -> str | None:
    """The first docstring line of the module's `command`; None when the module defines no `command`."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "command":
            return first_line(ast.get_docstring(node) or ast.get_docstring(tree))
        if isinstance(node, ast.Assign) and _assigns_command(node):
            return first_line(ast.get_docstring(tree))
    return None


def _assigns_command(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "command" for target in node.targets)


def first_line(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n")[0].rstrip(".")


def sections(verbs: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The sections that have a verb, each with its verbs in order."""
    placed: set[str] = set()
    for title, order in SECTIONS.items():
        here = [verb for verb in order if verb in verbs]
        placed.update(here)
        if here:
            yield title, here
    rest = [verb for verb in verbs if verb not in placed]
    if rest:
        yield "More", rest


@click.group(cls=VerbGroup, epilog=EPILOG, context_settings=CONTEXT)
@click.option(
    "--debug", is_flag=True, help="Show tracebacks (may stand anywhere; TESTBED_DEBUG=1 is the same)."
)
@click.version_option(package_name="pubsub-testbed", prog_name="testbed")
def app(debug: bool) -> None:
    """Run publish/subscribe experiments on an emulated network.

    One YAML file describes the network, the brokers, the clients and the workload. It runs on this kernel
    (host), in a kernel of its own in virtual time and without root (guest), or in a simulator (simulate),
    and Spark makes the tables.
    """


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 the run or a check failed, 2 wrong use or bad input."""
    args, debug = split_debug(list(sys.argv[1:] if argv is None else argv))
    try:
        outcome = app.main(args=args, prog_name="testbed", standalone_mode=False)
        sys.stdout.flush()
    except Exception as error:  # the one place where every failure becomes a message and a code
        sys.exit(explain(error, debug))
    except KeyboardInterrupt:
        sys.exit(interrupted())
    sys.exit(outcome if isinstance(outcome, int) else 0)


def split_debug(args: list[str]) -> tuple[list[str], bool]:
    """Take `--debug` out of the arguments wherever it stands before a `--`."""
    end = args.index("--") if "--" in args else len(args)
    rest = [arg for arg in args[:end] if arg != "--debug"] + args[end:]
    return rest, len(rest) < len(args) or os.environ.get("TESTBED_DEBUG", "") not in ("", "0")


def explain(error: Exception, debug: bool) -> int:
    """Say on stderr what went wrong, and return the exit code."""
    if isinstance(error, click.Abort):
        return interrupted(after="")  # click has ended the line that has the terminal's ^C
    if isinstance(error, BrokenPipeError):
        # The reader went away (`testbed ... | head`): nothing to say, and no flush at exit may say it either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if debug:
        traceback.print_exception(error)
    if isinstance(error, click.ClickException):
        return explain_click(error)
    say(*(denied(error) or (message_of(error), fix_for(error))))
    return int(getattr(error, "exit_code", 1))


def denied(error: Exception) -> tuple[str, str] | None:
    """What another user owns, root's runs before all, with the command that mends it."""
    if not isinstance(error, PermissionError) or not isinstance(error.filename, str):
        return None
    from testbed.run.asker import remedy

    found = remedy(Path(error.filename))
    return found and (f"{error.filename}: {error.strerror}: {found[0]}", found[1])


def explain_click(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return error.exit_code
    message, _, fix = error.format_message().partition("\nfix: ")
    if not fix and isinstance(error, click.UsageError) and error.ctx is not None:
        fix = f"'{error.ctx.command_path} --help' shows the right use"
    say(message, fix or None)
    return error.exit_code


def is_expected(error: Exception) -> bool:
    """Whether the message was written for a user (the error roots), rather than for a programmer."""
    if isinstance(error, TestbedError):
        return True
    return any(kind.__name__ == "BrokerError" for kind in type(error).__mro__)


def message_of(error: Exception) -> str:
    return str(error) if is_expected(error) else f"unexpected {type(error).__name__}: {error}"


def fix_for(error: Exception) -> str | None:
    if is_expected(error):
        hint = getattr(error, "hint", None)
        return str(hint) if hint else None
    return "this looks like a defect of the testbed; the same command with --debug shows where"


def say(message: str, fix: str | None) -> None:
    click.echo(f"error: {message}", err=True)
    if fix:
        click.echo(f"fix: {fix}", err=True)


def interrupted(after: str = "\n") -> int:
    click.echo(f"{after}interrupted", err=True)
    return INTERRUPTED
