"""The Ed25519 key that signs checkpoints: made at first use, readable by its owner only."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from engine.errors import SettingsInvalid


def signing_key(file: Path) -> Ed25519PrivateKey:
    try:
        return _load(file) if file.exists() else _make(file)
    except FileExistsError:
        return _load(file)
    except (OSError, ValueError) as error:
        raise SettingsInvalid(f"{file} is not a private key that can be read: {error}") from error


def _load(file: Path) -> Ed25519PrivateKey:
    key = load_pem_private_key(file.read_bytes(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("it is of another kind than Ed25519")
    return key


def _make(file: Path) -> Ed25519PrivateKey:
    key = Ed25519PrivateKey.generate()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return key
