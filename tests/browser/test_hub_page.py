"""Pairs of the hub on the page: each answer of a hub ends as designed, and nothing half-loaded
remains."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from serving import free_port, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., Page]
STATUS = "#sv-race-status"
TARGET, DRAFT = "HuggingFaceTB/SmolLM2-1.7B", "HuggingFaceTB/SmolLM2-135M"
"""A pair of the catalogue, by whose names the hub of the tests serves tiny models."""
SHIPPED = "specviz-target"
TEMPLATE = "{% for turn in messages %}<{{ turn.content }}>{% endfor %}"


@dataclass
class Served:
    """A page, the hub that it asks, and where its downloads lie."""

    address: str
    hub: "HubStandIn"  # noqa: F821
    cache: Path

    def check_nothing_is_half_loaded(self) -> None:
        """A download ends a moment after its visitor has left; of its last file nothing remains."""
        ends_at = time.monotonic() + 20
        while half := list(self.cache.rglob("*.incomplete")):
            assert time.monotonic() < ends_at, half
            time.sleep(0.05)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the app as `--allow-hub` does, before a hub with tiny models and every fault."""
    from hub_stand_in import Fault, serving_hub

    folder, cache = _repository(tmp_path_factory.mktemp("model")), tmp_path_factory.mktemp("cache")
    port = free_port()
    with serving_hub() as hub:
        for name in (TARGET, DRAFT):
            hub.add(name, folder)
        for fault in Fault:
            hub.add(f"tiny/{fault}", folder, fault)
        arguments = ("tests/hub_page.py", str(port), hub.address, str(cache), "--allow-hub")
        with serving(*arguments, port=port) as address:
            yield Served(address, hub, cache)


def _repository(folder: Path) -> Path:
    import torch
    from tiny_models import byte_tokenizer, random_model
    from transformers import LlamaConfig

    config = LlamaConfig(
        vocab_size=320,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=1024,
    )
    random_model(config, dtype=torch.float32).save_pretrained(folder, max_shard_size="60KB")
    tokenizer = byte_tokenizer()
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return folder


def _open_hub(page: Page) -> Locator:
    panel = page.locator(".sv-hub")
    if panel.get_attribute("open") is None:
        panel.locator("summary").click()
    return panel


def _look_at(page: Page, target: str, draft: str = "tiny/none") -> Locator:
    panel = _open_hub(page)
    panel.get_by_role("combobox", name="Pair").select_option("own")
    panel.get_by_label("Target (owner/name)").fill(target)
    panel.get_by_label("Draft (owner/name").fill(draft)
    panel.get_by_role("button", name="See what it takes").click()
    return panel


def _press(panel: Locator) -> None:
    panel.get_by_role("button", name=re.compile("Download and race|Race this pair")).click()


def _state(page: Page, state: str) -> None:
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="{state}"]')


def _short(page: Page) -> None:
    tokens = page.locator("#sv-tokens input[type=number]")
    tokens.fill("16")
    tokens.press("Tab")


def _target(page: Page) -> Locator:
    return page.locator("#sv-lanes").get_by_role("combobox", name="Target")


def _race_the_shipped_pair(page: Page) -> None:
    """What was loaded before still is: its race begins without a model being loaded."""
    expect(_target(page)).to_have_value(SHIPPED)
    page.click("#sv-race")
    expect(page.locator("#sv-race-stage .sv-lane").first).to_contain_text(SHIPPED)
    _state(page, "finished")


def test_every_answer_of_the_hub_ends_as_designed(open_page: OpenPage, served: Served) -> None:
    from hub_stand_in import Fault

    page = open_page(served.address)
    expect(page.locator("#sv-chat")).to_be_hidden()
    _short(page)
    said = page.locator(".sv-hub-said")
    findings = page.locator(".sv-hub-findings")
    status = page.locator(f"{STATUS} .sv-status-text")

    # Found: looked at, downloaded, raced, and on the menu beside the shipped target.
    panel = _open_hub(page)
    expect(panel).to_contain_text("Apache-2.0")
    assert served.hub.requests == [], "nothing is asked before a pair is looked at"
    panel.get_by_role("button", name="See what it takes").click()
    expect(findings).to_contain_text("GB of memory are free")
    expect(findings.locator(".is-ok").first).to_be_visible()
    taken = [x.path for x in served.hub.requests if x.method == "GET"]
    assert not any(path.endswith(".safetensors") for path in taken), "a look costs no weights"
    _press(panel)
    expect(page.locator("#sv-race-stage .sv-lane").first).to_contain_text("SmolLM2-1.7B")
    _state(page, "finished")
    expect(page.locator(".sv-target-about")).to_contain_text("Nothing is known here about what")
    expect(page.locator(".sv-hint")).to_contain_text("were made for the models that ship")
    expect(page.locator("#sv-chat")).to_be_visible()
    _target(page).select_option(SHIPPED)
    expect(page.locator("#sv-chat")).to_be_hidden()
    _race_the_shipped_pair(page)

    # Missing, gated, slow to answer: one sentence, no button that races.
    for name, sentence in {
        "tiny/nothing": "the hub has no such model",
        "tiny/gated": "it is gated; ask for access at",
        "tiny/slow": "the hub took too long to answer",
    }.items():
        panel = _look_at(page, name)
        expect(findings).to_contain_text(sentence)
        expect(panel).to_contain_text("So it cannot be raced here")
        expect(page.locator(".sv-hub-race")).to_be_hidden()
    _look_at(page, "../etc")
    expect(said).to_contain_text("is not the id of a hub model")

    # Slow in the middle, then cancelled: bytes are shown, and the pair before is chosen again.
    trickle = served.hub.repositories["tiny/trickles"]
    panel = _look_at(page, "tiny/trickles")
    expect(page.locator(".sv-hub-race")).to_contain_text("GB)")
    _press(panel)
    expect(status).to_contain_text(re.compile(r"Downloading tiny/trickles.*: [\d.]+ of [\d.]+ GB"))
    expect(page.locator(f"{STATUS} .sv-badge").first).to_have_text("downloading")
    page.get_by_role("button", name="Cancel the download").click()
    expect(status).to_contain_text("The download was cancelled")
    expect(said).to_contain_text(f"{SHIPPED} is chosen again")
    trickle.fault = Fault.NONE
    _race_the_shipped_pair(page)
    served.check_nothing_is_half_loaded()

    # Broken in the middle: one sentence, and the next press goes on with what lacks.
    broken = served.hub.repositories["tiny/breaks"]
    panel = _look_at(page, "tiny/breaks")
    _press(panel)
    expect(status).to_contain_text("its download broke off")
    expect(said).to_contain_text(f"{SHIPPED} is chosen again")
    served.check_nothing_is_half_loaded()
    broken.num_breaks = 0
    served.hub.requests.clear()
    _press(panel)
    _state(page, "finished")
    asked = [x.path for x in served.hub.downloads("config.json")]
    assert not any("tiny/breaks" in path for path in asked), "complete files were kept"

    # Out of reach: one sentence, and what is here still races.
    served.hub.leave()
    _look_at(page, "tiny/none")
    expect(findings).to_contain_text("the hub cannot be reached")
    _target(page).select_option(SHIPPED)
    _race_the_shipped_pair(page)
