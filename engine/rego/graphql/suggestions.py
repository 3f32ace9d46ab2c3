"""What someone may have meant who wrote a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.rego.graphql.faults import Budget


def suggested(written: str, options: Iterable[str], budget: Budget) -> list[str]:
    """The options that are close to what was written, the closest first."""
    threshold = int(len(written.encode()) * 0.4) + 1
    distances: dict[str, int] = {}
    for option in options:
        budget.spend()
        if abs(len(written) - len(option)) <= threshold:
            # A step is about ten cells of the table that finds the distance.
            budget.spend(len(written) * len(option) // 10)
            distances[option] = _distance(written, option)
    return sorted((option for option in distances if distances[option] <= threshold), key=distances.__getitem__)


def did_you_mean(prefix: str, options: Sequence[str], *, quoted: bool = True) -> str:
    """To be put behind a message; nothing if there is nothing to suggest."""
    return f" {prefix} {or_list(options, quoted=quoted)}?" if options else ""


def or_list(options: Sequence[str], *, quoted: bool = True) -> str:
    """'"A", "B", or "C"': five at most."""
    shown = [f'"{option}"' if quoted else option for option in options[:5]]
    if len(shown) <= 2:
        return " or ".join(shown)
    return ", ".join(shown[:-1]) + f", or {shown[-1]}"


def _distance(one: str, other: str) -> int:
    """Levenshtein's; a difference in case alone is one edit."""
    if one == other:
        return 0
    one, other = one.lower(), other.lower()
    if one == other:
        return 1
    row = list(range(len(other) + 1))
    for place, character in enumerate(one, 1):
        above, row[0] = row[0], place
        for column, against in enumerate(other, 1):
            above, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, above + (character != against)),
            )
    return row[-1]
