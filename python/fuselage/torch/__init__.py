"""Train graphs with PyTorch: Module executes any graph differentiably.

    module = fuselage.torch.Module(graph)
    scores = module({"source.word": source, "hyp.word": previous}, ["logits"])["logits"].values

The package torch is needed: `pip install fuselage[torch]`.
"""

import fuselage.torch.quantization  # noqa: F401  (registers its forms)
from fuselage.torch.forms import Form, register_form
from fuselage.torch.module import Module
from fuselage.torch.rows import Padded
from fuselage.torch.scan import linear_scan

__all__ = ["Form", "Module", "Padded", "linear_scan", "register_form"]
