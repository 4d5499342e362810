"""The optimizer, its schedule, and averages of the weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fuselage.train.config import Optimization


def learning_rate(update: int, settings: Optimization) -> float:
    """Give the rate of an update, from 1: linear warm-up, the inverse square root, a linear end."""
    rate = settings.learning_rate * min(update / settings.warmup, (settings.warmup / update) ** 0.5)
    last = settings.cooldown * settings.updates
    left = settings.updates + 1 - update
    return rate * max(left, 0) / last if left < last and last > 0 else rate


class Optimizer:
    """AdamW, and exponential averages of the weights. State is by parameter name."""

    def __init__(self, module: nn.Module, settings: Optimization) -> None:
        self.settings = settings
        self.parameters = dict(module.named_parameters())
        self.update = 0
        self.adam = torch.optim.AdamW(
            self.parameters.values(),
            lr=settings.learning_rate,
            betas=(settings.beta1, settings.beta2),
            eps=1e-9,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self.averages = {n: p.detach().clone() for n, p in self.parameters.items()}

    def step(self) -> float:
        """Make an update of the gradients; gives their norm before it is limited."""
        self.update += 1
        norm = nn.utils.clip_grad_norm_(self.parameters.values(), self.settings.clip_norm)
        for group in self.adam.param_groups:
            group["lr"] = learning_rate(self.update, self.settings)
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        return float(norm)

    def average(self) -> None:
        """Take the weights of the last update into their averages."""
        # A start far from the average would stay in it for long.
        keep = min(self.settings.average, self.update / (self.update + 10))
        with torch.no_grad():
            torch._foreach_lerp_(
                list(self.averages.values()), list(self.parameters.values()), 1 - keep
            )

    def state(self) -> dict[str, Tensor]:
        """Give the averages by name: of weights, of gradients and of their squares."""
        tensors = {f"average/{name}": each for name, each in self.averages.items()}
        for name, parameter in self.parameters.items():
            state = self.adam.state.get(parameter, {})
            for key in ("exp_avg", "exp_avg_sq"):
                if key in state:
                    tensors[f"{key}/{name}"] = state[key]
        return tensors

    def load(self, tensors: dict[str, Tensor], update: int) -> None:
        """Go on from what state() gave after `update` updates."""
        self.update = update
        for name, parameter in self.parameters.items():
            self.averages[name].copy_(tensors[f"average/{name}"])
            if f"exp_avg/{name}" not in tensors:
                continue
            step = torch.tensor(float(update))
            if parameter.is_cuda:
                step = step.to(parameter.device)
            self.adam.state[parameter] = {
                "step": step,
                **{
                    key: tensors[f"{key}/{name}"].to(parameter.device, parameter.dtype).clone()
                    for key in ("exp_avg", "exp_avg_sq")
                },
            }
