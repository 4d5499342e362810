#!/usr/bin/env python3
"""Compare vocabularies of tokenizer.json with the library `tokenizers` (pip install tokenizers sentencepiece).

compare_tokenizers.py PROGRAM TEXT... [--lines N] [--model tokenizer.json]...

Trains tokenizers of each kind on the texts, makes N lines of many scripts, and compares the ids of each line, and
the text of these ids, with what PROGRAM (build/tests/encode_lines, a target of its own) writes for them. Exits with
1 if a line differs. With --cases FOLDER writes small tokenizers and lines with their ids for tests/data/tokenizers.
"""

import argparse
import functools
import io
import random
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

RANGES = {
    "latin": [(0x20, 0x7E), (0xA0, 0x24F), (0x1E00, 0x1EFF)],
    "cyrillic": [(0x400, 0x52F)],
    "greek": [(0x370, 0x3FF), (0x1F00, 0x1FFF)],
    "arabic": [(0x600, 0x6FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)],
    "hebrew": [(0x591, 0x5F4)],
    "devanagari": [(0x900, 0x97F)],
    "bengali": [(0x980, 0x9FE)],
    "thai": [(0xE01, 0xE5B)],
    "cjk": [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAD9), (0x20000, 0x200FF)],
    "kana": [(0x3040, 0x30FF), (0xFF61, 0xFF9F)],
    "hangul": [(0xAC00, 0xD7A3), (0x1100, 0x11FF), (0x3131, 0x318E)],
    "emoji": [(0x1F300, 0x1FAFF), (0x2600, 0x27BF), (0x1F1E6, 0x1F1FF), (0x1F3FB, 0x1F3FF)],
    "forms": [(0xFF01, 0xFF5E), (0x2460, 0x24FF), (0x2100, 0x218B), (0x3300, 0x33FF), (0x1D400, 0x1D7FF)],
    "marks": [(0x300, 0x36F), (0x20D0, 0x20F0), (0xFE00, 0xFE0F)],
    "punctuation": [(0x2000, 0x206F), (0x20A0, 0x20C0), (0x3000, 0x303F)],
    "controls": [(0x1, 0x9), (0xB, 0xC), (0xE, 0x1F), (0x7F, 0x9F), (0xFEFF, 0xFEFF), (0xFFFD, 0xFFFD)],
    "any": [(0x20, 0xD7FF), (0xE000, 0x1FFFF)],
}
SPACES = [" ", "  ", "   ", "\t", "\u00a0", "\u3000", "\u2003", "\u200b", " \u00a0 ", "\u2581", "\x0b", "\u0085"]
SEQUENCES = ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f", "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd",
             "a\u0308", "e\u0301\u0323", "\uff21\u0301", "\u0915\u094d\u0937", "\u1100\u1161\u11a8", "don't", "we'll",
             "I'm", "they've", "'s", " 's", "\ufb01", "\u0130", "\u03a3\u03c3\u03c2", "1\u00bd", "\u2460", "x\u00b2",
             "\u0600\u0661", "\r\rx", "\u00e9\r", "<unk>", "</s>", "<mask>", "<pad>", "<extra_id_3>", "Monday", "<0x41>",
             "\u0e33", "\uff76\uff9e", "\u01c4", "\u1e9e", "\u00df", "\u2026", "\u00ad", "\u0344", "\u0f71\u0f72"]


@functools.cache
def known(code):
    """Whether Unicode 14 has the character, and the tables of normal forms in `tokenizers`, which are older."""
    character = chr(code)
    category = unicodedata.category(character)
    if category in ("Cn", "Cs"):
        return False
    if category.startswith("M") and normalizers.StripAccents().normalize_str(character):
        return False
    return normalizers.NFKC().normalize_str(character) == unicodedata.normalize("NFKC", character)


def random_word(generate):
    if generate.random() < 0.15:
        return generate.choice(SEQUENCES)
    ranges = RANGES[generate.choice(list(RANGES))]
    first, last = generate.choice(ranges)
    text = ""
    for _ in range(generate.randint(1, 8)):
        code = generate.randint(first, last)
        if known(code):
            text += chr(code)
        if generate.random() < 0.05:
            text += chr(generate.randint(0x300, 0x36F))
    return text


def random_line(generate, sentences):
    kind = generate.random()
    if kind < 0.4:
        line = generate.choice(sentences)
        if generate.random() < 0.5:
            return line
        words = line.split(" ")
        for _ in range(generate.randint(1, 3)):
            words.insert(generate.randint(0, len(words)), random_word(generate))
    else:
        words = [random_word(generate) for _ in range(generate.randint(0, 12))]
    line = ""
    for word in words:
        line += word + (generate.choice(SPACES) if generate.random() < 0.3 else " " if generate.random() < 0.8 else "")
    return line if generate.random() < 0.3 else line.rstrip(" ")


def make_lines(count, sentences, seed):
    generate = random.Random(seed)
    lines = []
    while len(lines) < count:
        line = random_line(generate, sentences)
        # What ends a line for the program is no part of it.
        lines.append(line.replace("\n", " ").rstrip("\r"))
    return lines


SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def add_tokens(tokenizer):
    """Tokens with each of the properties."""
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=False)])
    tokenizer.add_tokens([
        AddedToken("<extra_id_3>", rstrip=True, normalized=False),
        AddedToken("Monday", single_word=True, normalized=True),
        AddedToken("don't", normalized=True, lstrip=True, rstrip=True),
    ])
    return tokenizer


def unigram(texts):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=8000, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return add_tokens(tokenizer)


def unigram_lower(texts):
    tokenizer = unigram(texts)
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Strip(left=True, right=True), normalizers.NFKD(), normalizers.StripAccents(),
        normalizers.Lowercase(), normalizers.NFC(), normalizers.Replace("``", '"')])
    return tokenizer


def spm(texts, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=model, minloglevel=2, hard_vocab_limit=False, **options)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto


def charsmap(proto):
    return normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)


def mbart(texts):
    """As transformers' MBartConverter makes it of a SentencePiece model."""
    proto = spm(texts, vocab_size=4000, model_type="unigram", character_coverage=0.9995)
    pieces = [(token, 0.0) for token in SPECIAL] + [(piece.piece, piece.score) for piece in proto.pieces[3:]]
    pieces += [("en_XX", 0.0), ("de_DE", 0.0), ("<mask>", 0.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3))
    tokenizer.normalizer = normalizers.Sequence([
        charsmap(proto), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "\u2581")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always", split=True)
    tokenizer.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in [*SPECIAL, "en_XX", "de_DE"]])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=True)])
    return tokenizer


def t5_new(texts):
    """As T5's with legacy=False: a sign only before the first word of a text."""
    proto = spm(texts, vocab_size=3000, model_type="unigram", byte_fallback=True)
    pieces = [(piece.piece, piece.score) for piece in proto.pieces]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([charsmap(proto), normalizers.Strip(left=True, right=False)])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([
        decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first", split=False)])
    return add_tokens(tokenizer)


def merges_of(proto):
    """The merges of a SentencePiece model of type BPE, as transformers' generate_merges."""
    scores = {piece.piece: piece.score for piece in proto.pieces if piece.type == 1}
    ids = {piece.piece: i for i, piece in enumerate(proto.pieces)}
    merges = []
    for piece, score in scores.items():
        local = [(piece[:i], piece[i:]) for i in range(1, len(piece)) if piece[:i] in ids and piece[i:] in ids]
        merges += [(left, right, score) for left, right in sorted(local, key=lambda pair: (ids[pair[0]], ids[pair[1]]))]
    return [(left, right) for left, right, _ in sorted(merges, key=lambda merge: -merge[2])]


def nllb(texts):
    """As transformers' NllbTokenizer of a SentencePiece model of type BPE."""
    proto = spm(texts, vocab_size=4000, model_type="bpe", character_coverage=0.9995)
    vocabulary = {token: i for i, token in enumerate(SPECIAL)}
    for piece in proto.pieces:
        vocabulary.setdefault(piece.piece, len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges_of(proto), unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([charsmap(proto), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always", split=True)
    tokenizer.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in [*SPECIAL, "eng_Latn"]])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=True)])
    return tokenizer


def byte_fallback(texts):
    """As Llama's."""
    proto = spm(texts, vocab_size=4000, model_type="bpe", byte_fallback=True, normalization_rule_name="identity")
    vocabulary = {piece.piece: i for i, piece in enumerate(proto.pieces)}
    tokenizer = Tokenizer(models.BPE(
        vocab=vocabulary, merges=merges_of(proto), unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return add_tokens(tokenizer)


def unknown_apart(texts):
    """BPE without byte fallback whose unknown characters are tokens by themselves."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")])
    tokenizer.normalizer = normalizers.NFD()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=3000, special_tokens=SPECIAL, limit_alphabet=60, show_progress=False))
    return add_tokens(tokenizer)


def byte_level(texts, add_prefix_space=False):
    """As BART's and GPT-2's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=4000, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    return add_tokens(tokenizer)


def byte_level_space(texts):
    return byte_level(texts, add_prefix_space=True)


def differences(program, path, tokenizer, lines):
    """Count the lines that differ, and show the first of them."""
    output = subprocess.run([program, path], input=("\n".join(lines) + "\n").encode(), capture_output=True)
    if output.returncode != 0:
        print(f"  {output.stderr.decode().strip()}")
        return len(lines)
    rows = output.stdout.decode().split("\n")
    end = tokenizer.token_to_id("</s>")
    wrong = 0
    for i, (line, encoding) in enumerate(zip(lines, tokenizer.encode_batch(lines, add_special_tokens=False))):
        ids = [int(word) for word in rows[2 * i].split()]
        text = tokenizer.decode([each for each in encoding.ids if each != end], skip_special_tokens=True)
        if ids == encoding.ids + [end] and rows[2 * i + 1] == text.replace("\n", "\1"):
            continue
        wrong += 1
        if wrong <= 3:
            print(f"  {line!r}\n    {encoding.ids} {text!r}\n    {ids[:-1]} {rows[2 * i + 1]!r}")
            print("   ", [(t, i) for t, i in zip(encoding.tokens, encoding.ids)])
    return wrong


def small_rules(proto_options):
    """A file of a few rules in place of SentencePiece's, whose table would be large."""
    rules = {"\u00a0": " ", "\t": " ", "\ufb01": "fi", "\u2460": "1", "\u2026": "...", "\uff21": "A", "\u0001": "",
             "e\u0301": "\u00e9", "\u095f": "\u092f\u093c"}
    file = tempfile.NamedTemporaryFile("w", suffix=".tsv", delete=False)
    with file:
        for source, target in rules.items():
            file.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
    return {**proto_options, "normalization_rule_tsv": file.name}


def write_cases(folder, sentences):
    """Small tokenizers, and what they make of some lines."""
    global spm
    large, sizes = spm, {"vocab_size": 450}
    spm = lambda texts, **options: large(texts, **small_rules({**options, **sizes}))  # noqa: E731
    trainers.BpeTrainer, bpe = lambda **o: bpe(**{**o, "vocab_size": 450}), trainers.BpeTrainer
    lines = [*SEQUENCES, "", " ", "  a  b  ", "a\u00a0\u00a0b", "Tom isn't here.", "\u0001x", " <mask> <mask>x", "xMonday Monday",
             "\u092f\u094d\u095f\u0307", "\u65e5\u672c\u8a9e \U0001f600", "a\tb\u3000c", "I don't  know", "A1b2\u00bd..."]
    lines = [line.replace("\r", "") for line in lines] + make_lines(60, sentences, 3)
    for make in (mbart, t5_new, nllb, byte_fallback, unknown_apart, byte_level):
        tokenizer = make(sentences[:3000])
        name = f"{folder}/{make.__name__}"
        tokenizer.save(f"{name}.json", pretty=False)
        tokenizer = Tokenizer.from_file(f"{name}.json")
        with open(f"{name}.cases", "w", encoding="utf-8", newline="\n") as cases:
            for line in lines:
                ids = tokenizer.encode(line, add_special_tokens=False).ids
                text = tokenizer.decode(ids, skip_special_tokens=True)
                cases.write(f"{line}\n{' '.join(map(str, ids))}\n{text}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", action="append", default=[], help="a tokenizer.json to compare, too")
    parser.add_argument("--keep", help="folder to which the trained files are written")
    parser.add_argument("--cases", help="folder to which small tokenizers and their cases are written")
    options = parser.parse_args()
    sentences = []
    for path in options.texts:
        sentences += [line for line in Path(path).read_text("utf-8").split("\n") if line]
    if options.cases:
        write_cases(options.cases, sentences)
        return 0
    lines = make_lines(options.lines, sentences, options.seed)
    training = sentences[:20_000] + lines[:200]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        tokenizers = [(path, Tokenizer.from_file(path)) for path in options.model]
        for make in (unigram, unigram_lower, mbart, t5_new, nllb, byte_fallback, unknown_apart, byte_level, byte_level_space):
            path = f"{folder}/{make.__name__}.json"
            make(training).save(path)
            tokenizers.append((path, Tokenizer.from_file(path)))
        for path, tokenizer in tokenizers:
            tokenizer.no_padding()
            tokenizer.no_truncation()
            wrong = differences(options.program, path, tokenizer, lines)
            print(f"{path}: {wrong} of {len(lines)} lines differ", flush=True)
            failed = failed or wrong > 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
