"""Muon makes its steps orthogonal; the settings' learning rates reach every group."""

import torch

from specviz.distill.optimizers import Muon, build_optimizers, orthogonalise, set_lr_scale


def test_orthogonalise_brings_singular_values_near_one() -> None:
    generator = torch.Generator().manual_seed(0)
    for shape in ((3, 24, 40), (2, 40, 24), (1, 16, 16)):
        matrices = torch.randn(shape, generator=generator)
        values = torch.linalg.svdvals(orthogonalise(matrices))
        before = torch.linalg.svdvals(matrices)
        assert before.max() / before.min() > 2
        assert values.max() < 1.35
        assert values.median() > 0.65


def test_a_step_keeps_the_signs_of_the_singular_directions() -> None:
    weight = torch.nn.Parameter(torch.zeros(6, 4))
    weight.grad = torch.randn(6, 4, generator=torch.Generator().manual_seed(1))
    gradient = weight.grad.clone()
    Muon([weight], lr=0.1).step()
    assert float((weight.detach() * gradient).sum()) < 0


def test_layer_matrices_go_to_muon_and_the_rest_to_adamw() -> None:
    model = torch.nn.Module()
    model.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4)])
    holder = torch.nn.Module()
    holder.model, holder.embedding = model, torch.nn.Embedding(5, 4)
    muon, adamw = build_optimizers(holder, 0.02, 0.004, 0.0)
    assert [p.shape for p in muon.param_groups[0]["params"]] == [(4, 4)]
    assert {tuple(p.shape) for p in adamw.param_groups[0]["params"]} == {(4,), (5, 4)}
    for scale in (0.5, 0.25):
        set_lr_scale([muon, adamw], scale)
        assert muon.param_groups[0]["lr"] == 0.02 * scale
        assert adamw.param_groups[0]["lr"] == 0.004 * scale
