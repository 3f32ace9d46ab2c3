"""Log lines: one event each, with its fields; text for people, JSON for programs."""

from __future__ import annotations

import logging
import sys
from typing import Literal

from engine.clock import rfc3339
from engine.jsontext import JsonValue, canonical

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


def configure_logs(style: Literal["text", "json"], level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if style == "json" else TextLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, JsonValue] = {
            "time": rfc3339(int(record.created * 1e9)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return canonical(line).decode()


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname.lower():7} {record.getMessage()} {fields}"
        return line.rstrip() + ("\n" + self.formatException(record.exc_info) if record.exc_info else "")


def _fields(record: logging.LogRecord) -> dict[str, JsonValue]:
    return {
        name: value if isinstance(value, bool | int | float | str | None) else str(value)
        for name, value in vars(record).items()
        if name not in _OWN
    }
