"""Counts of shape and wording, and the places that break the rules of wording.

``python -m tests.style [--places question|relative|idiom] [FOLDER...]`` prints the counts of folders, by default those
of the five packages.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

PACKAGES: Final = ("engine", "protocol", "logs", "bots", "dealer")

_VALUES: Final = ("dataclass", "NamedTuple", "TypedDict", "Model", "_Frozen")
_QUESTION: Final = re.compile(r"(what|who|whom|whose|how|where|why|when|whether|which|for whom)\b", re.I)
# "what the log holds" instead of "the hands of the log".
_RELATIVE: Final = re.compile(
    r"\bwhat (a|an|the|it|they|we|his|its|their|each|every|others|people|players|bots|of|is|are|was|were|has|have|can"
    r"|may|must|makes|comes|came|becomes)\b",
    re.I,
)
# Phrases that are found in translated text and hardly ever in the code of native speakers.
_IDIOM: Final = re.compile(
    r"\b(any more|are none|is none|at last|as (it|they) (is|are|was|were)|become of|becomes of|became of|beforehand"
    r"|brings?|brought|come about|dearest|everybody|for ever|goe?s? on|going on|gone on|went on|in sight|lies? there"
    r"|looks? at once|looked at once|nobody|parted|patience|so long|somebody|stands?|stood|tells?|are told|is told"
    r"|thereby|therein|to and fro|whoever|whom|wishe?s?)\b",
    re.I,
)


class Place(NamedTuple):
    """One docstring that breaks a rule."""

    path: Path
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


@cache
def parse_module(path: Path) -> tuple[str, ast.Module]:
    """Text and syntax tree of a module."""
    text = path.read_text("utf-8")
    return text, ast.parse(text)


def modules(folders: Iterable[Path]) -> Iterator[tuple[Path, str, ast.Module]]:
    """Path, text and syntax tree of each module."""
    for folder in folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            yield path, *parse_module(path)


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring, those of attributes included."""
    # Statements only: walking the expressions, too, takes ten times as long.
    blocks = [tree.body]
    for block in blocks:
        for statement in block:
            if _is_docstring(statement):
                yield statement.lineno, statement.value.value
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                if inner := getattr(statement, name, None):
                    blocks.append(inner)


def places(folders: Iterable[Path]) -> Iterator[Place]:
    """Places that break a rule of wording; a docstring with several breaches has several places."""
    for path, _, tree in modules(folders):
        for line, text in docstrings(tree):
            first = text.strip().partition("\n")[0]
            if _QUESTION.match(first):
                yield Place(path, line, "question", first)
            for rule, pattern in (("relative", _RELATIVE), ("idiom", _IDIOM)):
                for match in pattern.finditer(text):
                    yield Place(path, line, rule, match[0])


def counts(folders: Iterable[Path]) -> Counter[str]:
    """Counts of modules, lines, comments, docstrings, statements and their parts."""
    counted: Counter[str] = Counter()
    for _, text, tree in modules(folders):
        counted["modules"] += 1
        counted["lines"] += text.count("\n")
        counted["comments"] += sum(
            token.type == tokenize.COMMENT and not re.match(r"# *(noqa|type:|pragma|fmt:|ruff)", token.string)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )
        counted["docstrings"] += sum(1 for _ in docstrings(tree))
        for node in ast.walk(tree):
            counted.update(_kinds(node))
    return counted


def _kinds(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.expr):
        yield "expression nodes"
    if isinstance(node, ast.stmt) and not (isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node)):
        yield "statements"
    if isinstance(node, ast.IfExp):
        yield "conditional expressions"
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield "comprehensions"
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
        yield "tuple assignments"
    if isinstance(node, ast.ClassDef):
        sources = [ast.unparse(source) for source in (*node.bases, *node.decorator_list)]
        if any(word in source for source in sources for word in _VALUES):
            yield "value classes"


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.style", description="Count shape and wording.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--places", choices=("question", "relative", "idiom"), help="print the places of a rule")
    arguments = parser.parse_args()
    folders = arguments.folders or [Path(package) for package in PACKAGES]
    for folder in folders:
        if not folder.exists():
            parser.error(f"{folder} does not exist")
    broken = list(places(folders))
    for place in broken:
        if place.rule == arguments.places:
            print(place)
    counted = counts(folders)
    statements = counted["statements"]
    for name in ("modules", "lines", "statements", "value classes", "docstrings"):
        print(f"{name:38}{counted[name]:>8,}")
    print(f"{'expression nodes a statement':38}{counted['expression nodes'] / statements:>8.1f}")
    for name in ("conditional expressions", "comprehensions", "tuple assignments"):
        print(f"{name + ' per 100 statements':38}{100 * counted[name] / statements:>8.1f}")
    print(f"{'comments per 100 lines':38}{100 * counted['comments'] / counted['lines']:>8.1f}")
    rules = Counter(place.rule for place in broken)
    print(f"{'docstrings that begin with a question':38}{rules['question']:>8,}")
    print(f"{'free relatives':38}{rules['relative']:>8,}")
    print(f"{'idioms of translation':38}{rules['idiom']:>8,}")


if __name__ == "__main__":
    main()
