"""Which reproductions run at night and which numbers are followed: the file of `--set`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pydantic
import yaml

from testbed.errors import InputError

DEFAULT = Path(__file__).parent / "default.yaml"
Better = Literal["lower", "higher"]


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


class Measure(Strict):
    table: str
    column: str
    by: tuple[str, ...] = ()
    better: Better = "lower"
    smallest: float = pydantic.Field(0.02, ge=0)  # share of the value


class Reproduction(Strict):
    paper: str
    scale: Literal["smoke", "full"] = "smoke"
    engine: Literal["", "guest", "host", "simulate"] = ""
    seeds: int = pydantic.Field(0, ge=0)  # 0 = the scale's own
    measures: tuple[Measure, ...] = ()
    timed: tuple[str, ...] = ()  # claims about measured time; "S15*" is S15 and all that begin so

    @property
    def name(self) -> str:
        return "/".join(word for word in (self.paper, self.scale, self.engine) if word)

    @property
    def folder(self) -> str:
        """In the night's folder; its log and results/<paper>/<scale> lie there."""
        return self.name.replace("/", "-")

    def words(self) -> list[str]:
        """The arguments of `testbed reproduce`."""
        found = [self.paper, "--scale", self.scale]
        found += ["--engine", self.engine] if self.engine else []
        return found + (["--seeds", str(self.seeds)] if self.seeds else [])


class Choice(Strict):
    reproductions: tuple[Reproduction, ...] = pydantic.Field(min_length=1)


def read_choice(path: Path = DEFAULT) -> Choice:
    try:
        return Choice.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", file=path, hint="name a file like nightly/default.yaml"
        ) from error
    except yaml.YAMLError as error:
        raise InputError(f"this is no YAML: {error}", file=path) from error
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{where}: {first['msg']}", file=path, hint="docs/nightly.md has an example"
        ) from error
