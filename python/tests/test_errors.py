from __future__ import annotations

import importlib
import sys

import fuselage
import pytest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "/nowhere"}, "cannot open model /nowhere"),
        ({"beam_sizes": 4}, "unknown option '--beam-sizes'; did you mean '--beam-size'"),
        ({"beam_size": 0}, "beam-size"),
        ({"beam_size": "many"}, "beam-size"),
        ({"precision": "int9"}, "int9"),
        ({"device": "gpu"}, "gpu"),
        ({"output": "file"}, "--output is for the command line alone"),
        ({"quiet": True}, "--quiet is for the command line alone"),
        ({"help": True}, "--help is for the command line alone"),
        ({"n_best": 7, "beam_size": 4}, "4"),
        ({"skip_cost": True}, "beam-size 1"),
    ],
)
def test_wrong_options_are_errors_with_a_reason(options, message):
    with pytest.raises(fuselage.Error, match=message.replace("(", r"\(")):
        fuselage.Translator(**options)


@pytest.mark.parametrize("lines", [3, None, b"bytes", 1.5])
def test_what_is_no_text_is_a_type_error(translator, lines):
    with pytest.raises(TypeError):
        list(translator.translate(lines))


@pytest.mark.parametrize("lines", [["a", 3], [None]])
def test_a_list_of_something_else_is_a_type_error(translator, lines):
    with pytest.raises(TypeError):
        translator.translate(lines)
    with pytest.raises(TypeError, match="a line is a text, not"):
        list(translator.translate(iter(lines)))


def test_what_is_no_guide_is_a_type_error(translator):
    with pytest.raises(TypeError, match="a guide is a Guide, not str"):
        translator.translate("Hello.", "Ja")
    with pytest.raises(TypeError, match="a guide is a Guide, not str"):
        translator.translate(["Hello."], ["Ja"])


@pytest.mark.parametrize("name", ["ray", "spark"])
def test_a_missing_framework_is_an_error_that_names_the_extra(name, monkeypatch):
    for module in ("ray", "ray.data", "pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(fuselage.Error, match=rf"pip install 'fuselage\[{name}\]'"):
        importlib.import_module(f"fuselage.{name}")


def test_an_option_that_is_an_object_is_a_type_error():
    with pytest.raises(TypeError, match="option beam_size is a object"):
        fuselage.Translator(beam_size=object())


def test_another_number_of_guides_is_an_error(translator):
    with pytest.raises(fuselage.Error, match="2 lines, but 1 guides"):
        translator.translate(["a", "b"], [fuselage.Guide()])


def test_a_stream_with_another_number_of_guides_is_an_error(translator):
    results = translator.translate(iter(["Tom is my friend."] * 2), iter([fuselage.Guide()]))
    assert next(results) == "Tom ist mein Freund."
    with pytest.raises(fuselage.Error, match="1 guides, but more lines"):
        next(results)


def test_a_guide_needs_a_guided_translator():
    with pytest.raises(fuselage.Error, match="set the option guided"):
        fuselage.Translator(guided=False).translate("Hello.", fuselage.Guide(prefix="Ja"))


def test_an_error_in_a_line_comes_behind_the_lines_before(translator):
    strict = fuselage.Translator(strict=True, max_length=20)
    results = strict.translate(iter(["Tom is my friend.", "a " * 100, "Hello."]))
    assert next(results) == "Tom ist mein Freund."
    with pytest.raises(fuselage.Error, match="line 2"):
        next(results)


def test_commands_raise_the_programs_message(tmp_path):
    with pytest.raises(fuselage.Error, match="cannot open model /nowhere"):
        fuselage.convert("/nowhere", tmp_path / "model")
    with pytest.raises(fuselage.Error, match="int7"):
        fuselage.quantize(fuselage.find_bundled_model(), tmp_path / "model", "int7")
    with pytest.raises(fuselage.Error, match="/nowhere"):
        fuselage.info("/nowhere")
    with pytest.raises(fuselage.Error, match="/nowhere"):
        fuselage.check("/nowhere")
    with pytest.raises(fuselage.Error, match="/nowhere"):
        fuselage.lexicon("/nowhere", "/nowhere", tmp_path / "lex.s2t")
