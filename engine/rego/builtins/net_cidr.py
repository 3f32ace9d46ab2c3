"""Networks and addresses. An IPv4 address in IPv6's clothes (::ffff:10.0.0.1) is an IPv4 address, as it is to Go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    summarize_address_range,
)
from typing import Final

from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet, Value, freeze, keys_of

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

MAX_ADDRESSES: Final = 1 << 16
MAX_MATCHES: Final = 1_000_000
_PREFIX: Final = re.compile("[0-9]{1,9}")


@builtin("net.cidr_contains")
def contains(network: Value, part: Value) -> bool:
    return _contains("net.cidr_contains", network, part)


@builtin("net.cidr_overlap")
def overlap(network: Value, part: Value) -> bool:
    """The old name of net.cidr_contains."""
    return _contains("net.cidr_overlap", network, part)


@builtin("net.cidr_intersects")
def intersects(one: Value, other: Value) -> bool:
    name = "net.cidr_intersects"
    first, second = _network(name, one), _network(name, other)
    return first.version == second.version and first.overlaps(second)


@builtin("net.cidr_contains_matches")
def contains_matches(networks: Value, parts: Value) -> RegoSet:
    name = "net.cidr_contains_matches"
    found: list[Value] = []
    tried = 0
    for network, index in _indexed(name, 1, networks):
        pairs = list(_indexed(name, 2, parts))
        tried += len(pairs)
        if tried > MAX_MATCHES:
            raise BuiltinError(f"{name}: the operands are too large: more than {MAX_MATCHES} pairs")
        found += [[index, part_index] for part, part_index in pairs if _contains(name, network, part)]
    return RegoSet(found)


@builtin("net.cidr_expand")
def expand(value: Value) -> RegoSet:
    network = _network("net.cidr_expand", value)
    if network.num_addresses > MAX_ADDRESSES:
        raise BuiltinError(f"net.cidr_expand: the network is too large: more than {MAX_ADDRESSES} addresses")
    return RegoSet(map(str, network))


@builtin("net.cidr_is_valid")
def is_valid(value: Value) -> bool:
    return type(value) is str and _parse_network(value) is not None


@builtin("net.cidr_merge")
def merge(value: Value) -> RegoSet:
    if type(value) not in (list, RegoSet):
        raise BuiltinError("net.cidr_merge: operand must be an array")
    networks = [_mergeable(item) for item in value]
    return RegoSet([*_merged(networks, 4), *_merged(networks, 6)])


def _merged(networks: list[tuple[Network, str]], version: int) -> list[str]:
    """What touches or overlaps becomes one range; what stands alone stays as it was written."""
    ranges: list[tuple[Address, Address, str]] = []
    mine = [(network[0], network[-1], written) for network, written in networks if network.version == version]
    for first, last, written in sorted(mine, key=lambda one: (int(one[0]), int(one[1]))):
        if ranges and int(first) <= int(ranges[-1][1]) + 1:
            begin, end, _ = ranges.pop()
            ranges.append((begin, end if int(end) > int(last) else last, ""))
        else:
            ranges.append((first, last, written))
    return [text for first, last, written in ranges for text in ([written] if written else _spanned(first, last))]


def _spanned(first: Address, last: Address) -> list[str]:
    if isinstance(first, IPv4Address) and isinstance(last, IPv4Address):
        return list(map(str, summarize_address_range(first, last)))
    return list(map(str, summarize_address_range(IPv6Address(int(first)), IPv6Address(int(last)))))


def _contains(name: str, network: Value, part: Value) -> bool:
    outer, text = _network(name, network), operand_string(name, 1, part)
    inner: Address | Network | None = _parse_address(text)
    if inner is not None:
        return inner in outer
    inner = _parse_network(text)
    if inner is None:
        raise BuiltinError(f"{name}: not a valid textual representation of an IP address or CIDR: {text}")
    return inner.version == outer.version and inner[0] in outer and inner[-1] in outer


def _network(name: str, value: Value) -> Network:
    text = operand_string(name, 1, value)
    network = _parse_network(text)
    if network is None:
        raise BuiltinError(f"{name}: invalid CIDR address: {text}")
    return network


def _indexed(name: str, position: int, value: Value) -> Iterator[tuple[Value, Value]]:
    """Each network with what stands for it in the answer: its place, its key, or itself."""
    if type(value) is str:
        yield value, value
    elif type(value) is list:
        yield from ((_text(name, position, item), place) for place, item in enumerate(value))
    elif type(value) is RegoSet:
        yield from ((_text(name, position, item), item) for item in value)
    elif type(value) is dict:
        yield from ((_text(name, position, value[freeze(key)]), key) for key in keys_of(value))


def _text(name: str, position: int, item: Value) -> Value:
    if type(item) is list and item:
        return item[0]
    if type(item) is not str:
        raise BuiltinError(f"{name}: operand {position}: element must be string or non-empty array")
    return item


def _mergeable(item: Value) -> tuple[Network, str]:
    """The network, and how it is written if it stays alone: a bare address keeps all its bits."""
    if type(item) is not str:
        raise BuiltinError("net.cidr_merge: element must be string")
    address = _parse_address(item)
    if isinstance(address, IPv6Address):
        raise BuiltinError("net.cidr_merge: IPv6 invalid: needs prefix length")
    if address is not None:
        prefix = _classful_prefix(address)
        return IPv4Network((int(address), prefix), strict=False), f"{address}/{prefix}"
    network = _parse_network(item)
    if network is None:
        raise BuiltinError(f"net.cidr_merge: invalid CIDR address: {item}")
    return network, str(network)


def _classful_prefix(address: IPv4Address) -> int:
    first = address.packed[0]
    return 8 if first < 128 else 16 if first < 192 else 24


def _parse_address(text: str) -> Address | None:
    try:
        if ":" not in text:
            return IPv4Address(text)
        address = IPv6Address(text)
    except AddressValueError:
        return None
    if address.scope_id is not None:
        return None
    return address.ipv4_mapped or address


def _parse_network(text: str) -> Network | None:
    written, slash, prefix = text.partition("/")
    address = _parse_address(written)
    if not slash or address is None or not _PREFIX.fullmatch(prefix):
        return None
    length = int(prefix)
    if length > (128 if ":" in written else 32):
        return None
    if isinstance(address, IPv4Address) and ":" in written:
        return _mapped(written, address, length)
    kind = IPv4Network if isinstance(address, IPv4Address) else IPv6Network
    return kind((int(address), length), strict=False)


def _mapped(written: str, address: IPv4Address, length: int) -> Network:
    if length < 96:
        return IPv6Network((int(IPv6Address(written)), length), strict=False)
    return IPv4Network((int(address), length - 96), strict=False)
