"""Lines of Python: indentation, loops, and how the code leaves where something fails.

What fails leaves by `continue` inside a loop, by `break` inside a block that runs once, by `return` outside of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

MOST_BLOCKS: Final = 14
"""Python takes 20 blocks inside one another; `try` needs one more, and so do those that do not loop."""


@dataclass(frozen=True, slots=True)
class _Level:
    exit: str
    function: str | None = None
    """A function was begun here because there were too many blocks."""


class Lines:
    """Of one function. `leave` is how its body fails outside of every block."""

    def __init__(self, header: str, leave: str, fresh: Callable[[str], str], indent: int = 0) -> None:
        self.lines = [" " * indent + header]
        self.fresh = fresh
        self.assigned: list[str] = []
        """What functions inside this one must assign to."""
        self.is_split = False
        """Whether there are functions inside that go on with the body."""
        self._start = indent + 4
        self._indent = self._start
        self._levels = [_Level(leave)]
        self._left = 0

    def add(self, line: str) -> None:
        self.lines.append(" " * self._indent + line)

    def add_first(self, line: str) -> None:
        self.lines.insert(1, " " * self._start + line)

    @property
    def fail(self) -> str:
        if self._levels[-1].exit == "break":
            self._left += 1
        return self._levels[-1].exit

    @property
    def depth(self) -> int:
        return len(self._levels)

    def in_loop_since(self, depth: int) -> bool:
        """Whether a loop was opened after this depth."""
        return any(level.exit == "continue" for level in self._levels[depth:])

    @property
    def indent(self) -> int:
        return self._indent

    def unless(self, condition: str) -> None:
        """Leave if `condition` holds."""
        self.add(f"if {condition}: {self.fail}")

    def loop(self, target: str, over: str) -> None:
        """Everything after it happens inside."""
        if self._blocks() >= MOST_BLOCKS:
            self._begin_function()
        self._open(f"for {target} in {over}:", _Level("continue"))

    def end(self) -> None:
        """Back to the top of the function, after all loops."""
        self._close(1)

    def finish(self, line: str) -> None:
        """The last line of the function, unless the one before it returns already."""
        self.end()
        if not self.lines[-1].startswith(" " * self._start + "return"):
            self.add(line)

    @contextmanager
    def once(self) -> Iterator[None]:
        """A block that what fails leaves, and after which the code goes on."""
        start, depth, left = len(self.lines), len(self._levels), self._left
        self._left = 0
        self._open("while True:", _Level("break"))
        yield
        self._close(depth + 1)
        if self._left:
            self.add("break")
        self._close(depth)
        if not self._left:  # nothing ever leaves it: no block is needed
            self.lines[start:] = [line[4:] for line in self.lines[start + 1 :]]
        self._left = left

    @contextmanager
    def nested(self) -> Iterator[None]:
        self._indent += 4
        yield
        self._indent -= 4

    def _blocks(self) -> int:
        """Of the innermost function."""
        count = 0
        for level in reversed(self._levels):
            if level.function is not None:
                break
            count += 1
        return count

    def _open(self, header: str, level: _Level) -> None:
        self.add(header)
        self._indent += 4
        self._levels.append(level)

    def _begin_function(self) -> None:
        self.is_split = True
        name = self.fresh("more")
        self._open(f"def {name}():", _Level("return UNDEFINED", name))
        if self.assigned:
            self.add(f"nonlocal {', '.join(self.assigned)}")

    def _close(self, depth: int) -> None:
        while len(self._levels) > depth:
            level = self._levels.pop()
            if level.function is not None:
                self.add("return UNDEFINED")
            self._indent -= 4
            if level.function is not None:
                result = self.fresh("t")
                self.add(f"{result} = {level.function}()")
                self.add(f"if {result} is not UNDEFINED: return {result}")

    def mark(self) -> tuple[int, int]:
        return len(self.lines), self._left

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget what was added since; no block may have been opened and left open."""
        del self.lines[mark[0] :]
        self._left = mark[1]
