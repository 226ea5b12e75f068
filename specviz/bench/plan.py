"""What a report is asked for: prompts in groups, ways to draft, draft lengths, and how long."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from specviz.trace.values import LaneSpec, Method, Sampling

DEFAULT_GAMMAS = (2, 3, 4, 6, 8)
DEFAULT_MAX_NEW_TOKENS = 96
NUM_CHOOSING_PROMPTS = 2
JOINED_GROUPS = ("story", "code")
JOINED = " + ".join(JOINED_GROUPS)


@dataclass(frozen=True, slots=True)
class GalleryPrompt:
    """A prompt, and the group that it stands for."""

    group: str
    id: str
    """Begins with the group: `code_leap_year`."""
    text: str

    @property
    def label(self) -> str:
        """What a table calls it: `leap year`."""
        return self.id.removeprefix(f"{self.group}_").replace("_", " ")


def read_gallery(folder: Path) -> tuple[GalleryPrompt, ...]:
    """Read the prompts of a folder, one file a group: `1-story.json` holds the group "story"."""
    prompts: list[GalleryPrompt] = []
    for path in sorted(folder.glob("*.json")):
        group = path.stem.partition("-")[2] or path.stem
        examples = json.loads(path.read_text(encoding="utf-8"))["examples"]
        prompts += [GalleryPrompt(group, each["id"], each["prompt"]) for each in examples]
    return tuple(prompts)


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to draft for the target."""

    name: str
    method: Method
    draft: str | None = None
    exit_layer: int | None = None
    head: str | None = None

    def lane(self, target: str, gamma: int) -> LaneSpec:
        """Return the lane that drafts this way."""
        name = f"{self.name} γ={gamma}"
        return LaneSpec(
            name, self.method, target, self.draft, gamma, self.exit_layer, head=self.head
        )


@dataclass(frozen=True, slots=True)
class ReportPlan:
    """What to measure, and how long."""

    target: str
    contenders: tuple[Contender, ...]
    prompts: tuple[GalleryPrompt, ...]
    gammas: tuple[int, ...] = DEFAULT_GAMMAS
    sampling: Sampling = field(default_factory=Sampling)
    max_new_tokens: int = DEFAULT_MAX_NEW_TOKENS
    num_repeats: int = 1
    """Fresh races of each prompt; the medians of its races are the prompt's numbers."""

    @property
    def sections(self) -> dict[str, tuple[str, ...]]:
        """The groups in each part of the report: story and code together, then each by itself."""
        groups = tuple(dict.fromkeys(prompt.group for prompt in self.prompts))
        joined = {JOINED: JOINED_GROUPS} if set(JOINED_GROUPS) <= set(groups) else {}
        return joined | {group: (group,) for group in groups}

    @property
    def middle_gamma(self) -> int:
        """The draft length at which alpha, c and v are measured first."""
        return sorted(self.gammas)[len(self.gammas) // 2]

    @property
    def for_choosing(self) -> "ReportPlan":
        """Return the short plan by which draft lengths are chosen."""
        first = tuple(
            prompt
            for group in dict.fromkeys(prompt.group for prompt in self.prompts)
            for prompt in [x for x in self.prompts if x.group == group][:NUM_CHOOSING_PROMPTS]
        )
        half = (self.max_new_tokens + 1) // 2
        return replace(self, prompts=first, max_new_tokens=half, num_repeats=1)

    @property
    def for_measuring(self) -> "ReportPlan":
        """Return the plan of what is reported, with another seed than that of the choice."""
        return replace(self, sampling=replace(self.sampling, seed=self.sampling.seed + 1))


Lengths = dict[tuple[str, Contender], tuple[int, ...]]
"""Draft lengths to run, by section and contender."""
