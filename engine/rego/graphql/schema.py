"""The types and directives of a schema, by name, as its own checks and the rules of queries look them up."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.rego.graphql.faults import Budget
from engine.rego.graphql.syntax import Definition, DirectiveDefinition


@dataclass(frozen=True, slots=True)
class Schema:
    types: dict[str, Definition]
    directives: dict[str, DirectiveDefinition]
    possible_types: dict[str, list[Definition]]
    """To an abstract type, all that a value of it can be; an object is itself."""
    roots: dict[str, Definition] = field(default_factory=dict)
    """The types of `query`, `mutation` and `subscription`, as far as there are such operations."""
    budget: Budget = field(default_factory=Budget)
    """For the checks of the schema."""
