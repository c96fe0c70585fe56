"""`testbed report`: results as pages for people."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click


@click.command()
@click.argument("target", type=click.Path(path_type=Path), default=Path("results"))
@click.option("--open", "open_it", is_flag=True, help="Open the page in a browser.")
def command(target: Path, open_it: bool) -> int:
    """Write the HTML page of a run, of a paper's reproduction, or the index over all results.

    TARGET is a run folder, results/<paper>/<scale>, or a results folder (default: results). Pages are single
    files that need no server and no network. With the index, analysed runs and papers without a page get
    theirs.

    \b
    Examples:
      testbed report results/quickstart/latest --open
      testbed report results/shadow_tco/full
      testbed report results
    """
    path = write_page(target)
    click.echo(path)
    if open_it:
        click.launch(str(path))
    return 0


def write_page(target: Path) -> Path:
    """The page's path. Run folder, paper folder or results folder, whichever the target is."""
    from testbed.errors import InputError
    from testbed.run.asker import belongs_to_asker
    from testbed.run.folder import write_atomically

    if not target.is_dir():
        raise InputError("there is no such folder", file=target, hint="name a run folder or a results folder")
    if (target / "plan.json").exists() or (target / "events").is_dir():
        from testbed.report.run_data import read_run
        from testbed.report.run_page import run_page

        name, text = "report.html", run_page(read_run(target.resolve()))
    elif (target / "verdicts.json").exists():
        from testbed.report.paper_page import paper_page

        name, text = "report.html", paper_page(target)
    else:
        from testbed.report.index_page import index_page

        for folder in without_page(target):
            with contextlib.suppress(InputError):  # the index says what cannot be read
                write_page(folder)
        name, text = "index.html", index_page(target)
    with belongs_to_asker(target / name):
        write_atomically(target / name, text.encode())
    return target / name


def without_page(results: Path) -> list[Path]:
    """Runs and reproductions with verdicts that nobody has made a page of."""
    judged = [path.parent for path in sorted(results.glob("*/*/verdicts.json"))]
    return [f for f in judged if not f.is_symlink() and not (f / "report.html").exists()]
