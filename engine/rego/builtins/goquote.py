"""A text in quotes, as the messages of Go's `time` show it."""

from __future__ import annotations


def quote(text: str) -> str:
    return '"' + "".join(map(_shown, text)) + '"'


def _shown(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if " " <= character < "\x80":
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
