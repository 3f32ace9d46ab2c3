"""Linking: where each document and function is, what each is called, and all of their code as one program.

The generated source is kept: it is what `lictor policy compile --dump` shows and what a traceback points into.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.rego.code.bodies import Code
from engine.rego.code.clauses import GroupCode
from engine.rego.code.grouping import Group, group_rules, is_name
from engine.rego.code.indexing import Indexed, choices_of, demands_of
from engine.rego.code.namespace import Namespace
from engine.rego.code.terms import local
from engine.rego.errors import Location, RegoProblem, RegoSyntaxError
from engine.rego.run.query import Node, Program, Query
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import dotted
from engine.rego.syntax.walking import branches, rule_nodes, within
from engine.rego.values import Value

Path = tuple[str, ...]


class Linker:
    def __init__(self, with_origins: bool = False) -> None:
        self.source: list[str] = []
        self.names = Namespace()
        self.program = Program(with_origins=with_origins)
        self._nodes: dict[Path, Node] = {(): self.program.root}
        self._functions: set[Path] = set()
        self._labels: dict[Path, str] = {}
        self._taken: dict[str, int] = {}
        self._mocked: set[str] = set()
        self._remembered: set[Path] = set()
        self._indexes: dict[str, list[tuple[str, s.Rule]]] = {}

    def link(self, rules: Sequence[s.Rule], packages: Iterable[Path] = (), queries: Sequence[s.Body] = ()) -> None:
        """`queries` are those that will be asked later: what they replace must be replaceable."""
        groups = group_rules(rules)
        for package in packages:
            self._node(package).is_package = True
        for group in groups:
            self._place(group)
        self._remembered = _called_twice(groups)
        parts: list[s.Rule | s.Body] = [*rules, *queries]
        self._mocked = {name for part in parts for name in self._mocked_in(part)}
        for group in groups:
            self.source.extend(GroupCode(self, group, self._labels[group.path]).source)
        self._run("\n\n\n".join(self.source), "<rego>")
        for index, clauses in self._indexes.items():
            found = self.names.values
            self.names.values[index] = choices_of(
                [Indexed(found[name], demands_of(rule, self.is_base)) for name, rule in clauses]
            )
        self.program.documents[:] = [self.names.values[self._labels[path]] for path in self.program.paths]

    def query(self, body: s.Body, variables: dict[str, str]) -> Callable[[Query], list[dict[str, Value]]]:
        """A query as a function, which gives the bindings of its variables (written name → name in the body)."""
        name = self.names.fresh("query")
        code = Code(self, f"def {name}(q):", "return out")
        code.ordered = True
        code.add("out = []")
        shown = {written: made for written, made in variables.items() if not written.startswith("$")}

        def tail(inner: Code) -> None:
            pairs = ", ".join(f"{w!r}: {local(m)}" for w, m in shown.items() if m in inner.bound)
            inner.add(f"out.append({{{pairs}}})")

        code.body(body, tail)
        code.finish("return out")
        self._run("\n".join(code.lines), "<rego query>")
        made: Callable[[Query], list[dict[str, Value]]] = self.names.values[name]
        return made

    def _run(self, source: str, name: str) -> None:
        """RegoSyntaxError if the rules are larger than Python can take."""
        try:
            exec(compile(source, name, "exec"), self.names.values)  # noqa: S102  our own code
        except (SyntaxError, RecursionError, MemoryError) as error:
            message = f"the rules are too large to be compiled ({type(error).__name__}): split the longest of them"
            problem = RegoProblem("rego_compile_error", message, Location("", 1, 1))
            raise RegoSyntaxError([problem]) from error

    def _place(self, group: Group) -> None:
        node = self._node(group.path)
        self._labels[group.path] = self._label(group.path)
        if group.arity is not None:
            node.function = len(self._functions)
            self._functions.add(group.path)
        else:
            node.document = len(self.program.paths)
            self.program.paths.append(group.path)

    def _label(self, path: Path) -> str:
        """A name that reads like the path."""
        base = label = re.sub(r"[^A-Za-z0-9_]", "_", "_".join(("data", *path)))
        while label in self._taken:
            self._taken[base] += 1
            label = f"{base}_{self._taken[base]}"
        self._taken[label] = 1
        return label

    def _node(self, path: Path) -> Node:
        node = self.program.root
        for end, part in enumerate(path, 1):
            if part not in node.children:
                node.children[part] = Node(path[:end])
                self._nodes[path[:end]] = node.children[part]
            node = node.children[part]
        return node

    def _mocked_in(self, part: s.Rule | s.Body) -> Iterator[str]:
        for node in within(*part) if isinstance(part, tuple) else _nodes(part):
            if isinstance(node, s.With) and isinstance(path := self.with_path(node.target), str):
                yield path

    # --- what the code generator asks for

    def node(self, path: Path) -> str:
        return self.names.named(("node", path), self._nodes[path], "NODE")

    def number_of(self, path: Path) -> int | None:
        """Of a document, if its origins are kept."""
        return self._nodes[path].document if self.program.with_origins else None

    def label_of(self, document: int) -> str:
        return self._labels[self.program.paths[document]]

    def function(self, call: s.Call) -> str:
        return self._labels[call.operator[1:]]

    def index(self, clauses: list[tuple[str, s.Rule]]) -> str:
        """A name for the choice between these functions, which is made when all of them are there."""
        name = self.names.fresh("INDEX")
        self._indexes[name] = clauses
        return name

    def is_base(self, path: Path) -> bool:
        """Whether no rule defines anything above, at or below it."""
        node = self.program.root
        for part in path:
            if node.document is not None or part not in node.children:
                return node.document is None
            node = node.children[part]
        return False

    def is_remembered(self, path: Path) -> bool:
        """Whether it is a function that is memoised."""
        return path in self._remembered and path in self._functions

    def is_mocked(self, name: str) -> bool:
        """Whether some `with` replaces the function."""
        return name in self._mocked

    def mock(self, term: s.Term) -> str | None:
        """What a function is replaced by, if that is a function too."""
        if isinstance(term, s.Ref) and isinstance(term.head, s.Var):
            if term.head.name == "$builtin" and isinstance(term.path[0], s.Scalar):
                return self.names.mockable_builtin(str(term.path[0].value))
            path = dotted(term)
            if path is not None and path[0] == "data" and path[1:] in self._functions:
                return self._labels[path[1:]]
        return None

    def with_path(self, target: s.Ref | s.Var) -> str | Path:
        """A document's path, or a function's name."""
        if isinstance(target, s.Ref) and isinstance(target.head, s.Var) and target.head.name == "$builtin":
            return str(target.path[0].value) if isinstance(target.path[0], s.Scalar) else ""
        path = dotted(target) or ("input",)
        return ".".join(path) if path[1:] in self._functions else path

    def follow(self, path: tuple[s.Term, ...]) -> tuple[Node | None, int]:
        """The node that the constant beginning of a path names, and how much of the path that is."""
        node = self.program.root
        for used, part in enumerate(path):
            if node.document is not None:
                return node, used
            if not isinstance(part, s.Scalar) or type(part.value) is not str:
                return node, used
            if part.value not in node.children:
                rest = next((n for n in range(used, len(path)) if not _is_base_key(path[n])), len(path))
                return None, rest
            node = node.children[part.value]
        return node, len(path)


def _called_twice(groups: Sequence[Group]) -> set[Path]:
    """Functions with arguments that another function calls in two places: chains of such would double at each link.

    Measured: to memoise all functions costs more than it saves, since most are called with something new each time.
    """
    found: set[Path] = set()
    for group in groups:
        if group.arity is not None:
            nodes = (node for rule in group.rules for node in _nodes(rule))
            calls = Counter(node.operator[1:] for node in nodes if isinstance(node, s.Call) and node.args)
            found.update(path for path, count in calls.items() if count > 1)
    return found


def _nodes(rule: s.Rule) -> Iterator[object]:
    """Of the rule and of its `else` branches."""
    for each in branches(rule):
        yield from rule_nodes(each)


def _is_base_key(part: s.Term) -> bool:
    """A key of a base document: `data.a[2]` means the key "2", as a path in a URL does."""
    return is_name(part) or (isinstance(part, s.Scalar) and type(part.value) is int)
