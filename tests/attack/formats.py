"""The formats that evener reads: for each its seeds, the commands that read it, and what mutates it.

A format is a function of the evener under test that gives a function (random, number of the case) -> case. To add one, write it and name it in
FORMATS; what it needs of evener's own files comes from seeds.Maker.
"""
import checksums
import mutate
import seeds

BODY = ["run", "td-bem", "--mesh", "sphere:0"]
QUIET = ["--quiet", "--units", "1:CPU:1"]


def of_file(name, found, commands, mutations, others=None, mend=None):
    """Cases of one file that is an input: work/NAME, with any of the commands."""
    def case(random, number):
        data = mutate.mutate(random, found, mutations)
        if mend and random.random() < 0.8:
            data = mend(random, data)
        return {"words": random.choice(commands), "files": {f"work/{name}": data, **(others or {})}}
    return case


def meshes(end, found, mutations):
    """Read alone, in a run with results, and in a plan."""
    name = f"m.{end}"
    run = ["run", "td-bem", "--mesh", name, *QUIET]
    commands = [[*run, "--steps", "2", "--json", "r.json"],
                [*run, "--steps", "3", "--vertices", "0", "--vertex-output", "v.csv", "--problem", "soft"],
                [*run, "--entries", "e"],
                ["plan", "td-bem", "--mesh", name, "--quiet", "--json", "p.json"]]
    return of_file(name, found, commands, mutations, {"work/e": b"0 0 0\n1 1 0\n"})


def entries(evener):
    return of_file("e", seeds.texts("entries"), [[*BODY, "--entries", "e"]], mutate.TEXT)


def probes(evener):
    return of_file("p", seeds.texts("probes"), [[*BODY, *QUIET, "--steps", "3", "--probes", "p", "--probe-output", "o.csv"]],
                   mutate.TEXT)


def machine(evener):
    commands = [["plan", "bt-mz", "--machine", "m.json", "--iterations", "2", "--json", "p.json", "--quiet"],
                ["plan", "sp-mz", "--machine", "m.json", "--schedule", "map", "--units", "1:GPU:1,2:CPU:1"],
                ["bench", "schedules", "--classes", "S", "--steps", "2", "m.json"]]
    return of_file("m.json", seeds.texts("machine"), commands, mutate.JSON)


PUBLISHED = b"""{"about": "few", "papers": [{"paper": "000", "title": "A paper", "about": "of it", "errors": ["one"]}],
 "outputs": {"some": "plan $1 --class S --units $2:CPU:1 --schedule static --json - --quiet"}, "paths": {"load": "some{$1 $2}.iterations[0].load"},
 "items": [
  {"paper": "000", "item": "one", "what": "a sum", "kind": "V", "value": [2.0, 3], "unit": "x", "legible": true, "where": "here",
   "ours": ["1 + 1", "list(3)"], "evidence": ["fitted", null], "second": ["published{000/two}[0]", ["1", "2"]], "band": [0.5, 2], "wanted": "more",
   "because": "published{000/two}[0] > 3", "reason": "none"},
  {"paper": "000", "item": "two", "what": "loads", "kind": "C", "value": [4], "where": "there", "ours": ["count(load{bt-mz 2|1})"],
   "band": [0.1, 9], "holds": "1 < 2"},
  {"paper": "000", "item": "three", "what": "a text", "kind": "T", "value": "yes", "where": "there", "range": [[1, 2]], "ours": ["1.5"], "reason": "why"}],
 "pictures": [
  {"paper": "000", "title": "Lines", "about": "of it", "draw": "lines", "along": "CPUs",
   "series": [{"label": "ours", "x": [1, 2], "y": ["list(1, 2)"]}, {"label": "published", "x": [1, 2], "y": [2.5, 3]}]},
  {"paper": "000", "title": "Bars", "draw": "bars", "parts": ["a", "b"], "rows": [
   {"head": "h", "label": "l", "parts": "list(1, 2)", "note": "so <1 + 1> it is"}]},
  {"paper": "000", "title": "Maps", "draw": "timelines", "only": "exchange", "plans": [{"plan": "some{bt-mz 2}", "label": "static"}]}]}
"""


def published(evener):
    outputs = ["--json", "o.json", "--page", "o.md", "--report", "o.html"]
    commands = [["bench", "papers", "--published", "p.json", "--quiet", *outputs], ["bench", "papers", "--published", "p.json"]]

    def case(random, number):
        make = of_file("p.json", [PUBLISHED], commands, mutate.JSON)
        return {**make(random, number), "statuses": (0, 1, 2, 3)}
    return case


def units_file(evener):
    found = [b"# nodes\nlocalhost 2:CPU:1\n* 1:CPU:1,1:GPU:1\n"]
    run = ["run", "bt-mz", "--steps", "1", "--quiet", "--units", "u", "--oversubscribe"]
    return of_file("u", found, [run, [*run, "--processes", "2"], ["plan", "bt-mz", "--units", "u"]], mutate.TEXT)


def plan_file(evener):
    found = of_maker(evener, seeds.Maker.plans) + [b"static 16 tasks 2 units: 8*0 8*1\n"]
    words = ["bt-mz", "--plan", "p.json", "--units", "2:CPU:1", "--quiet"]
    return of_file("p.json", found, [["run", *words, "--steps", "1", "--oversubscribe"], ["plan", *words]], mutate.JSON)


def of_maker(evener, make):
    maker = seeds.Maker(evener)
    try:
        return make(maker)
    finally:
        maker.close()


def times(evener):
    commands = [["plan", "bt-mz", "--times", "r.json", "--quiet", "--json", "p.json", "--units", "2:CPU:1"],
                ["plan", "bt-mz", "--times", "r.json", "--units", "1:CPU:1,1:GPU:1"]]
    return of_file("r.json", of_maker(evener, seeds.Maker.records), commands, mutate.JSON)


def report(evener):
    found = of_maker(evener, lambda m: m.records() + m.records("td-bem") + m.plans())
    commands = [["report", "r.json", "--output", "o.html"], ["report", "r.json", "other.json", "--output", "-"]]
    return of_file("r.json", found, commands, mutate.JSON, {"work/other.json": found[0]})


def calibration(evener):
    place, content = of_maker(evener, seeds.Maker.calibration)
    commands = [["run", "bt-mz", "--steps", "1", "--quiet", "--schedule", "weighted", "--units", "2:CPU:1", "--oversubscribe"],
                ["run", "bt-mz", "--steps", "1", "--quiet"],
                ["plan", "bt-mz", "--quiet", "--units", "2:CPU:1"],
                ["calibrate", "bt-mz", "--steps", "1", "--units", "1:CPU:1", "--quiet"]]

    def case(random, number):
        return {"words": random.choice(commands), "files": {place: mutate.mutate(random, [content], mutate.JSON)},
                "inout": [place]}
    return case


def checkpoint(evener):
    found = of_maker(evener, seeds.Maker.checkpoints)
    run = [*BODY, *QUIET, "--steps", "20", "--json", "r.json", "--restart", "c", *seeds.CHECKPOINT_OUTPUTS]
    return of_file("c", found, [run], mutate.BINARY, mend=checksums.mend_state)


def states(app, *size):
    """Of FT, of MG, and of NPB-MZ: alone and on two ranks."""
    def of(evener):
        found = of_maker(evener, lambda maker: maker.states(app, *size))
        run = ["run", app, *size, "--steps", "3", "--quiet", "--units", "1:CPU:1", "--json", "r.json", "--restart", "c"]
        commands = [run, run, [*run, "--processes", "2", "--oversubscribe"], [*run, "--checkpoint", "d"]]
        return of_file("c", found, commands, mutate.BINARY, mend=checksums.mend_state)
    return of


def matrices(evener):
    found = of_maker(evener, seeds.Maker.matrices)
    run = [*BODY, *QUIET, "--steps", "2", "--json", "r.json", "--matrices", "m"]
    commands = [run, [*run, "--layout", "contiguous"], [*run, "--layout", "full:4x16"], [*run, "--memory", "1MB"]]
    return of_file("m", found, commands, mutate.BINARY, mend=checksums.mend_matrices)


def kernels(evener):
    """The cache of compiled kernels. No sum is mended: who can forge one can write any program there."""
    found = of_maker(evener, seeds.Maker.kernels)
    if not found:
        return None

    def case(random, number):
        at = random.randrange(len(found))
        files = dict(found)
        files[found[at][0]] = mutate.mutate(random, [found[at][1]], mutate.BINARY)
        return {"words": ["run", "bt-mz", "--steps", "1", "--quiet", "--units", "1:GPU:1", "--devices", "opencl"],
                "files": files, "inout": ["kernels"], "environment": {"EVENER_CACHE": "../kernels"}}
    return case


FORMATS = {
    "off": lambda evener: meshes("off", seeds.off(), mutate.TEXT),
    "obj": lambda evener: meshes("obj", seeds.obj(), mutate.TEXT),
    "stl": lambda evener: meshes("stl", seeds.stl(), mutate.TEXT),
    "stl-binary": lambda evener: meshes("stl", seeds.stl_binary(), mutate.BINARY),
    "msh": lambda evener: meshes("msh", seeds.msh(False) + seeds.texts("msh"), mutate.TEXT),
    "msh-binary": lambda evener: meshes("msh", seeds.msh(True), mutate.BINARY),
    "probes": probes,
    "entries": entries,
    "machine": machine,
    "published": published,
    "units-file": units_file,
    "plan-file": plan_file,
    "times": times,
    "report": report,
    "calibration": calibration,
    "checkpoint": checkpoint,
    "state-ft": states("ft", "--size", "16x8x8"),
    "state-mg": states("mg", "--size", "16"),
    "state-mz": states("lu-mz"),
    "matrices": matrices,
    "kernels": kernels,
}
