"""Signed checkpoints: the heads of all chains at one moment, kept elsewhere, so that a cut tail shows."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from engine.clock import rfc3339
from engine.errors import InvalidParameter
from engine.journal.record import Citation
from engine.journal.view import citation_of
from engine.jsontext import JsonValue, canonical


def make_checkpoint(heads: Sequence[Citation], now_ns: int, key: Ed25519PrivateKey) -> dict[str, JsonValue]:
    statement: dict[str, JsonValue] = {
        "timestamp": rfc3339(now_ns),
        "heads": [{"chain": head.chain, "seq": head.seq, "hash": head.hash} for head in heads],
        "public_key": public_text(key.public_key()),
    }
    return {**statement, "signature": base64.b64encode(key.sign(canonical(statement))).decode()}


def heads_of(checkpoint: JsonValue, trusted: str | None = None) -> list[Citation]:
    """The heads that a checkpoint vouches for; `InvalidParameter` if its signature does not hold, or if it was signed
    by another key than the one that is trusted."""
    if not isinstance(checkpoint, dict):
        raise InvalidParameter("checkpoint: not one that `lictor decisions checkpoint` wrote")
    statement = {name: value for name, value in checkpoint.items() if name != "signature"}
    signer = str(statement.get("public_key", ""))
    if trusted is not None and signer != trusted.strip():
        raise InvalidParameter("checkpoint: signed by another key than the one given with --public-key")
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(signer, validate=True))
        key.verify(base64.b64decode(str(checkpoint.get("signature", "")), validate=True), canonical(statement))
        heads = statement["heads"]
        return [citation_of(head) for head in heads] if isinstance(heads, list) else []
    except (InvalidSignature, binascii.Error, ValueError, KeyError, TypeError) as error:
        raise InvalidParameter("checkpoint: its signature does not hold; it was changed or damaged") from error


def public_text(key: Ed25519PublicKey) -> str:
    return base64.b64encode(key.public_bytes_raw()).decode()
