"""Serves the app with a hub on this machine: `python tests/hub_page.py PORT HUB CACHE [OPTION …]`.

Downloads come in small steps, so that a test sees what happens in between.
"""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

if __name__ == "__main__":
    port, hub, cache, *options = sys.argv[1:]
    os.environ["HF_ENDPOINT"] = hub
    os.environ["HF_HUB_CACHE"] = cache
    os.environ["HF_TOKEN_PATH"] = str(Path(cache) / "token")
    os.environ["HF_HUB_DISABLE_XET"] = "1"
    os.environ.pop("HF_TOKEN", None)
    os.environ.pop("HF_HUB_OFFLINE", None)

    import app

    app.keep_offline(allow_hub=True)

    from huggingface_hub import constants, file_download

    constants.DOWNLOAD_CHUNK_SIZE = 4096
    constants.HF_HUB_DOWNLOAD_TIMEOUT = 2.0
    # Between two tries the library sleeps for a second, and does nothing else with this module.
    file_download.time = SimpleNamespace(sleep=lambda seconds: None)

    from specviz.models import hub_files

    hub_files.ANSWER_SECONDS = 2.0
    app.main(["--port", port, *options])
