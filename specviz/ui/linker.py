"""Links the page's scripts into one classic script, for pages that are opened from a disk.

A browser loads no ES module from a file. The page's own scripts use a small part of what modules
can do, and that part alone is linked: static imports by relative path, `import { a, b as c } from
'./file.js';`, and exports of functions, classes and constants where they are declared. Each module
becomes a function that gives its exports, and runs once, after those that it imports.
"""

import re
from collections.abc import Iterator
from pathlib import Path

IMPORT = re.compile(r"^import \{([^}]*)\} from '(\.\.?/[^']+\.js)';$", re.MULTILINE)
EXPORT = re.compile(
    r"^export ((?:async )?function\*?|class|const) ([A-Za-z_$][\w$]*)", re.MULTILINE
)
UNKNOWN = (
    (re.compile(r"^(?:import|export)\b.*$", re.MULTILINE), "an import or export of another form"),
    (re.compile(r"\bimport\.meta\b"), "import.meta"),
    (re.compile(r"^(?!\s*(?:\*|/\*|//)).*\bimport\(", re.MULTILINE), "an import while it runs"),
    (
        re.compile(r"^(?:(?:const|let) [^=\n]+= )?await\b", re.MULTILINE),
        "await outside of functions",
    ),
    (re.compile(r"</script|<!--", re.IGNORECASE), "what would end a script in a page"),
    (re.compile(r"\$linked\b"), "a name of the linker's own, $linked"),
)
"""What stands in no module that can be linked, once its known imports and exports are taken out."""


def link_modules(entry: Path, root: Path) -> str:
    """Return one script that runs the module `entry` and all that it imports.

    Args:
        entry: A module; it exports nothing that anybody would read.
        root: The folder that all modules lie in; they are named by their paths below it.

    Raises:
        ValueError: A module is missing, imports what another one does not export, imports itself
            by way of others, or uses what is not linked.
    """
    linker = _Linker(root.resolve())
    linker.add(entry.resolve(), ())
    modules = "\n".join(linker.written)
    return f"(() => {{\n'use strict';\nconst $linked = {{}};\n{modules}\n}})();\n"


class _Linker:
    """Writes modules in the order in which they run."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._exports: dict[Path, list[str]] = {}
        self.written: list[str] = []

    def add(self, path: Path, importers: tuple[Path, ...]) -> None:
        """Write what a module imports, and then the module, unless it is written already."""
        if path in importers:
            chain = [*importers[importers.index(path) :], path]
            raise ValueError(
                f"modules import one another in a circle: {' → '.join(map(self._name, chain))}"
            )
        if path in self._exports:
            return
        if not path.is_file():
            importer = self._name(importers[-1]) if importers else "the entry"
            raise ValueError(f"{importer} names {self._name(path)}, which is no file")
        source = path.read_text(encoding="utf-8")
        for _, imported in _imports(source, path):
            self.add(imported, (*importers, path))
        self._exports[path] = [found[2] for found in EXPORT.finditer(source)]
        self.written.append(self._write(source, path))

    def _write(self, source: str, path: Path) -> str:
        name = self._name(path)

        def bind(found: re.Match[str]) -> str:
            names, origin = found[1], (path.parent / found[2]).resolve()
            for wanted, _ in _names(names):
                if wanted not in self._exports[origin]:
                    raise ValueError(
                        f"{name} imports {wanted}, which {self._name(origin)} does not export"
                    )
            pairs = ", ".join(f"{wanted}: {own}" for wanted, own in _names(names))
            return f"const {{ {pairs} }} = $linked['{self._name(origin)}'];"

        body = EXPORT.sub(r"\1 \2", IMPORT.sub("", source))
        for pattern, what in UNKNOWN:
            if (found := pattern.search(body)) is not None:
                line = found[0].strip()[:60]
                raise ValueError(f"{name} cannot be linked: it uses {what} ({line!r})")
        body = EXPORT.sub(r"\1 \2", IMPORT.sub(bind, source))
        exports = ", ".join(self._exports[path])
        return f"$linked['{name}'] = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"

    def _name(self, path: Path) -> str:
        return (
            path.relative_to(self._root).as_posix()
            if path.is_relative_to(self._root)
            else str(path)
        )


def _imports(source: str, path: Path) -> Iterator[tuple[str, Path]]:
    for found in IMPORT.finditer(source):
        yield found[1], (path.parent / found[2]).resolve()


def _names(clause: str) -> list[tuple[str, str]]:
    """Give (name there, name here) of each import: `a, b as c` is (a, a), (b, c)."""
    parts = [part.split() for part in clause.split(",") if part.strip()]
    return [(words[0], words[-1]) for words in parts]
