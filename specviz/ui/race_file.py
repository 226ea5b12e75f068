"""Writes a race as one HTML file that shows it as the page does, from a disk and without a network.

The file holds the page's styles and, deflated, its own scripts (linked into one), the texts of all
languages and the packets of the race: `assets/js/export/loader.js` unpacks them and `main.js` there
draws them. Figures and verdicts are those that were computed here. Nothing that somebody wrote
stands in the file as it is, and its own policy lets a browser run these scripts alone and ask
nothing of any address.
"""

import json
from base64 import b64encode
from hashlib import sha256
from html import escape

from specviz.trace.values import Trace
from specviz.ui.assets import CSS_FOLDER, JS_FOLDER, read_early_script
from specviz.ui.linker import link_modules
from specviz.ui.page_limits import PageLimits
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.recorded import check_showable, packets_of
from specviz.ui.strings import languages, read_table
from specviz.ui.wire import pack

ENTRY = JS_FOLDER / "export" / "main.js"
LOADER = JS_FOLDER / "export" / "loader.js"
FRAME = CSS_FOLDER / "export" / "frame.css"
MAX_FIGURES = 60
"""How often the figures of all lanes stand in a file, at most; those of the end always do."""
ABSENT = frozenset({"4-compare", "5-controls", "7-welcome", "8-gallery", "8-learn", "9-predict"})
"""Style sheets of parts that no file has."""
SCENE = ("status", "figures", "stage", "clock", "charts")


def race_html(
    trace: Trace, guide: PromptGuide | None = None, limits: PageLimits | None = None
) -> str:
    """Return the file of a finished race.

    Raises:
        RequestError: The page cannot show this race; the sentence says why.
    """
    check_showable(trace, (limits or PageLimits()).max_trace_guesses)
    packets = list(packets_of(trace, guide, MAX_FIGURES))
    strings = {language: read_table(language) for language in languages()}
    script = link_modules(ENTRY, JS_FOLDER)
    content = {"script": script, "strings": strings, "packets": packets}
    written = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return _document(pack(written), script)


def _document(data: str, script: str) -> str:
    """Write the page around what `export/loader.js` unpacks, `script` among it."""
    early, loader = read_early_script(languages()), LOADER.read_text(encoding="utf-8")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_digest, (early, loader, script)))}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    scene = "".join(_part(f"race-{name}", name) for name in SCENE)
    waiting = "".join(
        f'<p lang="{each}">{escape(read_table(each)["file.waiting"])}</p>' for each in languages()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>specviz</title>
<style>
{_styles()}</style>
<script>{early}</script>
</head>
<body>
<main class="sv-file">
{_part("header", "header")}
<div class="sv-view sv-about-view"></div>
<div class="sv-view sv-tabs-view"></div>
<div class="sv-view sv-file-waiting" id="sv-file-waiting">{waiting}</div>
<div id="sv-tab-race" hidden><div class="sv-scene">{scene}</div></div>
<div id="sv-tab-rounds" hidden>{_part("rounds", "rounds")}</div>
</main>
<script type="text/plain" id="sv-file-data">{data}</script>
<script>{loader}</script>
</body>
</html>
"""


def _part(id_: str, name: str) -> str:
    view = f'<div class="sv-view sv-{name}-view"></div>'
    return f'<div id="sv-{id_}" class="sv-{name}-part">{view}</div>'


def _styles() -> str:
    sheets = [each for each in sorted(CSS_FOLDER.glob("*.css")) if each.stem not in ABSENT]
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in (*sheets, FRAME))


def _digest(script: str) -> str:
    """The hash by which a policy knows a script: CSP Level 3, section 6.7.3.3."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode('ascii')}'"
