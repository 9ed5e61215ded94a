"""Valid pairs of files as annotation tools and shared tasks write them; see `corpora`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from xml.sax.saxutils import escape, quoteattr

from .corpora import FORMATS as PLAIN
from .corpora import Corpus, Files, Sentence, Span, characters, corpus, sentence, tags

NAMES = ("PER", "LOC")
TYPES = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "xmi" / "TypeSystem.xml"

Sides = Callable[[int], str]


def _pair(side: Sides, ending: str, options: tuple[str, ...] = (), **more: bytes) -> Files:
    named = {name.replace("_", "."): data for name, data in more.items()}
    return Files(side(0).encode(), side(1).encode(), ending, list(options), named)


def _spans(one: Sentence, number: int) -> list[Span]:
    return characters(one.words, one.sides[number])


def units(text: str, place: int) -> int:
    """A position in UTF-16 units."""
    return len(text[:place].encode("utf-16-le")) // 2


def brat(rng: Random) -> Files:
    one = sentence(rng, NAMES)
    text = " ".join(one.words)
    notes = rng.choice(("", "#1\tAnnotatorNotes T1\tx\n", "R1\tNear Arg1:T1 Arg2:T2\n*\tAlias T1 T2\n"))

    def side(number: int) -> str:
        own = _spans(one, number)
        lines = [
            f"T{name}\t{label} {start} {end}\t{text[start:end]}\n"
            for name, (start, end, label) in enumerate(own, 1)
        ]
        sure = "A1\tSure T1\nN1\tReference T1 W:Q1\tx\n" if own and rng.random() < 0.5 else ""
        return "".join([*lines, sure, notes])

    return _pair(side, "ann", gold_txt=text.encode(), predicted_txt=text.encode())


def tab(rng: Random) -> Files:
    whole = corpus(rng, NAMES)
    rows = []
    for number, document in enumerate(whole.documents):
        one = Sentence([word for each in document for word in each.words], _joined(document))
        text = " ".join(one.words)
        annotators = {
            name: {
                "entity_mentions": [
                    {
                        "entity_type": label,
                        "start_offset": start,
                        "end_offset": end,
                        "span_text": text[start:end],
                    }
                    for start, end, label in _spans(one, side)
                ]
            }
            for side, name in enumerate(("Key", "Run"))
        }
        rows.append({"doc_id": f"d{number}", "text": text, "meta": {"n": number}, "annotations": annotators})
    content = json.dumps(rows, ensure_ascii=rng.random() < 0.5)
    return _pair(lambda _: content, "json", ("--gold-set", "Key", "--predicted-set", "Run"))


def _joined(document: list[Sentence]) -> tuple[list[Span], list[Span]]:
    """The spans of a document whose sentences are one."""
    sides: tuple[list[Span], list[Span]] = [], []
    first = 0
    for one in document:
        for joined, own in zip(sides, one.sides, strict=True):
            joined += [(start + first, end + first, label) for start, end, label in own]
        first += len(one.words)
    return sides


def _columns(whole: Corpus, number: int, head: str, row: Callable[[int, str, str], str]) -> str:
    """Token lines; `row` gets the number of the token in its sentence, the word and the tag."""
    parts = []
    for name, document in enumerate(whole.documents):
        parts.append(head.format(name))
        for one in document:
            own = tags(len(one.words), one.sides[number])
            rows = (row(place, *pair) for place, pair in enumerate(zip(one.words, own, strict=True), 1))
            parts += [*rows, "\n"]
    return "".join(parts)


def conllu(rng: Random) -> Files:
    whole = corpus(rng, NAMES)

    def row(place: int, word: str, tag: str) -> str:
        misc = "_" if tag == "O" else f"NER={tag}"
        return f"{place}\t{word}\t{word}\tX\t_\t_\t0\troot\t_\t{misc}\n"

    return _pair(lambda number: _columns(whole, number, "# newdoc id = d{}\n", row), "conllu")


def hipe(rng: Random) -> Files:
    whole = corpus(rng, NAMES)
    header = "TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tMISC\n"

    def row(_: int, word: str, tag: str) -> str:
        misc = "NoSpaceAfter|EndOfSentence" if word == "." else "_"
        return f"{word}\t{tag}\tO\t{misc}\n" + "# segment = 1\n" * rng.randint(0, 1)

    return _pair(lambda number: header + _columns(whole, number, "# document_id = d{}\n", row), "tsv")


def germeval(rng: Random) -> Files:
    whole = corpus(rng, NAMES)
    head = "#\thttp://example.org/{} [2010-01-01]\n"
    return _pair(
        lambda number: _columns(whole, number, head, lambda place, word, tag: f"{place}\t{word}\t{tag}\tO\n"),
        "tsv",
    )


def multiconer(rng: Random) -> Files:
    whole = corpus(rng, NAMES)
    words = {" ": "_", "-DOCSTART-": "DOC", "#5": "5#"}

    def side(number: int) -> str:
        parts = []
        for name, one in enumerate(each for document in whole.documents for each in document):
            own = (words.get(word, word.replace(" ", "_")) for word in one.words)
            rows = zip(own, tags(len(one.words), one.sides[number]), strict=True)
            parts.append(f"# id s{name}\tdomain=en\n" + "".join(f"{word} _ _ {tag}\n" for word, tag in rows))
        return "\n".join(parts)

    return _pair(side, "conll")


def tags_alone(rng: Random) -> Files:
    whole = multiconer(rng)
    lines = whole.predicted.decode().split("\n")
    alone = [line if line.startswith("#") else line.rpartition(" ")[2] for line in lines]
    return Files(whole.gold, "\n".join(alone).encode(), "conll")


def conll2012(rng: Random) -> Files:
    whole = corpus(rng, NAMES)
    more = " *" * rng.randint(0, 3)

    def side(number: int) -> str:
        parts = []
        for name, document in enumerate(whole.documents):
            parts.append(f"#begin document (d{name}); part 000\n")
            for one in document:
                opened = {start: f"({label}" for start, _, label in one.sides[number]}
                closed = {end - 1 for _, end, _ in one.sides[number]}
                for place, word in enumerate(one.words):
                    bracket = f"{opened.get(place, '')}*{')' if place in closed else ''}"
                    bracket = bracket.replace("*)", ")") if bracket.startswith("(") else bracket
                    parts.append(f"d{name} 0 {place} {_solid(word)} X * - - - - {bracket}{more} -\n")
                parts.append("\n")
            parts.append("#end document\n")
        return "".join(parts)

    return _pair(side, "gold_conll")


def _solid(word: str) -> str:
    return word.replace(" ", "_")


def i2b2(rng: Random) -> Files:
    one = sentence(rng, NAMES)
    text = " ".join(one.words)

    def side(number: int) -> str:
        elements = "".join(
            f'<NAME id="P{name}" start="{start}" end="{end}" text={quoteattr(text[start:end])} TYPE="{label}"/>\n'
            for name, (start, end, label) in enumerate(_spans(one, number))
        )
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<deIdi2b2>\n'
        return f"{head}<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{elements}</TAGS>\n</deIdi2b2>\n"

    return _pair(side, "xml")


def _marked(one: Sentence, number: int, begin: str, end: str) -> str:
    text, done, parts = " ".join(one.words), 0, []
    for first, last, label in _spans(one, number):
        parts += [escape(text[done:first]), begin.format(label), escape(text[first:last]), end.format(label)]
        done = last
    return "".join([*parts, escape(text[done:])])


def i2b2_2006(rng: Random) -> Files:
    ones = [sentence(rng, NAMES) for _ in range(rng.randint(1, 3))]

    def side(number: int) -> str:
        records = (
            f'<RECORD ID="{name}">\n<TEXT>{_marked(one, number, "<PHI TYPE={0!r}>", "</PHI>")}</TEXT>\n</RECORD>\n'
            for name, one in enumerate(ones)
        )
        return f'<?xml version="1.0"?>\n<ROOT>\n{"".join(records)}</ROOT>\n'

    return _pair(side, "xml")


def inline(rng: Random) -> Files:
    one = sentence(rng, NAMES)
    return _pair(lambda number: _marked(one, number, "<{}>", "</{}>"), "txt", ("--input", "inline"))


def webanno(rng: Random) -> Files:
    ones = [sentence(rng, NAMES) for _ in range(rng.randint(1, 3))]

    def side(number: int) -> str:
        parts = ["#FORMAT=WebAnno TSV 3.3\n#T_SP=x.NamedEntity|identifier|value\n\n"]
        first = last = 0
        for name, one in enumerate(ones, 1):
            text, place = " ".join(one.words), 0
            parts.append(f"\n#Text={text}\n")
            values = ["_"] * len(one.words)
            for start, end, label in one.sides[number]:
                last += 1
                values[start:end] = [f"{label}[{last}]"] * (end - start)
            for token, (word, value) in enumerate(zip(one.words, values, strict=True), 1):
                own, end = (first + units(text, at) for at in (place, place + len(word)))
                place += len(word) + 1
                parts.append(
                    f"{name}-{token}\t{own}-{end}\t{word}\t{'*' if value != '_' else '_'}\t{value}\t\n"
                )
            first += units(text, len(text)) + 1
        return "".join(parts).replace("\t*\tPER", "\t*\tPER")

    return _pair(side, "tsv")


def xmi(rng: Random) -> Files:
    one = sentence(rng, NAMES)
    text = " ".join(one.words)

    def side(number: int) -> str:
        own = _spans(one, number)
        elements = "".join(
            f'<type:NamedEntity xmi:id="{name}" sofa="1" begin="{units(text, start)}" end="{units(text, end)}" '
            f'value="{label}"/>\n'
            for name, (start, end, label) in enumerate(own, 2)
        )
        members = " ".join(str(name) for name in range(2, len(own) + 2))
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
            'xmlns:type="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore" xmi:version="2.0">\n'
            f'<cas:NULL xmi:id="0"/>\n{elements}<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" '
            f'mimeType="text/plain" sofaString={quoteattr(text)}/>\n'
            f'<cas:View sofa="1" members="{members}"/>\n</xmi:XMI>\n'
        )

    return _pair(side, "xmi", TypeSystem_xml=TYPES.read_bytes())


def written(name: str) -> Callable[[Random], Files]:
    """What makes files of a format by its writer."""

    def pair(rng: Random) -> Files:
        from clueval import Document
        from clueval import Span as FoundSpan
        from clueval.formats.catalogue import writer_named

        writer = writer_named(name)
        one = sentence(rng, NAMES)
        text = " ".join(one.words)

        def side(number: int) -> bytes:
            spans = [FoundSpan(*each) for each in _spans(one, number)]
            documents = [Document("1", {"label": spans}, text=text, unit="character")]
            if writer.data is not None:
                return writer.data(documents, ["label"])
            return "".join(writer.pieces(documents, ["label"], False)).encode()

        return Files(side(0), side(1), writer.ending.removeprefix("."))

    return pair


TOOLS: dict[str, Callable[[Random], Files]] = {
    "brat": brat,
    "tab": tab,
    "conllu": conllu,
    "hipe": hipe,
    "germeval": germeval,
    "multiconer": multiconer,
    "tags": tags_alone,
    "conll2012": conll2012,
    "i2b2": i2b2,
    "i2b2-2006": i2b2_2006,
    "inline": inline,
    "webanno": webanno,
    "xmi": xmi,
    "docbin": written("docbin"),
    "uima-json": written("uima-json"),
}
"""What makes a valid pair of files of each format of tools. A new format is one line."""

FORMATS = {**PLAIN, **TOOLS}
"""All formats of which the fuzzers make files."""
