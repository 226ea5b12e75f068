"""Gathers the long work that the page offers beside races, by its kind."""

from specviz.bench.plan import read_gallery
from specviz.host.cost_work import make_cost_reader
from specviz.host.fit_work import LoadTarget, make_fit_reader
from specviz.host.head_work import LoadHead, make_doctor_reader
from specviz.host.proofs import ProofParts, make_read_proof
from specviz.host.sweep_costs import model_sizes
from specviz.host.sweep_work import make_sweep_work
from specviz.ui.assets import PROMPTS_FOLDER
from specviz.ui.options import PageOptions
from specviz.ui.page_tasks import ReadWork


def make_page_work(
    parts: ProofParts,
    options: PageOptions,
    load_target: LoadTarget,
    load_head: LoadHead,
    dtype: str,
    quantize: str | None,
) -> dict[str, ReadWork]:
    """Make what the page offers beside races, for models that are held so."""
    sweeps = make_sweep_work(
        parts.start_race,
        options,
        read_gallery(PROMPTS_FOLDER),
        parts.fetch_models,
        lambda names: model_sizes(names, dtype, quantize),
    )
    return sweeps | {
        "proof": make_read_proof(parts, options),
        "fit": make_fit_reader(options, load_target),
        "costs": make_cost_reader(options, load_target),
        "doctor": make_doctor_reader(options, load_target, load_head),
    }
