"""How much the program says: ``python -m tests.size [FOLDER]`` counts the packages of a checkout.

Statements exclude imports and docstrings, also those of attributes. A value class is a dataclass, named tuple, enum,
model or typed dictionary. A name has several meanings if more than one module defines a public class of that name.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

PACKAGES: Final = ("engine", "protocol", "logs", "bots", "dealer")
_VALUES: Final = ("dataclass", "NamedTuple", "Enum", "Flag", "BaseModel", "TypedDict")


def is_counted(node: ast.stmt) -> bool:
    is_docstring = (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return not (is_docstring or isinstance(node, ast.Import | ast.ImportFrom))


def is_value_class(node: ast.ClassDef) -> bool:
    return any(word in ast.unparse(one) for one in (*node.decorator_list, *node.bases) for word in _VALUES)


def main(root: Path) -> None:
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    places: dict[str, set[str]] = defaultdict(set)
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_text("utf-8")
            nodes = list(ast.walk(ast.parse(text)))
            statements = [node for node in nodes if isinstance(node, ast.stmt) and is_counted(node)]
            classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
            for name in (node.name for node in classes if not node.name.startswith("_")):
                places[name].add(f"{path.relative_to(root)}")
            totals[package] += Counter(
                statements=len(statements),
                functions=sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in statements),
                values=sum(map(is_value_class, classes)),
                lines=text.count("\n"),
                modules=1,
            )
    print(f"{'':10}{''.join(f'{package:>10}' for package in (*PACKAGES, 'all'))}")
    for measure in ("statements", "functions", "values", "lines", "modules"):
        counts = [totals[package][measure] for package in PACKAGES]
        print(f"{measure:10}{''.join(f'{count:>10,}' for count in (*counts, sum(counts)))}")
    several = {name: modules for name, modules in places.items() if len(modules) > 1}
    print(f"\n{len(several)} names with several meanings")
    for name, modules in sorted(several.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"  {name}: {', '.join(sorted(modules))}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
