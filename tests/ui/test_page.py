"""The page serves programs too, and needs neither torch nor another machine."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from serving import free_port, serving

from specviz.trace.files import from_json
from specviz.ui.assets import plotly_js, read_css


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    port = free_port()
    with serving("tests/fake_page.py", str(port), port=port) as address:
        client = Client(address, verbose=False)
        yield client
        client.close()


def test_importing_the_page_loads_no_model_code() -> None:
    code = (
        "import sys, specviz.ui.page; "
        "loaded = {'torch', 'transformers', 'tokenizers'} & set(sys.modules); "
        "sys.exit(str(loaded) if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_program_gets_the_whole_trace(client: Client) -> None:
    lanes = [{"method": "draft-model", "gamma": 4}]
    trace = from_json(client.predict("Hello", lanes, {}, 16, api_name="/race"))
    assert [len(lane.emitted) for lane in trace.lanes] == [16, 16]
    assert trace.request.prompt == "Hello"


def test_a_program_is_told_what_is_wrong(client: Client) -> None:
    lanes = [{"method": "draft-model", "gamma": 4}]
    with pytest.raises(AppError, match="max_new_tokens must be a whole number from 1 to 192"):
        client.predict("Hello", lanes, {}, 999, api_name="/race")
    with pytest.raises(AppError, match="2,000 are allowed"):
        client.predict("x" * 5_000, lanes, {}, 8, api_name="/race")


def test_only_the_race_is_offered_to_programs(client: Client) -> None:
    api = client.view_api(return_format="dict")
    assert isinstance(api, dict)
    assert list(api["named_endpoints"]) == ["/race"]
    assert api["unnamed_endpoints"] == {}


def test_styles_and_plotly_are_there_and_name_no_other_machine() -> None:
    assert "http" not in read_css()
    assert plotly_js().is_file()
