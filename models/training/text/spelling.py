"""German of 1850 to 1920 in the spelling of today."""

from __future__ import annotations

import re
from collections import Counter

from cleaning import WORD

_NEW_SPELLINGS = (
    (r"th", "t"),
    (r"Th", "T"),
    (r"ß", "ss"),
    (r"ir(?=en|t|te|ten)", "ier"),
    (r"ie(?=b)", "i"),
    (r"ey", "ei"),
    (r"^Ae", "Ä"),
    (r"^Oe", "Ö"),
    (r"^Ue", "Ü"),
    (r"dt", "t"),
    (r"niß", "nis"),
    (r"aa", "a"),
)
# The silent h of Theil, Thür, Rath, Werth and others, for words that the counts do not have.
_SILENT_H = re.compile(
    r"(?<=[Tt])h(?=eil|ür|u[mnr]|al\b|ier|at\b|rän)"
    r"|(?<=[Rr]at|[Mm]ut|[Nn]ot)h(?=$|e|s|ig|ung|los|voll)"
    r"|(?<=[Ww]ert|[Ww]irt|[Ff]lut|[Gg]lut|.lüt)h"
)


def modern(text: str, forms: Counter[str]) -> str:
    """Spell words anew where a new form is more than three times as frequent as the old one."""

    def new_form(match: re.Match[str]) -> str:
        word = match.group()
        candidates = [re.sub(old, new, word) for old, new in _NEW_SPELLINGS]
        candidates += [re.sub("th", "t", form) for form in candidates]
        best = max(candidates, key=forms.__getitem__)
        if forms[best] > 3 * forms[word]:
            return best
        return word if forms[word] else _SILENT_H.sub("", word)

    return WORD.sub(new_form, text)
