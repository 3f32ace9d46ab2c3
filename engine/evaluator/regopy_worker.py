"""The subprocess that holds regopy, and the only module that imports it: `python -m engine.evaluator.regopy_worker`.

It lives apart because regopy can crash, hang and print. Frames come on stdin and go out on a private copy of stdout;
the library's own descriptors 1 and 2 lead nowhere. Each frame is handled under a SIGALRM with its default action, so
that a worker whose parent is gone ends even inside C++.

    in    L {"modules", "data", "keys", "entrypoints", "escapes", "alarm_s"}        load, once
          A {"segments", "alarm_s"} newline [input as JSON text]                    ask
    out   R hello    P problems of a load    V value    U undefined    E [code, message]
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from regopy import Bundle, Interpreter, LogLevel, RegoError
from regopy.rego_shared import rego as lib
from regopy.rego_shared import rego_bundle_query, rego_bundle_query_entrypoint

from engine.evaluator.frames import HEADER_BYTES, FrameError, frame, payload_length
from engine.evaluator.regopy_nodes import UNDEFINED, InexactError, NodeReader, RegoFailedError, Undefined

if TYPE_CHECKING:
    from engine.jsontext import JsonValue

MEMORY_BYTES: Final = 1024**3
CACHED_PATHS: Final = 32

_STATM: Final = Path("/proc/self/statm")
_NOT_QUOTABLE: Final = re.compile(r'["\\\x00-\x1f]')
_NOT_A_VALUE: Final = re.compile(r"bundle verify: call to 'g0\.(data\.[^']+)' arg count")
_REPORTED: Final = re.compile(r"\(error\s+(?:\d+:(\d+)\|(\d+)\|\d+)?\s*\(errormsg \d+:(.*?)\)\s*(?=\()", re.DOTALL)

Segments = tuple[str | int, ...]


def main() -> None:
    out = _take_stdout()
    os.environ.clear()
    _bound_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _send(out, b"R")
    program: Program | None = None
    while (payload := _receive()) is not None:
        kind, header, body = _split(payload)
        signal.setitimer(signal.ITIMER_REAL, header["alarm_s"])
        if kind == b"L":
            program = Program(header)
            answer = b"P" + _json(program.problems)
        elif program is None:
            raise FrameError("a question came before a bundle")
        else:
            answer = program.answer(tuple(header["segments"]), body)
        _send(out, answer)
        signal.setitimer(signal.ITIMER_REAL, 0)


class Program:
    """A compiled bundle: the known entrypoints in one build, any other path in a build of its own, kept for a while."""

    def __init__(self, load: dict[str, Any]) -> None:
        self._modules: list[str] = load["modules"]
        self._data: str = load["data"]
        self._keys: list[str] = load["keys"]
        self._entrypoints = {_segments(path): path for path in load["entrypoints"]}
        self._nodes = NodeReader(lib, escapes=load["escapes"])
        self._queries: OrderedDict[str, Bundle] = OrderedDict()
        self._compiler: Interpreter | None = None
        self._with_input: Interpreter | None = None
        self.problems: list[list[Any]] = []
        compiler = self._loaded_compiler()
        self._built: Any = None if self.problems else self._build(compiler)

    def answer(self, segments: Segments, text: bytes) -> bytes:
        try:
            value = self._document(segments, text) if segments else self._everything(text)
        except InexactError as refusal:
            return b"E" + _json(["evaluator_output", str(refusal)])
        except RegoFailedError as failure:
            if failure.message == "std::bad_alloc":
                raise MemoryError from failure
            return b"E" + _json([failure.code, failure.message])
        return b"U" if value is UNDEFINED else b"V" + _json(value)

    def _everything(self, text: bytes) -> JsonValue | Undefined:
        """regopy leaves base documents out of `data` as a whole, hence one question for each key at the top."""
        virtual = self._run((), text)
        keys = {*self._keys, *(virtual if isinstance(virtual, dict) else ())}
        documents = {key: self._document((key,), text) for key in sorted(keys)}
        return {key: value for key, value in documents.items() if not isinstance(value, Undefined)}

    def _document(self, segments: Segments, text: bytes) -> JsonValue | Undefined:
        try:
            return self._run(segments, text)
        except RegoFailedError as failure:
            # OPA leaves functions out of a document; regopy calls them without arguments and reports that.
            function = _NOT_A_VALUE.match(failure.message)
            asked = ".".join(["data", *map(str, segments)])
            if function and f"{asked}.".startswith(f"{function[1]}."):
                return UNDEFINED
            raise

    def _run(self, segments: Segments, text: bytes) -> JsonValue | Undefined:
        # Parsing an input is 10 times quicker in an interpreter that has done it before (70 µs against 800), but an
        # input cannot be taken back, and stays when the next one fails: then, and without input, a new one.
        interpreter = (self._with_input if text else None) or _interpreter()
        self._with_input = None
        try:
            if text:
                interpreter.set_input_term(text.decode())
            output, bound = self._query(interpreter, segments)
        except RegoError as error:
            raise RegoFailedError("evaluator_output", f"regopy: {_first_message(str(error))}") from error
        if text:
            self._with_input = interpreter
        return self._nodes.read(output, bound=bound)

    def _query(self, interpreter: Interpreter, segments: Segments) -> tuple[int, bool]:
        """The output, and whether its value is a binding: a plain expression that is false would be undefined."""
        entrypoint = self._entrypoints.get(segments)
        if entrypoint is not None:
            return rego_bundle_query_entrypoint(interpreter._impl, self._built._impl, entrypoint), False  # noqa: SLF001
        return rego_bundle_query(interpreter._impl, self._query_build(segments)._impl), True  # noqa: SLF001

    def _query_build(self, segments: Segments) -> Bundle:
        query = f"x = {_reference(segments)}"
        built = self._queries.pop(query, None)
        if built is None:
            self._compiler = self._compiler or self._loaded_compiler()
            built = self._compiler.build(query)
        self._queries[query] = built
        if len(self._queries) > CACHED_PATHS:
            self._queries.popitem(last=False)
        return built

    def _loaded_compiler(self) -> Interpreter:
        compiler = _interpreter()
        for index, source in enumerate(self._modules):
            try:
                compiler.add_module(str(index), source)
            except RegoError as error:
                self.problems += _reported(str(error), index)
        try:
            compiler.add_data_json(self._data)
        except RegoError as error:
            self.problems += _reported(str(error), None)
        return compiler

    def _build(self, compiler: Interpreter) -> Bundle | None:
        try:
            return compiler.build(None, list(self._entrypoints.values()))
        except RegoError as error:
            self.problems += _reported(str(error), None)
            return None


def _interpreter() -> Interpreter:
    interpreter = Interpreter()
    interpreter.log_level = LogLevel.NONE
    interpreter.strict_built_in_errors = True
    return interpreter


def _segments(path: str) -> Segments:
    return tuple(path.split("/"))


def _reference(segments: Segments) -> str:
    """The caller has checked the segments; a rule's own package names come here too, hence the second look."""
    for segment in segments:
        if isinstance(segment, str) and _NOT_QUOTABLE.search(segment):
            raise InexactError(f"the path segment {segment!r} cannot be quoted safely")
    return "data" + "".join(f"[{json.dumps(segment, ensure_ascii=False)}]" for segment in segments)


def _reported(text: str, module: int | None) -> list[list[Any]]:
    """regopy's error dump as [module index, byte offset, message]."""
    found = [
        [int(index) if index else module, int(offset or 0), message]
        for index, offset, message in _REPORTED.findall(text)
    ]
    return found or [[module, 0, _first_message(text)]]


def _first_message(text: str) -> str:
    found = _REPORTED.search(text)
    return found[3] if found else text[:200]


def _bound_memory() -> None:
    """regopy's allocator reserves 256 GiB of addresses at import and ends the process if it may not: the bound is
    what is reserved now, plus what a policy may use. No core file, as that would hold inputs."""
    reserved = int(_STATM.read_text().split()[0]) * resource.getpagesize() if _STATM.exists() else 0
    if reserved:
        resource.setrlimit(resource.RLIMIT_AS, (reserved + MEMORY_BYTES, reserved + MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _take_stdout() -> int:
    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    return out


def _split(payload: bytes) -> tuple[bytes, dict[str, Any], bytes]:
    header, _, body = payload[1:].partition(b"\n")
    return payload[:1], json.loads(header), body


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _send(out: int, payload: bytes) -> None:
    try:
        rest = memoryview(frame(payload))
    except FrameError as error:
        rest = memoryview(frame(b"E" + _json(["evaluator_output", f"the answer is too large: {error}"])))
    while rest:
        rest = rest[os.write(out, rest) :]


def _receive() -> bytes | None:
    header = _read(HEADER_BYTES)
    return None if header is None else _read(payload_length(header))


def _read(count: int) -> bytes | None:
    """Exactly so many bytes, or None when the other side has gone."""
    received = bytearray()
    while len(received) < count:
        chunk = os.read(0, min(count - len(received), 1 << 20))
        if not chunk:
            return None
        received += chunk
    return bytes(received)


if __name__ == "__main__":
    main()
