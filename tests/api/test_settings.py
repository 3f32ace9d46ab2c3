from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from api.settings import DEFAULT_BUNDLE, LoadedSettings, Settings, load_settings, without_secret
from engine.errors import SettingsInvalid
from engine.journal.record import Durability


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory: `lictor.toml` is looked for there."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(
    flags: dict[str, object] | None = None, environ: dict[str, str] | None = None, file: Path | None = None
) -> LoadedSettings:
    return load_settings(flags or {}, environ or {}, file)


def refusal(
    flags: dict[str, object] | None = None, environ: dict[str, str] | None = None, file: Path | None = None
) -> str:
    with pytest.raises(SettingsInvalid) as refused:
        load(flags, environ, file)
    return refused.value.message


def test_defaults_need_nothing():
    loaded = load()
    assert loaded.origins == {}
    assert loaded.settings.model_dump() == {
        "host": "127.0.0.1",
        "port": 8181,
        "data_dir": Path(".lictor"),
        "database_url": "",
        "bundle": DEFAULT_BUNDLE,
        "evaluator": "compiled",
        "evaluator_workers": 2,
        "evaluator_deadline_ms": 1000,
        "evaluator_steps": 10_000_000,
        "allowed_builtins": "",
        "journal": Durability.DURABLE,
        "max_connections": 1000,
        "max_body_bytes": 1048576,
        "max_depth": 64,
        "max_batch": 500,
        "log_format": "text",
        "log_level": "info",
    }


def test_default_bundle_is_the_one_that_ships():
    assert (DEFAULT_BUNDLE / ".manifest").is_file()


def test_every_setting_says_what_it_is_for():
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_flag_wins_over_environment_over_file_over_default(here: Path):
    (here / "lictor.toml").write_text('port = 1\nhost = "file"\nlog_format = "json"\n')
    loaded = load({"port": 3, "host": None}, {"LICTOR_PORT": "2", "LICTOR_HOST": "environment"})
    found = loaded.settings
    assert (found.port, found.host, found.log_format, found.log_level) == (3, "environment", "json", "info")
    assert loaded.origins == {"port": "--port", "host": "LICTOR_HOST", "log_format": "lictor.toml"}


def test_origin_of_a_flag_is_written_as_the_flag_is():
    assert load({"database_url": "sqlite:///x.db"}).origins == {"database_url": "--database-url"}


def test_flag_that_was_not_given_changes_nothing():
    assert load({"port": None, "journal": None}) == load()


def test_text_of_the_environment_becomes_its_type():
    found = load(environ={"LICTOR_MAX_DEPTH": "8", "LICTOR_JOURNAL": "relaxed", "LICTOR_DATA_DIR": "/var/x"}).settings
    assert (found.max_depth, found.journal, found.data_dir) == (8, Durability.RELAXED, Path("/var/x"))


def test_named_file_is_read_instead_of_the_default_one(here: Path):
    (here / "lictor.toml").write_text("port = 1")
    (here / "my.toml").write_text("port = 2")
    assert load(file=Path("my.toml")).settings.port == 2
    assert load(environ={"LICTOR_CONFIG": "my.toml"}).origins == {"port": "my.toml"}


def test_file_of_the_flag_wins_over_the_one_of_the_environment(here: Path):
    (here / "a.toml").write_text("port = 1")
    assert load(environ={"LICTOR_CONFIG": "missing.toml"}, file=Path("a.toml")).settings.port == 1


def test_file_name_with_braces_is_shown_as_it_is(here: Path):
    (here / "{upper}.toml").write_text("port = 2")
    assert load(file=Path("{upper}.toml")).origins == {"port": "{upper}.toml"}


def test_file_is_read_as_utf8(here: Path):
    (here / "lictor.toml").write_bytes('data_dir = "é"'.encode())
    assert load().settings.data_dir == Path("é")


@pytest.mark.parametrize("environ", [{}, {"LICTOR_CONFIG": "other.toml"}])
def test_missing_named_file_is_refused(environ: dict[str, str]):
    file = None if environ else Path("other.toml")
    assert refusal(environ=environ, file=file) == "other.toml cannot be read: No such file or directory"


@pytest.mark.parametrize("content", [b"port = ", b"port 1", b"port = 1\nport = 2", b"\xff"])
def test_file_that_is_no_toml_is_refused(here: Path, content: bytes):
    (here / "lictor.toml").write_bytes(content)
    assert refusal().startswith("lictor.toml is not TOML: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("prot = 1", "prot in lictor.toml is not a setting; did you mean port?"),
        ("database = 1", "database in lictor.toml is not a setting; did you mean database_url?"),
        ("[server]\nport = 1", "server in lictor.toml is not a setting; `lictor config` lists them all"),
        ("PORT = 1", "PORT in lictor.toml is not a setting; `lictor config` lists them all"),
    ],
)
def test_unknown_setting_of_a_file_is_refused_with_the_nearest(here: Path, content: str, message: str):
    (here / "lictor.toml").write_text(content)
    assert refusal() == message


def test_unknown_setting_of_the_environment_is_refused_with_the_nearest():
    assert refusal(environ={"LICTOR_MAX_BODY": "1"}) == (
        "LICTOR_MAX_BODY in the environment is not a setting; did you mean max_body_bytes?"
    )
    assert refusal(environ={"LICTOR_XYZ": "s3cret"}) == (
        "LICTOR_XYZ in the environment is not a setting; `lictor config` lists them all"
    )


def test_variables_of_the_command_line_and_of_others_are_no_settings(here: Path):
    (here / "empty.toml").write_text("")
    environ = {
        "LICTOR_KEY": "lictor_x",
        "LICTOR_SERVER": "http://127.0.0.1",
        "LICTOR_CONFIG": "empty.toml",
        "PORT": "1",
        "NOTLICTOR_PORT": "1",
    }
    assert load(environ=environ) == load()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("port", "http", "Input should be a valid integer, unable to parse string as an integer"),
        ("port", "", "Input should be a valid integer, unable to parse string as an integer"),
        ("port", "65536", "Input should be less than or equal to 65535"),
        ("port", "-1", "Input should be greater than or equal to 0"),
        ("evaluator", "opa", "Input should be 'compiled' or 'regopy'"),
        ("evaluator_workers", "0", "Input should be greater than or equal to 1"),
        ("evaluator_deadline_ms", "9", "Input should be greater than or equal to 10"),
        ("journal", "sometimes", "Input should be 'durable' or 'relaxed'"),
        ("max_body_bytes", "1023", "Input should be greater than or equal to 1024"),
        ("max_depth", "101", "Input should be less than or equal to 100"),
        ("max_batch", "0", "Input should be greater than or equal to 1"),
        ("log_format", "xml", "Input should be 'text' or 'json'"),
        ("log_level", "INFO", "Input should be 'debug', 'info', 'warning' or 'error'"),
    ],
)
def test_wrong_value_is_named_with_its_setting_and_origin(name: str, value: str, message: str):
    variable = f"LICTOR_{name.upper()}"
    assert refusal(environ={variable: value}) == f"{name} ({variable}) is {value!r}: {message}"


def test_every_wrong_value_is_named_with_its_own_origin(here: Path):
    (here / "lictor.toml").write_text("port = 70000")
    assert refusal({"log_format": "xml"}, {"LICTOR_MAX_DEPTH": "1"}).split("; ") == [
        "port (lictor.toml) is '70000': Input should be less than or equal to 65535",
        "max_depth (LICTOR_MAX_DEPTH) is '1': Input should be greater than or equal to 4",
        "log_format (--log-format) is 'xml': Input should be 'text' or 'json'",
    ]


def test_password_of_a_wrong_database_url_is_not_shown_even_in_a_traceback(here: Path):
    (here / "lictor.toml").write_text('database_url = ["postgresql://lictor:s3cret@db/lictor"]')
    with pytest.raises(SettingsInvalid) as refused:
        load()
    assert refused.value.message == (
        "database_url (lictor.toml) is \"['postgresql://lictor:…@db/lictor']\": Input should be a valid string"
    )
    assert "s3cret" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:s3cret@db:5432/x", "postgresql://u:…@db:5432/x"),
        ("postgresql+psycopg://u:s3@cr:et/@db/x", "postgresql+psycopg://u:…@db/x"),
        ("postgresql://:s3cret@db/x", "postgresql://:…@db/x"),
        (
            "postgresql://db/x?user=u&password=s3cret&sslmode=require",
            "postgresql://db/x?user=u&password=…&sslmode=require",
        ),
        ("postgresql://db/x?sslpassword=s3cret", "postgresql://db/x?sslpassword=…"),
        ("postgresql://u@db:5432/x", "postgresql://u@db:5432/x"),
        ("postgresql://db:5432/x", "postgresql://db:5432/x"),
        ("sqlite:///a/b.db", "sqlite:///a/b.db"),
        ("", ""),
    ],
)
def test_url_is_shown_without_its_password(url: str, shown: str):
    assert without_secret(url) == shown


def test_store_is_a_file_of_the_data_directory_unless_another_is_named():
    embedded = load({"data_dir": "state"}).settings
    assert (embedded.store_url, embedded.is_embedded) == ("sqlite:///state/lictor.db", True)
    assert (embedded.operator_key_file, embedded.signing_key_file) == (
        Path("state/operator.key"),
        Path("state/signing.key"),
    )
    served = load({"database_url": "postgresql://u@db/x"}).settings
    assert (served.store_url, served.is_embedded) == ("postgresql://u@db/x", False)
    assert not load({"database_url": "sqlite:///x.db"}).settings.is_embedded


def test_settings_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        load().settings.port = 1  # type: ignore[misc]
