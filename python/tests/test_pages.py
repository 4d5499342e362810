"""Texts and documents of HTML."""

import fuselage
import pytest


@pytest.fixture(scope="module")
def translator():
    return fuselage.Translator(alignment=True)


def test_text(translator):
    tom = translator.translate("Tom is my friend.")
    where = translator.translate("Where is the station?")
    text = "Tom is my friend.  Where is the sta\u00adtion?\r\n\n\t1.5\n"
    assert translator.translate_text(text) == f"{tom}  {where}\r\n\n\t1.5\n"
    assert translator.translate_text("") == ""


def test_language(translator):
    text = "Mr. Smith is my friend."
    assert translator.translate_text(text) == translator.translate(text)
    assert translator.translate_text(text, language="ja") != translator.translate(text)


def test_html(translator):
    html = '<p class="x">My <b>friend</b> is here.<!-- c --></p><code>a&b</code>'
    translation = translator.translate_html(html)
    assert "<b>Freund</b>" in translation
    assert translation.startswith('<p class="x">')
    assert translation.endswith("<!-- c --></p><code>a&b</code>")


def test_through(translator):
    lines = translator.translate_text("Tom is my friend.")
    assert translator.translate_text(
        "Tom is my friend.", through=translator
    ) == translator.translate(lines)
    assert "</b>" in translator.translate_html("<b>Tom</b> is here.", through=translator)


def test_errors(translator):
    with pytest.raises(TypeError, match="a text is a text, not bytes"):
        translator.translate_text(b"Tom")
    with pytest.raises(TypeError, match="through is a Translator, not str"):
        translator.translate_html("Tom", through="model")
    with pytest.raises(fuselage.Error, match="surrogate"):
        translator.translate_text("caf\udce9")
