"""Says, before weights are downloaded, whether a draft fits a target and the pair this machine.

Nothing is loaded: the report is computed from configs, tokenizers and sizes of files.
"""

from dataclasses import dataclass

from specviz.errors import ModelLoadError
from specviz.models.head_facts import HeadSource, head_findings
from specviz.models.model_facts import ModelSource
from specviz.models.pair_findings import (
    TRANSLATED,
    Finding,
    Level,
    PairRequest,
    pair_findings,
    refusal,
)
from specviz.models.pair_sizes import ModelNumbers, model_numbers, size_findings


@dataclass(frozen=True, slots=True)
class PairReport:
    """What is to be said of a pair; numbers are None of a model that could not be read."""

    target: str
    draft: str | None
    """None for a target that guesses by itself."""
    request: PairRequest
    findings: tuple[Finding, ...]
    target_numbers: ModelNumbers | None
    draft_numbers: ModelNumbers | None
    exit_layer: int | None = None
    """After which of its layers a target without a draft guesses."""
    head: str | None = None
    """The EAGLE-3 head that guesses in the place of a draft."""
    head_numbers: ModelNumbers | None = None

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against a race of this pair here."""
        return all(finding.level is not Level.REFUSE for finding in self.findings)

    @property
    def is_translated(self) -> bool:
        """Whether draft and target have different tokenizers."""
        return any(finding.text["id"] in TRANSLATED for finding in self.findings)


def report_pair(
    source: ModelSource, target: str, draft: str | None, request: PairRequest
) -> PairReport:
    """Look at a pair before it is downloaded. What cannot be read becomes a finding."""
    found, refused = [], []
    names = [name for name in (target, draft) if name is not None]
    for name in dict.fromkeys(names):
        try:
            found.append(source.read(name))
        except ModelLoadError as error:
            refused.append(refusal(error.text))
    facts = {each.name: each for each in found}
    numbers = {name: model_numbers(each, request) for name, each in facts.items()}
    findings = refused or [
        *pair_findings(facts[target], facts[draft] if draft else None, request),
        *size_findings([numbers[name] for name in names], request),
    ]
    draft_numbers = numbers.get(draft) if draft else None
    return PairReport(target, draft, request, tuple(findings), numbers.get(target), draft_numbers)


def report_head(
    source: ModelSource, heads: HeadSource, target: str, name: str, request: PairRequest
) -> PairReport:
    """Look at a target and an EAGLE-3 head before they are downloaded, as far as configs go.

    Whether the head agrees with the target only its weights can tell, which the head doctor asks.
    """
    try:
        model, head = source.read(target), heads.read_head(name)
    except ModelLoadError as error:
        return PairReport(target, None, request, (refusal(error.text),), None, None, head=name)
    numbers, own = model_numbers(model, request), head.numbers(request)
    findings = (
        *pair_findings(model, None, request),
        *head_findings(head, model),
        *size_findings((numbers, own), request),
    )
    return PairReport(target, None, request, findings, numbers, None, head=name, head_numbers=own)
