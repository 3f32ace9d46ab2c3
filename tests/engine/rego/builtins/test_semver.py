from __future__ import annotations

from engine.rego.builtins.semver import compare, is_valid

ORDER = [
    "1.0.0-1",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0",
    "1.0.1",
]


def test_versions_are_in_the_order_of_the_specification():
    expected = [[(one > other) - (one < other) for other in range(len(ORDER))] for one in range(len(ORDER))]
    assert [[compare(one, other) for other in ORDER] for one in ORDER] == expected


def test_only_text_of_three_numbers_is_a_version():
    assert [is_valid(one) for one in ("1.0.0", "v1.0.0", "1.0", "01.0.0", 1, None)] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
