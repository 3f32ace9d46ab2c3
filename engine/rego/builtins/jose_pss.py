"""RSASSA-PSS with a salt that follows from a seed: the same decision, made again, makes the same token.

The library that signs everything else draws its salt at random and takes none from outside, so that the padding
(RFC 8017 9.1.1) and the power are worked out here. PSS is secure with any salt, a fixed one too. The key is blinded,
base and exponent, with fresh numbers at each call, so that the time it takes says nothing of it; the signature is the
same for all of them, and is verified before it is given away, so that a miscalculation cannot betray the key.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from cryptography.hazmat.primitives.asymmetric import rsa

MAX_BITS: Final = 4096
"""Of a key: the time to sign grows with their third power."""
_BLINDING_BITS: Final = 64


class KeyUnfit(ValueError):
    """A key that is too small for the padding, or too large for us, or inconsistent."""


def pss_signature(key: rsa.RSAPrivateKey, digest: str, data: bytes, seed: str) -> bytes:
    """`digest`: `sha256`, `sha384` or `sha512`. The salt is as long as that is."""
    if key.key_size > MAX_BITS:
        raise KeyUnfit(f"a key of more than {MAX_BITS} bits cannot sign with PSS")
    numbers = key.private_numbers()
    n = numbers.public_numbers.n
    padded = _padded(data, digest, _salt(seed, digest, n, data), n.bit_length() - 1)
    signature = _power(int.from_bytes(padded), numbers)
    if pow(signature, numbers.public_numbers.e, n) != int.from_bytes(padded):
        raise KeyUnfit("the parts of the RSA key do not belong together")
    return signature.to_bytes((n.bit_length() + 7) // 8)


def _salt(seed: str, digest: str, n: int, data: bytes) -> bytes:
    parts = (seed.encode("utf-8", "surrogatepass"), str(n.bit_length()).encode(), n.to_bytes((n.bit_length() + 7) // 8))
    drawn = hashlib.new(digest, b"\0".join(parts))
    drawn.update(hashlib.new(digest, data).digest())
    return drawn.digest()


def _padded(data: bytes, digest: str, salt: bytes, bits: int) -> bytes:
    hashed = hashlib.new(digest, data).digest()
    size = (bits + 7) // 8
    if size < len(hashed) + len(salt) + 2:
        raise KeyUnfit("the RSA key is too small for this algorithm")
    seal = hashlib.new(digest, bytes(8) + hashed + salt).digest()
    block = b"\x01" + salt
    block = block.rjust(size - len(seal) - 1, b"\0")
    mask = _mask(seal, digest, len(block))
    masked = bytearray(one ^ other for one, other in zip(block, mask, strict=True))
    masked[0] &= 0xFF >> (8 * size - bits)
    return bytes(masked) + seal + b"\xbc"


def _mask(seed: bytes, digest: str, size: int) -> bytes:
    made = b""
    counter = 0
    while len(made) < size:
        made += hashlib.new(digest, seed + counter.to_bytes(4)).digest()
        counter += 1
    return made[:size]


def _power(message: int, numbers: rsa.RSAPrivateNumbers) -> int:
    n, e = numbers.public_numbers.n, numbers.public_numbers.e
    veil = secrets.randbelow(n - 2) + 2
    veiled = message * pow(veil, e, n) % n
    by_p = _power_modulo(veiled, numbers.dmp1, numbers.p)
    by_q = _power_modulo(veiled, numbers.dmq1, numbers.q)
    joined = by_q + numbers.q * ((by_p - by_q) * numbers.iqmp % numbers.p)
    return joined * pow(veil, -1, n) % n


def _power_modulo(base: int, exponent: int, prime: int) -> int:
    return pow(base, exponent + secrets.randbits(_BLINDING_BITS) * (prime - 1), prime)
