"""Fast machine translation on CPUs and GPUs: optimized computation graphs.

>>> import fuselage
>>> translator = fuselage.Translator()
>>> translator.translate("Tom is my friend.")
'Tom ist mein Freund.'
"""

from fuselage import graph
from fuselage._core import Error, Hypothesis, InternalError, Score, Translation, find_bundled_model
from fuselage._core import version as __version__
from fuselage.commands import check, convert, info, lexicon, quantize
from fuselage.scorer import Scorer
from fuselage.translator import Guide, Translator

__all__ = [
    "Error",
    "Guide",
    "Hypothesis",
    "InternalError",
    "Score",
    "Scorer",
    "Translation",
    "Translator",
    "__version__",
    "check",
    "convert",
    "find_bundled_model",
    "graph",
    "info",
    "lexicon",
    "quantize",
]
