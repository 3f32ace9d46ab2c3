"""A query against its schema: all rules together, in gqlparser's order, which is that of their names there."""

from __future__ import annotations

from engine.rego.graphql.faults import Fault
from engine.rego.graphql.field_rules import FieldRules
from engine.rego.graphql.fragment_rules import FragmentRules
from engine.rego.graphql.operation_rules import OperationRules
from engine.rego.graphql.overlap_rule import OverlapRule
from engine.rego.graphql.schema import Schema
from engine.rego.graphql.syntax import QueryDocument
from engine.rego.graphql.value_rules import ValueRules
from engine.rego.graphql.walker import Findings, Observers, Walker


def faults_of(schema: Schema, document: QueryDocument) -> list[Fault]:
    """All that is wrong with the query. What is found out about its nodes is written on them."""
    findings = Findings(schema, document)
    Walker(findings, _observers(findings)).walk()
    return findings.faults


def _observers(findings: Findings) -> Observers:
    field, fragment = FieldRules(findings), FragmentRules(findings)
    operation, value, overlap = OperationRules(findings), ValueRules(findings), OverlapRule(findings)
    return Observers(
        operation=(
            operation.has_a_root,
            operation.is_alone_without_name,
            operation.uses_its_variables,
            overlap.in_operation,
            operation.subscribes_to_one_field,
            operation.name_is_unique,
            operation.has_each_variable_once,
            operation.takes_input_types,
        ),
        field=(
            field.is_of_its_type,
            field.has_known_arguments,
            field.is_not_too_deep_introspection,
            overlap.in_field,
            field.has_required_arguments,
            field.selects_where_it_must,
            field.has_each_argument_once,
        ),
        fragment=(
            fragment.is_on_composite_type,
            fragment.is_on_known_type,
            fragment.does_not_hold_itself,
            fragment.is_used,
            overlap.in_fragment,
            fragment.name_is_unique,
        ),
        inline_fragment=(
            fragment.inline_is_on_composite_type,
            fragment.inline_is_on_known_type,
            overlap.in_inline_fragment,
            fragment.inline_is_possible,
        ),
        spread=(fragment.spread_is_known, fragment.spread_is_use, fragment.spread_is_possible),
        directive=(
            field.directive_has_known_arguments,
            operation.directive_is_known,
            field.directive_has_required_arguments,
            field.directive_has_each_argument_once,
        ),
        directives=(operation.directives_are_unique,),
        value=(
            value.variable_is_defined,
            value.has_each_field_once,
            value.is_of_expected_type,
            value.variable_fits,
            value.variable_of_one_of_is_not_null,
        ),
        variable=(operation.variable_has_known_type,),
    )
