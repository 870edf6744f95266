"""Pictures of the papers as one page of evener report: those that "pictures" of published.json describe.

    {"paper": "001", "title": "Figure 9 ..", "about": "..", "draw": "lines", "along": "CPUs",
     "series": [{"label": "Origin", "x": [8, 16], "y": ["expression", ..]}, {"label": "published", "x": [8, 16], "y": [2.03, 3.96]}]}

lines: x is logarithmic; numbers in y are published ones and become dots; one expression whose value is as long as x, or x absent (1, 2, ..), is a
whole line. bars: "parts": names; "rows": [{"head", "label", "parts": "expression of all parts", "note"}]; a note may have expressions, "speedup <..>,
published 2.51"; with "each": [[["16"], ["32"]], [["STATIC", "static"], ["map", "map"]]] a row is one for each of 16 and 32, of each schedule, whose
words are $1, $2 and $3, the head above the first. timelines, maps: "plans": [{"plan": "papers{..}", "label": "static"}]; of timelines with "only": "exchange" computing is left out.
"""
import itertools
import json
import re
import subprocess

from expressions import Wrong, text_of


def rows_of(picture):
    """All rows of bars, one for each choice of words."""
    for row in picture.get("rows", []):
        for nth, words in enumerate(itertools.product(*row.get("each", []))):
            words = [word for some in words for word in some]
            yield {key: re.sub(r"\$(\d)", lambda e, words=words: words[int(e[1]) - 1], text) for key, text in row.items()
                   if key != "each" and not (nth and key == "head")}


class Picture:
    """A figure of evener report: the picture with values for its expressions."""

    def __init__(self, study, picture):
        self.study, self.picture, self.title = study, picture, picture["title"]

    def wrong(self, what):
        raise Wrong(f'published.json: picture "{self.title}": {what}')

    def value(self, expression):
        return self.study.evaluate(self.title, expression)

    def lines(self):
        series = []
        for s in self.picture.get("series", []):
            y = [y for entry in s.get("y", []) for y in ([entry] if isinstance(entry, float) else self.value(entry))]
            x = s.get("x", [float(i + 1) for i in range(len(y))])
            if len(x) < len(y) or not all(isinstance(n, float) and n > 0 for n in x):
                self.wrong("a series has more y than x, or an x that is no number above 0")
            series.append({"label": s["label"], "x": x, "y": y, "dots": any(isinstance(entry, float) for entry in s.get("y", []))})
        return {"along": self.picture["along"], "series": series}

    def bars(self):
        parts, rows = self.picture.get("parts", []), []
        for row in rows_of(self.picture):
            values = self.value(row["parts"])
            if len(values) != len(parts):
                self.wrong("a row has other parts")
            note = re.sub(r"<([^>]*)>", lambda e: f"{(self.value(e[1]) or self.wrong('an expression of a note has no number'))[0]:.3g}",
                          text_of(row, "note") or "")
            rows.append({"label": row["label"], "parts": values, "note": note} | ({"head": row["head"]} if text_of(row, "head") else {}))
        return {"parts": parts, "rows": rows}

    def plans(self):
        """Records of plans, under their labels."""
        only, plans = text_of(self.picture, "only"), []
        for plan in self.picture.get("plans", []):
            name, _, words = plan["plan"].partition("{")
            record = self.study.output(self.title, name, words.rstrip("}")).content
            if not isinstance(record, dict) or "iterations" not in record:
                self.wrong("a plan is no record")
            bursts = [b for b in record.get("bursts", []) if not only or b["kind"] not in ("compute", "migration")]
            plans.append({"file": plan["label"], "record": record | {"schedule": plan["label"], "bursts": bursts}})
        return {"plans": plans}

    def figure(self):
        values = {"lines": self.lines, "bars": self.bars, "timelines": self.plans, "maps": self.plans}.get(self.picture["draw"])
        if not values:
            self.wrong('"draw" is none of lines, bars, timelines and maps')
        try:
            return {"draw": self.picture["draw"], "title": self.title, "about": text_of(self.picture, "about") or ""} | values()
        except (AttributeError, KeyError, TypeError, IndexError, ValueError):
            self.wrong("an output has another shape than it needs")


def page(study):
    """All of it, as evener report writes it; published points beside ours."""
    sections = []
    for paper in study.whole.get("papers", []):
        done = [item for item in study.items if item.done and item.paper == paper["paper"]]
        pictures = [p for p in study.whole.get("pictures", []) if p["paper"] == paper["paper"]]
        if done:
            sections.append({"title": paper["title"], "figures": [Picture(study, p).figure() for p in pictures],
                             "head": ["item", "what", "published", "ours", "ratio", "verdict"],
                             "rows": [[str(cell) for cell in item.cells()] for item in done]})
    figures = {"evener": study.options.version, "app": "papers", "title": "The papers", "sections": sections,
               "lead": "Published points beside those of this executable: lines and small dots are ours, large dots are published."}
    made = subprocess.run(["evener", "report", "/dev/stdin", "--output", "-"], executable=study.options.evener, capture_output=True,
                          input=json.dumps(figures).encode(), check=False)
    if made.returncode:
        raise Wrong(f"the page: {made.stderr.decode(errors='replace').strip()}")
    return made.stdout.decode()
