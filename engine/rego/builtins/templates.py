"""`strings.render_template`: a template of Go's `text/template`, filled in."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final

from engine.rego.builtins.bounds import bounded_length
from engine.rego.builtins.go_text import quote, value_text
from engine.rego.builtins.operands import operand_object, operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.builtins.templates_functions import (
    CALLS,
    EXACTLY,
    LEAST,
    NOTHING,
    SHORT_CIRCUIT,
    TAKE_ANY,
    CallFault,
    truth,
)
from engine.rego.builtins.templates_parser import MAIN, TemplateFault, parsed
from engine.rego.builtins.templates_printing import GoValue, Number, printed, type_name
from engine.rego.builtins.templates_tree import (
    Action,
    Constant,
    Control,
    Dot,
    Invocation,
    Jump,
    Name,
    Node,
    Operand,
    Path,
    Pipe,
    Text,
    Variable,
    shown,
)
from engine.rego.errors import BuiltinError
from engine.rego.values import Value

MAX_STEPS: Final = 1_000_000
"""Nodes that one rendering may come to."""
MAX_MADE: Final = 64 * 1024 * 1024
"""Characters that one rendering may make, the output and all values on the way."""
_NAME: Final = "strings.render_template"
_ABSENT: Final = object()
"""No value comes from the command before."""


@builtin(_NAME)
def render_template(template: Value, variables: Value) -> str:
    text, given = operand_string(_NAME, 1, template), operand_object(_NAME, 2, variables)
    try:
        return _Rendering(text, _data(given)).run().replace("<no value>", "<undefined>")
    except TemplateFault as fault:
        raise BuiltinError(f"{_NAME}: {fault}") from fault
    except RecursionError as error:
        raise BuiltinError(f"{_NAME}: nested too deeply") from error


def _data(variables: Value) -> GoValue:
    """OPA reads the text of the term as JSON: a set is none, nor a key that is no string, nor a control character."""
    text = value_text(variables)
    bounded_length(_NAME, len(text))
    try:
        return json.loads(text, parse_int=Number, parse_float=Number)
    except json.JSONDecodeError as error:
        at = error.pos + error.msg.startswith("Invalid \\escape")
        context = "in string escape code" if at > error.pos else "looking for beginning of object key string"
        raise TemplateFault(f"invalid character '{text[at : at + 1]}' {context}") from error


class _Break(Exception):
    """`{{break}}`: out of the range."""


class _Continue(Exception):
    """`{{continue}}`: on to its next element."""


class _Rendering:
    """One template with its data: where it is, what it knows, what it has written."""

    def __init__(self, source: str, data: GoValue) -> None:
        self._source = source
        self._data = data
        self._templates = parsed(source)
        self._template = MAIN
        self._variables: list[tuple[str, GoValue]] = [("$", data)]
        self._here: Operand | Invocation = Dot(0)
        self._written: list[str] = []
        self._length = 0
        self._steps = 0
        self._made = 0

    def run(self) -> str:
        self._walk(self._data, self._templates[MAIN])
        return "".join(self._written)

    def _walk(self, dot: GoValue, nodes: list[Node]) -> None:
        for node in nodes:
            self._step()
            if isinstance(node, Text):
                self._write(node.text)
            elif isinstance(node, Action):
                value = self._pipe(dot, node.pipe)
                if not node.pipe.declared:
                    self._write("<no value>" if value is NOTHING else self._charged(printed(value)))
            elif isinstance(node, Jump):
                raise _Break if node.kind == "break" else _Continue
            elif isinstance(node, Invocation):
                self._invoke(dot, node)
            elif node.kind == "range":
                self._range(dot, node)
            else:
                self._branch(dot, node)

    def _branch(self, dot: GoValue, node: Control) -> None:
        known = len(self._variables)
        value = self._pipe(dot, node.pipe)
        if truth(value):
            self._walk(value if node.kind == "with" else dot, node.body)
        elif node.otherwise is not None:
            self._walk(dot, node.otherwise)
        del self._variables[known:]

    def _range(self, dot: GoValue, node: Control) -> None:
        known = len(self._variables)
        value = self._pipe(dot, node.pipe)
        mark = len(self._variables)
        pairs = self._pairs(value, node.pipe)
        try:
            for key, item in pairs:
                self._bind(node.pipe, key, item)
                with suppress(_Continue):
                    self._walk(item, node.body)
                del self._variables[mark:]
        except _Break:
            pass
        else:
            if not pairs and node.otherwise is not None:
                self._walk(dot, node.otherwise)
        del self._variables[known:]

    def _pairs(self, value: GoValue, pipe: Pipe) -> list[tuple[GoValue, GoValue]]:
        if value is NOTHING:
            return []
        if isinstance(value, list):
            self._step(len(value))
            return list(enumerate(value))
        if isinstance(value, dict):
            self._step(len(value))
            return [(key, value[key]) for key in sorted(value)]
        if type(value) is not int:
            raise self._fault(f"range can't iterate over {printed(value)}")
        if len(pipe.declared) > 1:
            raise self._fault(f"can't use {value} to iterate over more than one variable")
        self._step(max(0, value))
        return [(NOTHING, number) for number in range(value)]

    def _bind(self, pipe: Pipe, key: GoValue, item: GoValue) -> None:
        values = (item,) if len(pipe.declared) == 1 else (key, item)
        for place, (name, value) in enumerate(zip(pipe.declared, values, strict=False)):
            if pipe.assigns:
                self._assign(name, value)
            else:
                self._variables[len(self._variables) - len(pipe.declared) + place] = (name, value)

    def _invoke(self, dot: GoValue, node: Invocation) -> None:
        self._here = node
        if node.name not in self._templates:
            raise self._fault(f"template {quote(node.name)} not defined")
        given = self._pipe(dot, node.pipe) if node.pipe else NOTHING
        held = self._template, self._variables
        self._template, self._variables = node.name, [("$", given)]
        self._walk(given, self._templates[node.name])
        self._template, self._variables = held

    def _pipe(self, dot: GoValue, pipe: Pipe) -> GoValue:
        self._here = pipe
        value: GoValue = _ABSENT
        for command in pipe.commands:
            self._step()
            value = self._command(dot, command, value)
            value = NOTHING if value is None else value
        for name in pipe.declared:
            if pipe.assigns:
                self._assign(name, value)
            else:
                self._variables.append((name, value))
        return value

    def _assign(self, name: str, value: GoValue) -> None:
        for place in range(len(self._variables) - 1, -1, -1):
            if self._variables[place][0] == name:
                self._variables[place] = (name, value)
                return
        raise self._fault(f"undefined variable: {name}")

    def _command(self, dot: GoValue, command: list[Operand], final: GoValue) -> GoValue:
        first = command[0]
        given = len(command) > 1 or final is not _ABSENT
        if isinstance(first, Name):
            return self._function(dot, first, command, final)
        if isinstance(first, Path):
            return self._path(dot, first, has_arguments=given)
        if not isinstance(first, Pipe):
            self._here = first
        if given:
            raise self._fault(f"can't give argument to non-function {first.text}")
        if isinstance(first, Constant) and first.value is None:
            raise self._fault("nil is not a command")
        return self._operand(dot, first)

    def _operand(self, dot: GoValue, operand: Operand) -> GoValue:
        self._here = operand
        if isinstance(operand, Constant):
            if type(operand.value) is int and operand.value >= 2**63:
                raise self._fault(f"{operand.text} overflows int")
            return operand.value
        if isinstance(operand, Dot):
            return dot
        if isinstance(operand, Pipe):
            return self._pipe(dot, operand)
        if isinstance(operand, Path):
            return self._path(dot, operand, has_arguments=False)
        if isinstance(operand, Name):
            return self._function(dot, operand, [operand], _ABSENT)
        return self._variable(operand)

    def _variable(self, variable: Variable) -> GoValue:
        return next(value for name, value in reversed(self._variables) if name == variable.text)

    def _path(self, dot: GoValue, path: Path, *, has_arguments: bool) -> GoValue:
        self._here = path
        if isinstance(path.base, Dot):
            value = dot
        else:
            value = self._variable(path.base) if isinstance(path.base, Variable) else self._operand(dot, path.base)
        for place, name in enumerate(path.names):
            last = place == len(path.names) - 1
            if value is NOTHING:
                return NOTHING
            if value is None:
                raise self._fault(f"nil pointer evaluating interface {{}}.{name}")
            if not isinstance(value, dict):
                kind = "interface {}" if place else type_name(value)
                raise self._fault(f"can't evaluate field {name} in type {kind}")
            if last and has_arguments:
                raise self._fault(f"{name} is not a method but has arguments")
            value = value.get(name, NOTHING)
        return value

    def _function(self, dot: GoValue, name: Name, command: list[Operand], final: GoValue) -> GoValue:
        self._here = name
        self._check_count(name.text, len(command) - 1, len(command) - (final is _ABSENT))
        if name.text in SHORT_CIRCUIT:
            return self._short_circuit(dot, name.text, command, final)
        values = []
        for place, operand in enumerate(command[1:]):
            values.append(self._argument(dot, name.text, place, operand))
        if final is not _ABSENT:
            values.append(self._typed(name.text, len(values), final))
        if name.text == "call":
            values.insert(0, shown(command[1]) if len(command) > 1 else printed(values[0]))
        for value in values:
            self._charged(value)
        try:
            return self._charged(CALLS[name.text](*values))
        except CallFault as fault:
            self._here = Pipe(name.at, commands=[command])
            raise self._fault(f"error calling {name.text}: {fault}") from fault

    def _check_count(self, name: str, written: int, given: int) -> None:
        if name in EXACTLY and given != EXACTLY[name]:
            raise self._fault(f"wrong number of args for {name}: want {EXACTLY[name]} got {given}")
        if given < LEAST.get(name, 0):
            raise self._fault(f"wrong number of args for {name}: want at least {LEAST[name]} got {written}")

    def _argument(self, dot: GoValue, name: str, place: int, operand: Operand) -> GoValue:
        if name == "printf" and place == 0 and isinstance(operand, Constant):
            self._here = operand
            if operand.value is None:
                raise self._fault("cannot assign nil to string")
            if type(operand.value) is not str:
                raise self._fault(f"expected string; found {operand.text}")
        value = self._operand(dot, operand)
        if isinstance(operand, Constant) and value is None:
            return None if name in TAKE_ANY else NOTHING
        return self._typed(name, place, value)

    def _typed(self, name: str, place: int, value: GoValue) -> GoValue:
        if name == "printf" and place == 0 and type(value) is not str:
            if value is NOTHING:
                raise self._fault("invalid value; expected string")
            kind = "interface {}" if value is None else type_name(value)
            raise self._fault(f"wrong type for value; expected string; got {kind}")
        return None if value is NOTHING and name in TAKE_ANY else value

    def _short_circuit(self, dot: GoValue, name: str, command: list[Operand], final: GoValue) -> GoValue:
        value: GoValue = NOTHING
        for operand in command[1:]:
            value = self._argument(dot, name, 0, operand)
            if truth(value) == (name == "or"):
                return value
        return value if final is _ABSENT else final

    def _write(self, text: str) -> None:
        self._length += len(text)
        bounded_length(_NAME, self._length)
        self._written.append(text)

    def _charged(self, value: GoValue) -> GoValue:
        if isinstance(value, str):
            bounded_length(_NAME, len(value))
            self._made += len(value)
            if self._made > MAX_MADE:
                raise TemplateFault(f"the template makes more than {MAX_MADE} characters")
        return value

    def _step(self, count: int = 1) -> None:
        self._steps += count
        if self._steps > MAX_STEPS:
            raise TemplateFault(f"the template takes more than {MAX_STEPS} steps")

    def _fault(self, message: str) -> TemplateFault:
        before = self._source[: self._here.at]
        line, column = before.count("\n") + 1, len(before[before.rfind("\n") + 1 :].encode("utf-8", "replace"))
        where = f"template: {MAIN}:{line}:{column}: executing {quote(self._template)} at <{self._here.text}>"
        return TemplateFault(f"{where}: {message}")
