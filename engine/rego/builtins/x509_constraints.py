"""Name constraints: whether the names of each certificate of a chain are among those that its issuers may vouch for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.rego.builtins.go_url import Url
from engine.rego.builtins.x509_extensions import AlternativeNames, Meaning, Subtree, Subtrees, is_domain, mailbox

MAX_COMPARISONS: Final = 250_000
"""Of names of one certificate with constraints; beyond, the chain is not trusted."""

Names = tuple[list[str], list[str], list[tuple[str, str]], list[bytes]]
"""DNS names, hosts of URIs, mail addresses, IP addresses."""


def constraints_hold(chain: list[Meaning]) -> bool:
    """The leaf first."""
    for place, one in enumerate(chain):
        limits = [other for other in chain[place + 1 :] if _count(other.permitted) or _count(other.excluded)]
        if not limits or not _size(one.names):
            continue
        if (
            _size(one.names) * sum(_count(limit.permitted) + _count(limit.excluded) for limit in limits)
            > MAX_COMPARISONS
        ):
            return False
        names = _names(one.names)
        if names is None or not all(_allows(limit, names) for limit in limits):
            return False
    return True


def _count(subtrees: Subtrees) -> int:
    return len(subtrees.dns) + len(subtrees.addresses) + len(subtrees.emails) + len(subtrees.uris)


def _size(names: AlternativeNames) -> int:
    return len(names.dns) + len(names.emails) + len(names.addresses) + len(names.uris)


def _names(names: AlternativeNames) -> Names | None:
    """None where one of them cannot be compared with a constraint."""
    hosts = [_host(uri) for uri in names.uris]
    mailboxes = [mailbox(email) for email in names.emails]
    domains = [*names.dns, *(host or "" for host in hosts), *(one[1] for one in mailboxes if one)]
    if None in hosts or None in mailboxes or not all(is_domain(one, constraint=False) for one in domains):
        return None
    addresses = [(local, domain.lower()) for local, domain in (one for one in mailboxes if one)]
    return names.dns, [host for host in hosts if host], addresses, names.addresses


def _host(uri: Url) -> str | None:
    host = uri.host.lower()
    if not host or host.startswith("["):
        return None
    name = host.rpartition(":")[0] if ":" in host else host
    numbers = name.split(".")
    is_address = len(numbers) == 4 and all(part.isdecimal() for part in numbers)
    return None if is_address or ":" in name else name


def _allows(limit: Meaning, names: Names) -> bool:
    dns, hosts, mailboxes, addresses = names
    permitted, excluded = limit.permitted, limit.excluded
    return (
        all(_passes(name, permitted.dns, excluded.dns) for name in dns)
        and all(_passes(host, permitted.uris, excluded.uris) for host in hosts)
        and all(_mail_passes(one, permitted.emails, excluded.emails) for one in mailboxes)
        and all(_address_passes(one, permitted.addresses, excluded.addresses) for one in addresses)
    )


def _passes(name: str, permitted: list[str], excluded: list[str]) -> bool:
    if permitted and not any(_is_below(name, one) for one in permitted):
        return False
    return not any(_is_below(name, one) or _covers(name, one) for one in excluded)


def _is_below(name: str, constraint: str) -> bool:
    """`.example.com` has what is below it only, `example.com` itself too, and nothing has everything."""
    name, constraint = name.lower(), constraint.lower()
    if not constraint or name == constraint:
        return True
    return name.endswith(constraint if constraint.startswith(".") else f".{constraint}")


def _covers(name: str, constraint: str) -> bool:
    """A wildcard that could stand for the excluded name."""
    below = name.lower().partition(".")[2]
    return name.startswith("*") and bool(below) and constraint.lower().partition(".")[2] == below


def _mail_passes(one: tuple[str, str], permitted: list[str], excluded: list[str]) -> bool:
    if permitted and not _mail_is_among(one, permitted):
        return False
    return not _mail_is_among(one, excluded)


def _mail_is_among(one: tuple[str, str], constraints: Iterable[str]) -> bool:
    for constraint in constraints:
        if "@" not in constraint:
            if _is_below(one[1], constraint):
                return True
            continue
        whole = mailbox(constraint)
        if whole is not None and (whole[0], whole[1].lower()) == one:
            return True
    return False


def _address_passes(address: bytes, permitted: list[Subtree], excluded: list[Subtree]) -> bool:
    if permitted and not any(_is_within(address, one) for one in permitted):
        return False
    return not any(_is_within(address, one) for one in excluded)


def _is_within(address: bytes, subtree: Subtree) -> bool:
    network, mask = subtree
    if len(network) != len(address):
        return False
    return all((own ^ other) & bits == 0 for own, other, bits in zip(address, network, mask, strict=True))
