"""Signatures with a salt from a seed, verified by the library that signs with its own."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from engine.rego.builtins.jose_pss import KeyUnfit, pss_signature

HASHES: dict[str, hashes.HashAlgorithm] = {
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
}


@pytest.mark.parametrize("bits", [1056, 1057, 1063, 1064])
@pytest.mark.parametrize("digest", HASHES)
def test_a_signature_is_one_for_keys_of_every_length(bits: int, digest: str):
    key = rsa.generate_private_key(65537, bits)
    signature = pss_signature(key, digest, b"data", "seed")
    mask = padding.PSS(padding.MGF1(HASHES[digest]), padding.PSS.DIGEST_LENGTH)
    key.public_key().verify(signature, b"data", mask, HASHES[digest])
    assert len(signature) == (bits + 7) // 8
    assert pss_signature(key, digest, b"data", "seed") == signature


def test_another_seed_or_another_text_is_another_salt():
    key = rsa.generate_private_key(65537, 1024)
    made = {pss_signature(key, "sha256", data, seed) for data in (b"a", b"b") for seed in ("", "x")}
    assert len(made) == 4


def test_a_key_that_is_too_small_for_the_digest_is_refused():
    with pytest.raises(KeyUnfit, match="too small"):
        pss_signature(rsa.generate_private_key(65537, 1024), "sha512", b"", "")
