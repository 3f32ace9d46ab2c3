"""Settings: a default, then a file, then the environment (`LICTOR_…`), then a flag; each knows where it is from."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import engine
from engine.errors import SettingsInvalid
from engine.journal.record import Durability

PREFIX = "LICTOR_"
DEFAULT_FILE = Path("lictor.toml")
DEFAULT_BUNDLE = Path(engine.__file__).parent.parent / "policy"

_NOT_SETTINGS = {"LICTOR_CONFIG", "LICTOR_KEY", "LICTOR_SERVER"}
"""Variables of the command line, which are no settings of the server."""


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = Field("127.0.0.1", description="address to listen on")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(8181, description="port to listen on; 0 picks a free one")
    data_dir: Path = Field(Path(".lictor"), description="where the embedded default keeps its state and keys")
    database_url: str = Field(
        "", description="sqlite:///file.db or postgresql://user@host/name; empty: lictor.db in data_dir"
    )
    bundle: Path = Field(DEFAULT_BUNDLE, description="the bundle to load: a directory or a .tar.gz")
    evaluator: Literal["compiled", "regopy"] = Field(
        "compiled", description="what evaluates Rego: our own engine, or rego-cpp in processes beside"
    )
    evaluator_workers: Annotated[int, Field(ge=1, le=64)] = Field(2, description="evaluator processes of regopy")
    evaluator_deadline_ms: Annotated[int, Field(ge=10, le=60_000)] = Field(
        1_000, description="how long one evaluation may take; over it, the answer is a denial"
    )
    evaluator_steps: Annotated[int, Field(ge=1_000, le=10**12)] = Field(
        10_000_000, description="elements of loops and calls of functions that one evaluation may take"
    )
    allowed_builtins: str = Field(
        "", description="builtins that reach outside and may be called nevertheless, with commas: opa.runtime"
    )
    journal: Durability = Field(
        Durability.DURABLE, description="durable: answer after the record is on disk; relaxed: before"
    )
    max_connections: Annotated[int, Field(ge=1, le=100_000)] = Field(
        1_000, description="connections and requests at once; more are answered 503"
    )
    max_body_bytes: Annotated[int, Field(ge=1_024, le=256 * 2**20)] = Field(
        2**20, description="the largest request body"
    )
    max_depth: Annotated[int, Field(ge=4, le=100)] = Field(64, description="how deep JSON may be nested")
    max_batch: Annotated[int, Field(ge=1, le=10_000)] = Field(500, description="inputs in one batch")
    log_format: Literal["text", "json"] = Field("text", description="log lines for people or for programs")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="what is worth a log line")

    @property
    def store_url(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir / 'lictor.db'}"

    @property
    def is_embedded(self) -> bool:
        """Everything under `data_dir`: database, operator's key, signing key."""
        return not self.database_url

    @property
    def operator_key_file(self) -> Path:
        return self.data_dir / "operator.key"

    @property
    def signing_key_file(self) -> Path:
        return self.data_dir / "signing.key"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    settings: Settings
    origins: Mapping[str, str]
    """Where each value that is not the default comes from: `LICTOR_PORT`, `lictor.toml`, `--port`."""


def load_settings(flags: Mapping[str, object], environ: Mapping[str, str], file: Path | None = None) -> LoadedSettings:
    """`flags` that are None were not given. A named `file` must exist; `lictor.toml` here may."""
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for source, given in (_file(environ, file), _environment(environ), _flags(flags)):
        values.update(given)
        origins.update({name: source.format(flag=name.replace("_", "-"), upper=name.upper()) for name in given})
    try:
        return LoadedSettings(Settings.model_validate(values), origins)
    except ValidationError as error:
        raise SettingsInvalid("; ".join(_sentence(fault, origins) for fault in error.errors())) from error


def without_secret(url: str) -> str:
    """For people to see: neither the password before the host nor one among the parameters."""
    url = re.sub(r"(://[^:/@]*):.*@", r"\1:…@", url)
    return re.sub(r"([?&][^=&]*password=)[^&]*", r"\1…", url)


def _file(environ: Mapping[str, str], file: Path | None) -> tuple[str, dict[str, object]]:
    named = file or (Path(environ["LICTOR_CONFIG"]) if "LICTOR_CONFIG" in environ else None)
    path = named or DEFAULT_FILE
    if named is None and not path.exists():
        return "", {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsInvalid(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"{path} is not TOML: {error}") from error
    for name in found:
        _require_known(name, name, str(path))
    return str(path).replace("{", "{{").replace("}", "}}"), found


def _environment(environ: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    given: dict[str, object] = {}
    for variable in sorted(environ):
        if variable.startswith(PREFIX) and variable not in _NOT_SETTINGS:
            name = variable.removeprefix(PREFIX).lower()
            _require_known(name, variable, "the environment")
            given[name] = environ[variable]
    return PREFIX + "{upper}", given


def _flags(flags: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    return "--{flag}", {name: value for name, value in flags.items() if value is not None}


def _require_known(name: str, written: str, where: str) -> None:
    if name not in Settings.model_fields:
        near = difflib.get_close_matches(name, Settings.model_fields, 1)
        hint = f"did you mean {near[0]}?" if near else "`lictor config` lists them all"
        raise SettingsInvalid(f"{written} in {where} is not a setting; {hint}")


def _sentence(fault: object, origins: Mapping[str, str]) -> str:
    loc, message, given = fault["loc"], fault["msg"], fault["input"]  # type: ignore[index]
    name = str(loc[0])
    shown = without_secret(str(given))
    return f"{name} ({origins.get(name, 'default')}) is {shown!r}: {message}"
