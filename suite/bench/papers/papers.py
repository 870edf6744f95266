#!/usr/bin/env python3
"""Figures, tables and headline numbers of five papers, each beside the figure that this evener gives, with a verdict.

`evener bench papers` starts this (suite/command/bench/papers.c), with published.json on standard input and its outputs as descriptors. That file has the
commands once, with $1, $2, .. for the words that an expression gives them, paths into their outputs that are used often, and the items:

    "outputs": {"gpus": "plan $1 --class $2 --units $3:GPU:1 --schedule $4 --json - --quiet"},
    "paths": {"last": "gpus{$1 $2 $3 $4}.iterations[-1]"},
    "items": [
     {"paper": "000", "item": "fig12.B", "what": "overall speedup, guided, 4 GPUs",
      "kind": "V",                     V virtual time, C counted, R measured (--real), T text or interface, G needs a GPU, or its compiler (--real)
      "value": [2.39, 2.51],           published numbers, or a text; absent where they are lost
      "range": [2.26, 3.28],           the paper says that all lie between; or [least, greatest] of each
      "unit": "x", "legible": true, "where": "sentence of the paper",
      "ours": ["expression", ..],      values behind one another (expressions.py)
      "holds": "expression",           an order that the paper states
      "works": "expression",           what a run of it must hold, where the paper states neither number nor order
      "evidence": "fitted",            or "given", "predicted", "not compared": see RULES; a list: of each number, null where it is independent
      "wanted": "more",                or "less": the side that is better, where it is the same quantity on the same footing
      "second": ["expression", ["least", "most"], null],
                                       by other published numbers, as published{000/fig11.ms}[0]: what "value" is by these
      "because": ["expression", null], of published numbers alone: why these rule out each of theirs; one expression: all of them
      "band": [0.9, 1.1],              of ours over published, or of ours: outside it is a change here (exit status 1), whatever the verdict
      "reason": "why they differ"}]
"""
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import types
import warnings
from decimal import Decimal

import expressions
import pictures
from expressions import Wrong, text_of

UNVERIFIED, USAGE, FAILED = 1, 2, 3
BESIDE = "bench-kernels"  # a program of the build's, of which are words that begin with it
NEAR = 0.05  # same: within that much of the published number
VERDICTS = {"same": "same", "better": "better", "contradicts": "contradict", "differs": "differ", "works": "work", "given": "given", "fitted": "fitted",
            "predicted": "predicted", "not compared": "not compared", "missing": "missing"}
ARITHMETIC = {"whole": "by its own arithmetic", "part": "in part by its own arithmetic"}
EVIDENCE = "given", "fitted", "predicted", "not compared"
KEYS = "paper item what kind value range unit ours legible where band wanted evidence because reason holds works second".split()


def complain(message):
    plain = "".join(c if c.isprintable() else "?" for c in message)
    plain = plain if len(plain) < 1000 else f"{plain[:600]} .. {plain[-300:]}"
    print(f"evener: {plain}", file=sys.stderr, flush=True)


# ---- outputs of the command ----

class Outputs:
    """Outputs of the command by its words, each produced once, many at a time."""

    def __init__(self, evener):
        self.evener, self.folder = evener, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        # settings of the reader must not change figures
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("EVENER_") or k.startswith("EVENER_CACHE")}
        self.pool, self.made = concurrent.futures.ThreadPoolExecutor(os.cpu_count()), {}

    def place(self, name):
        """Of an installed file, as machines/power9-4v100.json."""
        path = os.path.join(self.folder, name)
        if not os.access(path, os.R_OK):
            raise Wrong(f"bench papers: {name} is not installed, expected in {self.folder}")
        return path

    def start(self, words):
        if words not in self.made:
            self.made[words] = self.pool.submit(self.run, words)
        return self.made[words]

    def run(self, words):
        argv = [self.place(word[1:]) if word.startswith("@") else word for word in words.split()]
        argv = ["evener", *argv] if argv[0] != BESIDE else argv
        program = self.evener if argv[0] != BESIDE else os.path.join(os.path.dirname(self.evener), BESIDE)
        done = subprocess.run(argv, executable=program, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        text = done.stdout.decode(errors="replace")
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
            code = done.returncode if done.returncode > 0 else 128 - done.returncode
            raise Wrong(f"{' '.join(argv[:1])} {words.removeprefix(BESIDE + ' ')}: exit status {code}, {said}")
        return expressions.Output(text, json.loads(text, parse_int=float) if text.startswith("{") else None)

    def get(self, words, item):
        try:
            return self.start(words).result()
        except (OSError, ValueError, Wrong) as error:
            raise Wrong(f"bench papers: item {item} has no figure: {error}") from None


# ---- the file of published numbers ----

class Number(float):
    """As printed, with so many digits behind the point."""

    def __init__(self, word):
        self.digits = max(0, -Decimal(word).as_tuple().exponent)


def read(path):
    def number(word):
        return Number(word) if math.isfinite(float(word)) else 1 / 0
    try:
        return json.loads(sys.stdin.buffer.read().decode(errors="replace"), parse_int=number, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        raise Wrong(f"{path} is no JSON: line {error.lineno}, column {error.colno}", USAGE) from None
    except (ArithmeticError, RecursionError):
        raise Wrong(f"{path} is no JSON: a number that is none, or lists too deep in one another", USAGE) from None


def check_texts(path, whole, name, keys):
    """Each entry of a list (absent: none) is an object with these texts."""
    entries = whole.get(name, [])
    if not isinstance(entries, list):
        raise Wrong(f'{path}: "{name}" is no list')
    for number, entry in enumerate(entries):
        for key in keys.split():
            if text_of(entry, key) is None:
                raise Wrong(f'{path}: entry {number} of "{name}": "{key}" is not given, or is no text')
        if not isinstance(entry, dict):
            raise Wrong(f'{path}: entry {number} of "{name}" is no object')
    return entries


def check_words(path, whole, name, also=()):
    """Each entry of a list is a text, or of the types in `also`."""
    entries = whole.get(name, [])
    if not isinstance(entries, (list, dict)):
        raise Wrong(f'{path}: "{name}" is no list')
    for number, entry in enumerate(entries.values() if isinstance(entries, dict) else entries):
        if not isinstance(entry, (str, *also)):
            raise Wrong(f'{path}: entry {number} of "{name}" is no {"number and no " if also else ""}text')


def check(path, whole):
    """The shape of the file apart from its items, so that a mistake gives a message before anything is computed."""
    if not isinstance(whole, dict):
        raise Wrong(f"{path}: it is no object")
    for paper in check_texts(path, whole, "papers", "paper title about"):
        check_words(path, paper, "errors")
    for name in ("outputs", "paths"):
        check_words(path, whole, name)
        if not isinstance(whole.get(name, {}), dict):
            raise Wrong(f'{path}: "{name}" is no object')
    for picture in check_texts(path, whole, "pictures", "paper title draw"):
        if picture["draw"] == "lines" and text_of(picture, "along") is None:
            raise Wrong(f'{path}: picture "{picture["title"]}": no "along"')
        for series in check_texts(path, picture, "series", "label"):
            check_words(path, series, "x", (float,))
            check_words(path, series, "y", (float,))
        check_texts(path, picture, "rows", "label parts")
        check_texts(path, picture, "plans", "plan label")
        check_words(path, picture, "parts")
    if not check_texts(path, whole, "items", ""):
        raise Wrong(f'{path}: there are no "items"')


class Item:
    """An item as read, its figures here, and its verdict."""

    def __init__(self, path, entry):
        self.entry, self.path, self.id = entry, path, "?"
        self.paper, self.name, self.what, self.kind, self.where, self.unit, self.reason = (
            text_of(entry, key) for key in ("paper", "item", "what", "kind", "where", "unit", "reason"))
        if self.paper is None or self.name is None:
            self.wrong('no "paper" or no "item"')
        self.id = f"{self.paper}/{self.name}"
        if self.what is None or self.where is None:
            self.wrong('no "what" or no "where"')
        if self.kind not in ("V", "C", "R", "T", "G"):
            self.wrong('"kind" is none of V C R T G')
        for key in entry:
            if key not in KEYS:
                self.wrong(f'there is no key "{key}"')
        self.published, self.published_text = self.read_value(), text_of(entry, "value")
        self.band, self.range, self.evidence = self.read_band(), self.read_range(), self.read_evidence()
        self.ours, self.second, self.because, self.holds, self.verdict = [], [], [], None, None
        self.done = self.outside = False

    def wrong(self, what):
        raise Wrong(f"{self.path}: item {self.id}: {what}")

    def read_value(self):
        value = self.entry.get("value", [])
        value = [] if isinstance(value, str) else value if isinstance(value, list) else [value]
        for number in value:
            if not isinstance(number, float) or not 0 < number < math.inf:
                self.wrong('"value" has an entry that is no number above 0')
        return value

    def read_band(self):
        band = self.entry.get("band")
        if band is None and self.kind in "VC" and "ours" in self.entry and self.order() is None:
            self.wrong('neither "band" nor "holds" nor "works", of which V and C need one')
        if band is not None and (not isinstance(band, list) or len(band) != 2 or not all(isinstance(x, float) for x in band)):
            self.wrong('"band" is not two numbers')
        return band

    def read_range(self):
        def is_pair(x):
            return isinstance(x, list) and len(x) == 2 and all(isinstance(y, float) for y in x) and x[0] <= x[1]
        pairs = self.entry.get("range")
        if pairs is not None and not is_pair(pairs) and not (isinstance(pairs, list) and pairs and all(map(is_pair, pairs))):
            self.wrong('"range" is not two numbers, and no list of such')
        return pairs

    def read_evidence(self):
        evidence = self.entry.get("evidence")
        words = evidence if isinstance(evidence, list) else [evidence]
        if any(word not in (None, *EVIDENCE) for word in words) or (
                words is evidence and (len(words) != len(self.published) or None not in words)):
            self.wrong('"evidence" is none of given, fitted, predicted and not compared, and no such list as long as "value"')
        if evidence is None and self.kind in "VC" and "ours" not in self.entry and self.order() is None:
            self.wrong('V and C need "ours", "holds", "works" or "evidence"')
        return evidence

    def order(self):
        return self.entry.get("holds", self.entry.get("works"))

    def expressions(self):
        """Of ours, of seconds, the order and the arithmetic."""
        ours, because = self.entry.get("ours", []), self.entry.get("because", [])
        because = because if isinstance(because, list) else [because] * len(self.published)
        if "because" in self.entry and (not because or len(because) != len(self.published)):
            self.wrong('"because" is not as long as "value"')
        return (ours if isinstance(ours, list) else [ours]), self.entry.get("second"), self.order(), because

    # -- figures --

    def evaluate(self, study):
        ours, second, order, because = self.expressions()
        for expression in ours if self.kind not in "RG" or study.options.real else []:
            try:
                self.ours += study.evaluate(self.id, expression)
            except Wrong:  # the build's program or a compiler of device code is not here
                if self.kind != "G":
                    raise
        for other, name in ((self.published, "published"), (self.range if self.range and isinstance(self.range[0], list) else [], "ranges")):
            if other and self.ours and len(other) != len(self.ours):
                raise Wrong(f"published.json: item {self.id}: {len(other)} numbers {name} and {len(self.ours)} here")
        self.holds = None if order is None or (self.kind == "R" and not self.ours) else all(study.evaluate(self.id, order))
        if second is not None:
            self.second = self.spans(second, study)
        self.because = [None if expression is None else all(study.arithmetic(self.id, expression)) for expression in because]
        self.judge()
        self.done = True

    def spans(self, second, study):
        """Least and most of each published number by others of its paper; None: there are none."""
        def wrong(what):
            raise Wrong(f'published.json: item {self.id}: "second" {what}')

        def number(expression):
            if not isinstance(expression, str):
                wrong("has an entry that is no expression, no pair of them and not null")
            value = study.arithmetic(self.id, expression)
            if len(value) != 1 or value[0] <= 0:
                wrong("has an expression that is not one number above 0")
            return value[0]

        if not self.published or not self.ours:
            wrong("needs numbers, published and ours")
        if not isinstance(second, list) or len(second) != len(self.published):
            wrong('is not as long as "value"')
        spans = []
        for entry in second:
            if isinstance(entry, list) and len(entry) != 2:
                wrong("has a list that is not of two")
            span = None if entry is None else [number(e) for e in entry] if isinstance(entry, list) else [number(entry)] * 2
            if span and span[0] > span[1]:
                wrong("has a pair whose least is above its most")
            spans.append(span)
        return spans

    def ratios(self):
        return [a / b for a, b in zip(self.ours, self.published)]

    # -- the verdict --

    def judge(self):
        self.verdict = self.evidence if self.evidence in ("given", "predicted", "not compared") else self.compare()
        if self.evidence == "fitted" and self.verdict in ("same", "better"):
            self.verdict = "fitted"
        compared = self.ratios() or self.ours
        inside = not self.band or not compared or self.band[0] <= min(compared) and max(compared) <= self.band[1]
        self.outside = not inside or self.holds is False or False in self.because

    def compare(self):
        """By RULES, without evidence of the whole."""
        if not self.ours and self.holds is None:
            return "not compared" if self.kind == "T" or "ours" in self.entry else "missing"
        if self.holds is False:
            return "differs"
        if self.published and self.ours:
            pairs = [(self.ours[i], self.published[i]) for i in self.apart()]
            if not pairs:
                return "same"
            if "wanted" in self.entry and all((a > b) == (self.entry["wanted"] == "more") for a, b in pairs):
                return "better"
            return "contradicts" if self.contradicts() else "differs"
        if self.range and self.ours:
            ranges = self.range if isinstance(self.range[0], list) else [self.range] * len(self.ours)
            return "same" if all(least <= x <= most for x, (least, most) in zip(self.ours, ranges)) else "differs"
        return "not compared" if self.holds is None else "works" if "works" in self.entry else "same"

    def each_evidence(self):
        return self.evidence if isinstance(self.evidence, list) else [None] * len(self.published)

    def apart(self):
        """Of which numbers, of those without evidence, ours is not the published one."""
        numbers = zip(self.ours, self.published, self.each_evidence())
        return [i for i, (ours, published, evidence) in enumerate(numbers) if not evidence and not is_same(ours, published)]

    def contradicts(self):
        """Whether each number of ours that is not near the published one is near the second value, or lies between the two, and these are not near
        each other."""
        for i in self.apart() if self.second else []:
            ours, published, span = self.ours[i], self.published[i], self.second[i]
            if span is None or near(published, span):
                return False
            if not near(ours, span) and not min(published, span[0]) <= ours <= max(published, span[1]):
                return False
        return bool(self.second)

    def arithmetic(self):
        """Whether other published numbers rule out all that ours differs from, a part of them, or none."""
        apart = [bool(self.because[i]) for i in self.apart()] if self.verdict == "differs" and self.because else []
        return "whole" if apart and all(apart) else "part" if any(apart) else None

    # -- its text --

    def second_text(self):
        said = []
        for ours, published, span in zip(self.ours, self.published, self.second):
            if span is None or is_same(ours, published):
                continue
            by = numbers_text(span[:1], 1) + (f" to {numbers_text(span[1:], 1)}" if span[1] > span[0] else "")
            how = "agrees with these" if near(ours, span) else "lies between"
            said.append(f"{numbers_text([published], 1)} is {by} by other numbers of the paper, and ours {how}")
        return "; ".join(said)

    def ratio_text(self):
        ratios = self.ratios()
        if len(ratios) < 2:
            return "".join(f"{r:.2f}" for r in ratios)
        return f"{min(ratios):.2f} to {max(ratios):.2f}"

    def why(self):
        """The reason, and what of the verdict is not seen in it."""
        fitted = [word for word in self.each_evidence() if word]
        said = [self.second_text()] if self.verdict == "contradicts" else []
        said += [ARITHMETIC[self.arithmetic()]] if self.arithmetic() else []
        said += ["measured with --real"] if self.kind in "RG" and "ours" in self.entry and not self.ours else []
        said += [f"{len(fitted)} of {len(self.published)} numbers {fitted[0]}"] if fitted else []
        return ": ".join(filter(None, ["; ".join(said), self.reason]))

    def cells(self):
        """Of a table."""
        return (self.name, self.what, numbers_text(self.published, 9) or self.published_text or "-", numbers_text(self.ours, 9) or "-",
                self.ratio_text() or "-", self.verdict)

    def record(self):
        ratios = self.ratios()
        o = {"paper": self.paper, "item": self.name, "kind": self.kind, "what": self.what}
        o |= {key: value for key, value in (("unit", self.unit), ("published", self.published), ("ours", self.ours)) if value}
        o |= {"ratio_least": min(ratios, default=None), "ratio_most": max(ratios, default=None)}
        o |= {"second": self.second} if self.second else {}
        o |= {"range": self.range} if self.range else {}
        o |= {"evidence": self.evidence, "holds": self.holds, "verdict": self.verdict, "arithmetic": self.arithmetic()}
        return o | {"outside": self.outside, "reason": self.reason or ""}


def near(x, span):
    return span[0] * (1 - NEAR) <= x <= span[1] * (1 + NEAR)


def is_same(ours, published):
    """Within 5 %, or in the digits that the paper prints: "6x" is anything from 5.5 to 6.5."""
    return near(ours, (published, published)) or abs(ours - published) <= 0.5 * 10.0 ** -published.digits


def numbers_text(numbers, most):
    """As people read them, "2.39, 2.51"; at most `most` of them."""
    def one(x):
        if x != 0 and (abs(x) < 0.1 or abs(x) >= 1e6):
            return f"{x:.3g}"
        return f"{x:.{0 if abs(x) >= 100 or x == math.floor(x) else 1 if abs(x) >= 10 else 2}f}"
    return ", ".join(map(one, numbers[:most])) + (f", .. ({len(numbers)})" if len(numbers) > most else "")


# ---- the study ----

class Study:
    def __init__(self, options, whole):
        self.options, self.whole, self.paths = options, whole, whole.get("paths", {})
        self.outputs = Outputs(options.evener)
        self.items = [Item(options.published, entry) for entry in whole["items"]]
        self.by_id = {}
        for item in self.items:
            if item.id in self.by_id:
                item.wrong("it is there twice")
            self.by_id[item.id] = item

    def asked(self):
        papers, names = self.options.paper, self.options.item
        for option, words, name in (("paper", papers, lambda item: item.paper), ("item", names, lambda item: item.id)):
            for word in words:
                if not any(chosen([word], name(item)) for item in self.items):
                    raise Wrong(f"--{option} {word}: there is no such {option}, expected one of published.json, as {name(self.items[0])}", USAGE)
        return [item for item in self.items if chosen(papers, item.paper) and chosen(names, item.id)]

    def command(self, name, words):
        """Its words behind a name in an expression; None where there is none, or one is lacking."""
        return expressions.fill(self.whole.get("outputs", {}).get(name), words)

    def output(self, item, name, words):
        line = self.command(name, words)
        if name == "published" and words in self.by_id and self.by_id[words].published:
            return expressions.Output("", self.by_id[words].published)
        if name == "published":
            raise Wrong(f"published.json: item {item}: published{{{words}}} is no item with numbers, expected one, as {self.items[0].id}")
        if line is None:
            raise Wrong(f'published.json: item {item}: {name}{{{words}}} is none of "outputs", or lacks a word')
        return self.outputs.get(line, item)

    def evaluate(self, item, expression):
        try:
            return expressions.evaluate(expression, self.paths, lambda name, words: self.output(item, name, words))
        except expressions.Mistake as mistake:
            raise Wrong(f"published.json: item {item}: {mistake}, in {expression}") from None

    def arithmetic(self, item, expression):
        """Of published numbers alone."""
        if any(name != "published" for name, _ in expressions.outputs(expression, self.paths)):
            raise Wrong(f'published.json: item {item}: "second" and "because" are of published numbers alone, in {expression}')
        return self.evaluate(item, expression)

    def prepare(self, asked):
        """Starts all commands of these items, but those whose times count."""
        for item in asked:
            ours, _, order, _ = item.expressions()
            for expression in [*ours, order] if item.kind != "R" else []:
                for name, words in expressions.outputs(expression, self.paths):
                    line = self.command(name, words)
                    if line is not None:
                        self.outputs.start(line)

    def run(self):
        asked = self.asked()
        self.prepare(asked)
        try:
            for item in asked:
                item.evaluate(self)
                if not self.options.quiet:
                    print_item(item)
        finally:
            if not self.options.quiet:
                self.print_end()

    def counts(self, paper=None):
        verdicts = [item.verdict for item in self.items if item.done and paper in (None, item.paper)]
        return f"{len(verdicts)} items: " + ", ".join(f"{verdicts.count(verdict)} {word}" for verdict, word in VERDICTS.items())

    def arithmetic_count(self):
        differ = [item.arithmetic() for item in self.items if item.done and item.verdict == "differs"]
        return f"{differ.count('whole')} of the {len(differ)} that differ by the paper's own arithmetic, {differ.count('part')} more in part"

    def print_end(self):
        left, outside = sum(not item.done for item in self.items), sum(item.outside for item in self.items)
        print(f"\n{self.counts()}; {self.arithmetic_count()}" + (f"; {left} not asked for" if left else ""))
        print("kind: V virtual time, C counted, R measured (--real), T text or interface, G needs a GPU; ratio: ours over published")
        print("\n".join(RULES))
        if outside:
            print(f"{outside} out of their bands")

    def record(self):
        done = [item.record() for item in self.items if item.done]
        return json.dumps({"items": done, "evener": self.options.version, "command": self.options.command}, indent=1) + "\n"

    def page(self):
        """docs/papers.md: a table a paper."""
        lines = [HEAD, f"{self.counts()}; {self.arithmetic_count()}."]
        for paper in self.whole.get("papers", []):
            done = [item for item in self.items if item.done and item.paper == paper["paper"]]
            lines += ["", f"## {paper['title']}", "", paper["about"], "", f"{self.counts(paper['paper'])}.", "",
                      "| item | what | published | ours | ratio | verdict | reason |", "|---|---|---|---|---|---|---|", *map(row, done)]
            if "errors" in paper:
                lines += ["", "Errors and implausible numbers in the paper, by recomputation:", "", *(f"* {error}" for error in paper["errors"])]
        lines += ["", "## Commands", "", "Behind the names in expressions; `$1`, `$2`, .. are the words in braces, `@FILE` is a file of `suite/bench`.", ""]
        lines += [f"* `{name}`: `{'' if words.startswith(BESIDE) else 'evener '}{words}`" for name, words in self.whole.get("outputs", {}).items()]
        return "\n".join(lines + [f"* `{name}`: `{path}`" for name, path in self.paths.items()]) + "\n"


def chosen(words, name):
    """Whether a list (empty: all) has the name, or a part of it up to a dot."""
    return not words or any(name == word or name.startswith(word + ".") for word in words)


def print_item(item):
    published = numbers_text(item.published, 3) or item.published_text or "-"
    ours = numbers_text(item.ours, 3) or "-"
    print(f"{item.id:<24}  {item.kind}  {published:<22}  {ours:<22}  {item.ratio_text() or '-':<12}  {item.verdict:<12}"
          f"{'  OUT OF ITS BAND' if item.outside else ''}\n    {item.what}{', ' if item.unit else ''}{item.unit or ''}")
    if item.why() and item.verdict != "same":
        print(f"    {item.why()}")
    sys.stdout.flush()


RULES = """given: read back from what we put in, or equal by definition
predicted: of a model of hardware that was never run
missing: it needs hardware or a program that was not there
not compared: nothing is computed, or the paper has nothing beside it, or what it computed on is not public
fitted: as the next rule has it, but parameters of a machine file come from these numbers
same: all numbers within 5 %, or in the digits that the paper prints; or all within its range; or, without numbers, an order that it states holds
works: the paper states neither number nor order; what it describes is there, runs, and holds what a run of it must
better: the same quantity on the same footing, and each number the same or on the better side
contradicts: other published numbers give the same quantity once more, more than 5 % apart, and ours meets these or lies between
differs: all else, by the worst number; "by its own arithmetic": other published numbers rule out each that ours differs from, "in part": some of them""".split("\n")
HEAD = """# The papers, figure by figure

Written by `evener bench papers --page docs/papers.md` from `suite/bench/papers/published.json`, which has the sentence that each published number is
from, the expression that gives ours, and the band in which ours stays from version to version; do not edit it. `evener bench papers --report
FILE.html` draws it. Letters behind an item: V virtual time, C counted, R measured (`--real`), T text or interface, G needs a GPU. Several numbers
of an item stand in the order of its description; the ratio is ours over published, least to greatest. "lost": only a picture has the number, and
the text at hand has no pictures. No verdict is typed; the first of these rules that applies gives it:

""" + "\n".join("* **" + rule.replace(":", "**:", 1) for rule in RULES) + "\n"


def row(item):
    def cell(text):
        return text.replace("|", "\\|").replace("\n", " ")

    unit = f" {item.unit}" if item.unit else ""
    published = cell(item.published_text or ("lost" if item.entry.get("legible") is False else "text"))
    published = numbers_text(item.published, 12) + unit if item.published else published
    ours = numbers_text(item.ours, 12) + (unit if item.ours and not item.published else "")
    reason = item.why() if item.verdict != "same" or not item.ours or isinstance(item.evidence, list) else ""
    return f"| `{item.name}` {item.kind} | {cell(item.what)} | {published} | {ours} | {item.ratio_text()} | **{item.verdict}** | {cell(reason)} |"


def read_options():
    """The words that suite/command/bench/papers.c gives; of outputs descriptors, empty where there is none."""
    names = "evener version command published paper item real quiet json page report"
    options = types.SimpleNamespace(**dict(zip(names.split(), sys.argv[1:])))
    options.paper, options.item = (words.split(",") if words else [] for words in (options.paper, options.item))
    return options


def main():
    options = read_options()
    whole = read(options.published)
    check(options.published, whole)
    study = Study(options, whole)
    try:
        study.run()
        for descriptor, content in ((options.json, study.record), (options.page, study.page), (options.report, lambda: pictures.page(study))):
            if descriptor:
                with open(int(descriptor), "w", encoding="utf-8", errors="replace") as file:
                    file.write(content())
    finally:
        study.outputs.pool.shutdown(cancel_futures=True)
    return UNVERIFIED if any(item.outside for item in study.items) else 0


def end():
    """Exit status, after a message where there is no other one."""
    try:
        code = main()
        sys.stdout.flush()
        return code
    except Wrong as wrong:
        complain(wrong.args[0])
        return wrong.code
    except BrokenPipeError:
        return FAILED  # nobody reads
    except OSError as error:
        complain(f"standard output cannot be written: {error.strerror}")
    except (RuntimeError, MemoryError) as error:  # no threads, no memory
        complain(f"bench papers: {error or 'not enough memory'}")
    return FAILED


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    os._exit(end())
