"""Muon for the matrices inside the blocks, AdamW for everything else."""
import torch

import model as M


def is_matrix(name):
    return name.startswith("layers.") and name.endswith(("_proj.weight", "_proj", "in_proj_qkv.weight", "in_proj_z.weight")) and "in_proj_a" not in name and "in_proj_b" not in name


def pieces(name, p):
    """View of a parameter as [n, rows, columns] matrices that are orthogonalised one by one."""
    if name.endswith("gate_up_proj"):
        return p.view(-1, M.EXPERT_DIM, M.HIDDEN)
    if name.endswith("q_proj.weight"):
        return p.view(-1, M.HEAD_DIM, M.HIDDEN)
    return p.view(-1, *p.shape[-2:])


def orthogonalise(g):
    """Five Newton-Schulz steps towards the nearest orthogonal matrix, bf16, batched."""
    x = g.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * (a @ a)) @ x
    return x.mT if tall else x


class Optimiser:
    def __init__(self, params, muon_lr, adam_lr, decay=0.05):
        self.muon = {n: p for n, p in params.items() if is_matrix(n)}
        self.momentum = {n: torch.zeros_like(p) for n, p in self.muon.items()}
        rest = [p for n, p in params.items() if n not in self.muon]
        self.adam = torch.optim.AdamW(rest, lr=adam_lr, betas=(0.9, 0.95), eps=1e-10, weight_decay=0.0, fused=rest[0].is_cuda)
        self.muon_lr, self.adam_lr, self.decay = muon_lr, adam_lr, decay
        self.groups = {}
        for n, p in self.muon.items():
            self.groups.setdefault(pieces(n, p).shape[1:], []).append(n)

    @torch.no_grad()
    def step(self, factor):
        """One update with both learning rates multiplied by `factor`; gradients are cleared."""
        for g in self.adam.param_groups:
            g["lr"] = self.adam_lr * factor
        self.adam.step()
        lr = self.muon_lr * factor
        for (rows, columns), names in self.groups.items():
            grads = [self.muon[n].grad for n in names]
            moments = [self.momentum[n] for n in names]
            torch._foreach_lerp_(moments, grads, 0.05)
            mixed = torch._foreach_lerp(grads, moments, 0.95)
            views = [pieces(n, m) for n, m in zip(names, mixed)]
            update = orthogonalise(torch.cat(views)) * (lr * max(1, rows / columns) ** 0.5)
            for n, u in zip(names, update.split([len(v) for v in views])):
                p = self.muon[n]
                p.mul_(1 - lr * self.decay).sub_(u.reshape(p.shape).to(p.dtype))
                p.grad = None
        self.adam.zero_grad(set_to_none=True)

    def state_dict(self):
        return {"momentum": self.momentum, "adam": self.adam.state_dict()}

    def load_state_dict(self, state):
        for n, m in state["momentum"].items():
            self.momentum[n].copy_(m)
        self.adam.load_state_dict(state["adam"])
