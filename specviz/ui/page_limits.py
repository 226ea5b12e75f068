"""What one visitor may ask for, in one table: on one's own machine, and where strangers are served.

Every limit holds on the server, whatever a browser sends. Where this table names none, those of
`specviz.trace.limits` hold.
"""

from dataclasses import dataclass, fields, replace

from specviz.trace.limits import MAX_GAMMA, MAX_LANES


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The limits of a page; the values here are those of the profile `local`."""

    max_prompt_chars: int = 8_000
    max_prompt_tokens: int | None = None
    """None: as many as the target reads."""
    max_new_tokens: int = 512
    max_gamma: int = MAX_GAMMA
    max_lanes: int = MAX_LANES
    max_temperature: float = 2.0
    max_top_k: int = 1_000
    max_seed: int = 2**31 - 1
    """What every browser's number fields take."""
    max_lane_name_chars: int = 60
    deadline_seconds: float = 300.0
    pause_seconds: float = 600.0
    """How long a race may be held between its rounds, in all, before it is ended."""
    queued_pause_seconds: float = 30.0
    """How long a race may be held while others wait, in all, before it is run to its end."""
    max_trace_chars: int = 8_000_000
    """Longest trace file that the page opens."""
    max_trace_guesses: int = 64
    """Most guesses that a round of such a file may hold."""
    max_export_bytes: int = 4_000_000
    """Largest page of a race in one file that is sent to a browser."""
    max_body_bytes: int = 200_000
    """Longest body that starts a race: prompt, lanes and settings. Files are not taken at all; what
    a page opens or asks for is read up to twice the letters of a trace or sweep."""
    queue_size: int = 32
    """How many races may wait; each that does keeps one of Gradio's 40 threads."""
    max_visitor_races: int = 2
    """Races of one open page, or of one program: one that runs and one that waits."""
    max_visitor_starts: int | None = None
    """How many of them it may start within a minute; None: as many as it likes."""
    max_address_races: int = 32
    """Races that run or wait for all pages and programs of one address. A school has one."""
    max_address_starts: int | None = None
    """How many they may start within a minute, together."""
    max_tasks: int = 4
    """How many pages may have long work done at once, such as a sweep."""
    max_visitor_tasks: int = 4
    """How many of these may be one address's."""
    max_proof_samples: int = 5_000
    """Most continuations of one proof."""
    allows_fits: bool = True
    """Whether visitors may fit drafts, which are written to this machine's disk."""
    max_fit_minutes: float = 30.0
    max_fit_prompts: int = 500
    max_sweep_lanes: int = 9
    """Ways to draft in one sweep."""
    max_sweep_minutes: float = 60.0
    max_sweep_prompts: int = 500
    max_sweep_chars: int = 8_000_000
    """Longest file of prompts, or of a saved sweep, that the page opens."""
    takes_own_prompts: bool = True
    """Whether a sweep may race other prompts than the gallery's."""
    max_downloads: int = 4
    """How many visitors may wait for downloads at once; each keeps one of those threads too."""


LOCAL = PageLimits()
PUBLIC = replace(
    LOCAL,
    max_prompt_chars=2_000,
    max_prompt_tokens=512,
    max_new_tokens=192,
    deadline_seconds=20.0,
    max_trace_chars=4_000_000,
    max_export_bytes=2_000_000,
    max_visitor_starts=6,
    max_address_races=24,
    max_address_starts=120,
    max_visitor_tasks=1,
    max_proof_samples=2_000,
    allows_fits=False,
    max_sweep_minutes=2.0,
    max_sweep_chars=4_000_000,
    takes_own_prompts=False,
    max_downloads=2,
)
"""Where strangers share the device, and what one of them fits would be lost with the next start."""
PUBLIC_GPU_SECONDS = 60.0
"""How long a race may take on a graphics card, whose models are larger; `deadline_seconds` is for
processors."""


def limits_of(*, is_public: bool, device: str) -> PageLimits:
    """The limits of a page that runs its models on this device."""
    if not is_public:
        return LOCAL
    if device.startswith(("cuda", "mps")):
        return replace(PUBLIC, deadline_seconds=PUBLIC_GPU_SECONDS)
    return PUBLIC


def limits_table(device: str) -> str:
    """Write both profiles side by side, a limit a line; `app.py --limits` prints it."""
    local, public = (limits_of(is_public=each, device=device) for each in (False, True))
    names = [field.name for field in fields(PageLimits)]
    width = max(map(len, names))
    lines = [f"{'':{width}}  {'local':>14}  {'public':>14}"]
    for name in names:
        shown = [_shown(getattr(limits, name)) for limits in (local, public)]
        lines.append(f"{name:{width}}  {shown[0]:>14}  {shown[1]:>14}")
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    if value is None:
        return "no limit"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}"
