"""Says what a pair of the hub takes here before it is downloaded, and what a race may choose."""

from collections.abc import Callable
from pathlib import Path

from huggingface_hub.constants import HF_HUB_CACHE

from specviz.errors import ModelLoadError, SpecvizError
from specviz.models.chat import encode_turn, has_chat_template
from specviz.models.free_space import free_disk, free_memory
from specviz.models.head_facts import HeadSource, NamedHeads
from specviz.models.hub_catalogue import HubCatalogue, read_catalogue
from specviz.models.model_facts import ModelFacts, ModelSource, NamedSource
from specviz.models.mtp_report import own_findings, own_layers_problem
from specviz.models.pair_findings import PairRequest
from specviz.models.pair_report import report_head, report_pair
from specviz.ui.hub_offer import PairAsked, PairLook
from specviz.ui.pair_option import hub_option
from specviz.ui.strings import PageError


def look_at_pair(
    asked: PairAsked,
    device: str,
    dtype: str,
    quantize: str | None,
    loaded_bytes: Callable[[str], int],
    source: ModelSource | None = None,
    heads: HeadSource | None = None,
    catalogue: HubCatalogue | None = None,
) -> PairLook:
    """Look at a pair that is to run on a device in a dtype, or with smaller weights.

    Args:
        loaded_bytes: Memory that a model takes already, which is free for it then.
        source: Where the models are described; by default the hub.
        heads: Where heads are.

    Raises:
        PageError: One of the names is that of a folder here.
    """
    names = [name for name in (asked.target, asked.draft) if name is not None]
    for name in [*names, *([asked.head] if asked.head else [])]:
        if Path(name).exists():
            raise PageError("error.hub_id", found=repr(name))
    once = _ReadOnce(source or NamedSource())
    free = free_memory(device)
    request = PairRequest(
        prompt_tokens=_count_tokens(once, asked),
        max_new_tokens=asked.max_new_tokens,
        gamma=asked.gamma,
        dtype=dtype,
        quantize=quantize,
        free_memory_bytes=None if free is None else free + sum(map(loaded_bytes, names)),
        free_disk_bytes=free_disk(Path(HF_HUB_CACHE)),
        disk_folder=Path(HF_HUB_CACHE),
    )
    if asked.head is None:
        report = report_pair(once, asked.target, asked.draft, request)
    else:
        report = report_head(once, heads or NamedHeads(), asked.target, asked.head, request)
    findings = tuple((str(each.level), each.text) for each in report.findings)
    if not report.fits:
        return PairLook(findings, 0, None)
    download = sum(once.read(name).missing_bytes for name in names)
    download += 0 if report.head_numbers is None else report.head_numbers.missing_bytes
    exits = _exits(catalogue or read_catalogue(), asked)
    facts = once.read(asked.target)
    has_chat = has_chat_template(facts.tokenizer)
    has_mtp = own_layers_problem(facts, request) is None
    if has_mtp:
        findings += tuple((str(each.level), each.text) for each in own_findings(facts, request))
    option = hub_option(
        asked.target,
        asked.draft,
        exits,
        facts.num_parameters,
        has_chat=has_chat,
        has_mtp=has_mtp,
        is_translated=report.is_translated,
        head=asked.head,
    )
    return PairLook(findings, download, option)


class _ReadOnce:
    """A source that is asked once for each model."""

    def __init__(self, source: ModelSource) -> None:
        self._source = source
        self._found: dict[str, ModelFacts | ModelLoadError] = {}

    def read(self, name: str) -> ModelFacts:
        """Read what is known of a model, or fail as the first time."""
        if name not in self._found:
            try:
                self._found[name] = self._source.read(name)
            except ModelLoadError as error:
                self._found[name] = error
        found = self._found[name]
        if isinstance(found, ModelLoadError):
            raise found
        return found


def _count_tokens(source: ModelSource, asked: PairAsked) -> int:
    """Tokens of the prompt as the target reads it; 0 where it cannot be read, which the report says
    by itself."""
    try:
        tokenizer = source.read(asked.target).tokenizer
        if has_chat_template(tokenizer):
            return len(encode_turn(tokenizer, asked.prompt, asked.target))
    except SpecvizError:
        return 0
    return len(tokenizer(asked.prompt)["input_ids"])


def _exits(catalogue: HubCatalogue, asked: PairAsked) -> tuple[int, ...]:
    return next((x.exit_layers for x in catalogue.pairs if x.target == asked.target), ())
