"""The table of all options, as --help tells it, so that new ones are covered without being named; and what is said to them."""
import os
import re
import subprocess
from random import Random

import mutate

HERE = os.path.dirname(os.path.abspath(__file__))

# what makes a command cheap, where there is such a thing: all else is found
BASE = {("run", "td-bem"): ["--mesh", "sphere:0", "--steps", "3"], ("run",): ["--steps", "1"],
        ("plan", "td-bem"): ["--mesh", "sphere:0"], ("calibrate", "td-bem"): ["--mesh", "sphere:0", "--steps", "1"],
        ("calibrate",): ["--steps", "1", "--units", "1:CPU:1"], ("report",): ["r.json"],
        ("bench", "tasks"): ["--tasks", "100", "--repeat", "1"], ("bench", "links"): ["--repeat", "1", "--devices", "emulated"],
        ("bench", "schedules"): ["--classes", "S", "--steps", "2", "m.json"], ("bench", "exchange"): ["--class", "S"],
        ("bench", "npbmz"): ["--class", "S", "--steps", "1", "--repeat", "1"],
        ("bench", "td-bem"): ["--mesh", "sphere:0", "--table"], ("bench", "ft"): ["--classes", "S", "--repeat", "1"],
        ("bench", "mg"): ["--class", "S"], ("bench", "put"): ["--max", "4096", "--repeat", "1"],
        ("bench", "pinning"): ["bt-mz", "--class", "S", "--steps", "1", "--rounds", "1"]}
RARE = ("bench",)  # they measure: seldom
PLACES = ["new", "new.json", "r.json", "m.json", "folder", "folder/new", "missing/new", ".", "..", "/", "/proc/self/mem", "null",
          "full", "link", "dangling", "loop", "-", "--quiet", "a" * 300, "r.json/x", "new\n", "\x1b[31mnew", b"new\xff"]
HOSTILE = ["", " ", "-", "--", "--quiet", "--json", "--help", "-h", ",", ",,", "1,,2", ",1", "1,", ":", "::", "=", "a=b", "=1", "*",
           "@", "@r.json", "@missing", "@@", "%s%n%d%x", "../../..", "~", "$HOME", "\n", "\t", "\r", "\x07", "\x7f", "\x1b[31m",
           "é", "日本", "\u202e", "\U0001f40e", b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", "x" * 131000, "1" * 5000, "1," * 20000 + "1",
           ":" * 3000, "0:0", "1:1:1:1", "1,5", "{}", "[]"]


def ask(evener, *words):
    done = subprocess.run([evener.path, *words], capture_output=True, text=True, timeout=60,
                          env=evener.environment("/nonexistent"), check=False)
    return done.stdout + done.stderr


def commands(evener):
    """Every command with every word that it takes: ("run", "bt-mz"), ("info",), .."""
    found = []
    for name in re.findall(r"^  ([a-z]+) +\S", ask(evener, "--help"), re.MULTILINE):
        if name == "evener":  # an example
            continue
        text = ask(evener, name, "--help")
        words = re.findall(r"^  ([a-z][\w-]*) +\S", text, re.MULTILINE)
        found += [(name, word) for word in words] or [(name,)]
    return found


def options(evener, command):
    """(name, word for its value or "", help) of each."""
    return re.findall(r"^  --([\w-]+)(?: ([A-Z]\S*))? +(.*)$", ask(evener, *command, "--help"), re.MULTILINE)


def examples(text):
    """What of a help text may be a value, placeholders filled in."""
    words = [word.strip(".;()") for word in re.split(r"[\s]+|, ", text)]
    return [re.sub(r"\b[A-Z]\b", "2", word) for word in words if word and not word.startswith("(")]


EXTREMES = ["0", "-1", "1e308", "-1e308", "1e-308", "1e101", "1e10", "nan", "inf", "2147483647", "2147483648", "9223372036854775808", "",
            ",", "1,,2", "1e308,1e308", "1e-308,1e-308,1e-308", "-1,0", "1e308B", "0:1e308@0"]


def extremes(evener, files):
    """(random, number) -> case: one option after the other with one extreme after the other, in an order by chance; what they need
    is there."""
    need = {"frequencies": ["--spectrum", "new.csv"], "vertices": ["--vertex-output", "new.csv"],
            "pulse": ["--steps", "5"], "noise": [], "every": ["--checkpoint", "new"]}
    mixed = []
    for command in commands(evener):
        if command[0] in RARE:
            continue
        for name, placeholder, _ in options(evener, command):
            if placeholder and placeholder not in ("FILE", "DIR", "FOLDER"):
                mixed += [(command, name, value) for value in EXTREMES]
    Random(0).shuffle(mixed)

    def case(random, number):
        command, name, value = mixed[number % len(mixed)]
        words = [*command, *BASE.get(command, BASE.get(command[:1], [])), *need.get(name, []), f"--{name}", value]
        return {"words": words, "files": files, "patience": 2}
    return case


def known_values():
    with open(os.path.join(HERE, "seeds", "values")) as file:
        return [line for line in file.read().split("\n") if line and not line.startswith("#")]


def value(random, placeholder, text, known):
    """A value: a place where one is wanted, an example, hostile ones, numbers, and mutations of all these."""
    if placeholder in ("FILE", "DIR", "FOLDER") and random.random() < 0.6:
        return random.choice(PLACES)
    how = random.random()
    if how < 0.25:
        return random.choice(HOSTILE)
    if how < 0.5:
        return random.choice(mutate.NUMBERS)
    word = random.choice(examples(text) + known if random.random() < 0.6 else known)
    if how < 0.65:
        return word
    return mutate.mutate(random, [os.fsencode(word)], (mutate.TEXT)).replace(b"\0", b"0")


def cases(evener, files):
    """(random, number) -> case: a command, its base, and one to four options with values that nobody expects."""
    table = [(command, options(evener, command)) for command in commands(evener)]
    known = known_values()
    often = [one for one in table if one[0][0] not in RARE]

    def case(random, number):
        command, its = random.choice(table) if random.random() < 0.1 else random.choices(often, [1 + len(o) for _, o in often])[0]
        words = [*command, *BASE.get(command, BASE.get(command[:1], []))]
        for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4)) if its else 0):
            name, placeholder, text = random.choice(its)
            if not placeholder:
                words.append(f"--{name}" + random.choice(("", "", "", "=1")))
                continue
            given = os.fsencode(value(random, placeholder, text, known))
            words += [os.fsencode(f"--{name}=") + given] if random.random() < 0.3 else [f"--{name}", given]
        if random.random() < 0.1:
            words.insert(random.randrange(1, len(words) + 1), random.choice(HOSTILE))
        if random.random() < 0.03:
            words.pop()
        words = [os.fsdecode(word) for word in words]
        return {"words": words, "files": files, "patience": 2, "nodes": [["null", 1, 3], ["full", 1, 7]],
                "links": [["link", "new"], ["dangling", "missing/new"], ["loop", "loop"]], "statuses": (0, 1, 2, 3)}
    return case
