# SPDX-License-Identifier: BSD-3-Clause
"""Which small changes a source file can have: each is one piece of its text put in place of another."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

KINDS = ("comparison", "logic", "condition", "negation", "sign", "constant", "bound", "left out")

_COMPARED: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
}
_COUNTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "//"),
}


@dataclass(frozen=True)
class Change:
    """One change of a text.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    line : int
        Where it begins; the first is 1.
    begin, end : int
        The bytes that are replaced.
    new : bytes
        What stands there then.
    """

    kind: str
    line: int
    begin: int
    end: int
    new: bytes

    def of(self, text: bytes) -> bytes:
        """Return the changed text."""
        return text[: self.begin] + self.new + text[self.end :]

    def lines(self, text: bytes) -> tuple[str, str]:
        """Return the line before and after; if the change goes over several lines, from its first to its last."""
        start = text.rfind(b"\n", 0, self.begin) + 1
        stop = text.find(b"\n", self.end)
        stop = len(text) if stop < 0 else stop
        after = text[start : self.begin] + self.new + text[self.end : stop]
        return text[start:stop].decode().strip(), after.decode().strip()


def changes_of(text: bytes) -> list[Change]:
    """Return the changes that a file's text can have, in order; some of them ``is_real`` refuses."""
    found = set(_Finder(text).all(ast.parse(text)))
    return sorted(found, key=lambda one: (one.begin, one.end, one.kind, one.new))


def is_real(text: bytes, change: Change) -> bool:
    """Whether a changed text is Python, and another program."""
    try:
        changed = ast.parse(change.of(text))
    except SyntaxError:
        return False
    return ast.dump(changed) != ast.dump(ast.parse(text))


def draw(changes: Sequence[Change], choice: random.Random) -> Change:
    """Draw a change: first its kind, since constants would be most of all, then one of the kind."""
    kinds = [kind for kind in KINDS if any(change.kind == kind for change in changes)]
    kind = choice.choice(kinds)
    return choice.choice([change for change in changes if change.kind == kind])


class _Finder:
    """Looks for what can be changed in a text."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def all(self, tree: ast.Module) -> Iterator[Change]:
        """Return the changes, those that mean nothing among them."""
        for node, is_in_text in _walk(tree):
            if not is_in_text or self._is_where_it_says(node):
                yield from self._of(node)

    def _of(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for operator, (left, right) in zip(node.ops, pairwise(sides), strict=True):
                old, others = _COMPARED[type(operator)]
                for new in others:
                    yield from self._between("comparison", left, right, old, new)
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in pairwise(node.values):
                yield from self._between("logic", left, right, old, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            kind = "negation" if isinstance(node.op, ast.Not) else "sign"
            yield self._put(kind, node, self._said(node.operand))
        elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _COUNTED:
            left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
            if not (_is_text(left) or _is_text(right)):
                yield from self._between("sign", left, right, *_COUNTED[type(node.op)])
        elif isinstance(node, ast.Constant):
            yield from self._constants(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield self._put("left out", node, b"pass")
        yield from self._tests(node)
        yield from self._bounds(node)

    def _tests(self, node: ast.AST) -> Iterator[Change]:
        """Return what becomes of conditions: each turned round."""
        tests = node.ifs if isinstance(node, ast.comprehension) else []
        tests = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While) else tests
        for test in tests:
            if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
                yield self._put("condition", test, b"(not (" + self._said(test) + b"))")

    def _bounds(self, node: ast.AST) -> Iterator[Change]:
        """Return what becomes of the ends of slices and ranges: one more, one less."""
        ends: list[ast.expr] = []
        if isinstance(node, ast.Slice):
            ends = [end for end in (node.lower, node.upper) if end is not None]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            ends = node.args[:2]
        for end in ends:
            if not isinstance(end, ast.Constant | ast.Starred):
                for new in (b" + 1", b" - 1"):
                    yield self._put("bound", end, b"(" + self._said(end) + b")" + new)

    def _constants(self, node: ast.Constant) -> Iterator[Change]:
        if isinstance(node.value, bool):
            yield self._put("constant", node, b"False" if node.value else b"True")
        elif isinstance(node.value, int):
            for new in (node.value + 1, node.value - 1):
                yield self._put("constant", node, str(new).encode() if new >= 0 else f"({new})".encode())
        elif isinstance(node.value, float):
            yield self._put("constant", node, repr(node.value + 1).encode())
            if node.value:
                yield self._put("constant", node, repr(node.value * 2).encode())

    def _between(self, kind: str, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Change]:
        """Return the change of the operator between two operands, if nothing hides it, as a comment would."""
        begin, end = self._end(left), self._begin(right)
        part = self.text[begin:end]
        if part.count(old.encode()) == 1 and b"#" not in part:
            at = begin + part.index(old.encode())
            yield Change(kind, self.text.count(b"\n", 0, at) + 1, at, at + len(old), new.encode())

    def _put(self, kind: str, node: ast.expr | ast.stmt, new: bytes) -> Change:
        return Change(kind, node.lineno, self._begin(node), self._end(node), new)

    def _said(self, node: ast.expr) -> bytes:
        return self.text[self._begin(node) : self._end(node)]

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def _is_where_it_says(self, node: ast.AST) -> bool:
        """Whether the text at a node's place is the node's; within texts with braces Python may tell another place."""
        if not isinstance(node, ast.expr):
            return True
        try:
            found = ast.parse(b"(" + self._said(node) + b")", mode="eval").body
        except SyntaxError:
            return isinstance(node, ast.Slice | ast.Starred)
        return ast.dump(found) == ast.dump(node)


def _walk(node: ast.AST, *, is_in_text: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Return what is run when a file is used, and whether it stands in the braces of a text; types are not."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield node, is_in_text
    is_in_text = is_in_text or isinstance(node, ast.JoinedStr)
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "ctx"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, is_in_text=is_in_text)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
