"""A report on models of a hub, in this process and through the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

from hub_stand_in import HubStandIn

from specviz.models.loading import ModelPool
from specviz.models.model_facts import NamedSource
from specviz.models.pair_findings import PairRequest
from specviz.models.pair_report import report_pair

ROOT = Path(__file__).resolve().parents[2]


def test_a_report_downloads_no_weights_and_counts_what_is_missing(
    hub: HubStandIn, repository: Path
) -> None:
    request = PairRequest(max_new_tokens=20, free_memory_bytes=10**9, free_disk_bytes=10**9)
    made = report_pair(NamedSource(), "tiny/model", "tiny/gated", request)
    assert [x.text["problem"]["id"] for x in made.findings] == ["refusal.hub_gated"]
    made = report_pair(NamedSource(), "tiny/model", "tiny/breaks", request)
    assert made.fits
    assert made.target_numbers is not None
    # The index is here by then: it says what the weights hold.
    weights = repository.glob("*.safetensors")
    assert made.target_numbers.missing_bytes == sum(file.stat().st_size for file in weights)
    assert not any(request.path.endswith(".safetensors") for request in hub.requests)
    ModelPool().get("tiny/model")
    assert NamedSource().read("tiny/model").missing_bytes == 0


def test_the_command_line_finds_a_hub_by_its_environment(hub: HubStandIn, cache: Path) -> None:
    environment = {**os.environ, "HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0"}
    environment |= {"HF_HOME": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "specviz", "models", "--json", "--check", "tiny/model"]
    command += ["tiny/none", "--max-new-tokens", "20"]
    done = subprocess.run(
        command, env=environment, cwd=cache.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["target_numbers"]["missing_bytes"] > 10**5
