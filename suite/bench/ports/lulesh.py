#!/usr/bin/env python3
"""LULESH 2.0 (LLNL) on Evener: its loop over materials by one directive of evener-c++, and by <evener.hpp>; beside the original with
OpenMP, in turn. Materials are regions of unequal size whose equations of state are evaluated 1, 2 or 20 times.

    suite/bench/ports/lulesh.py LULESH BUILD [--size N] [--regions R] [--steps I] [--rounds K] [--threads 1,2] [--keep FOLDER]

LULESH: a folder with its source, as of its repository. Nothing of it is in this tree: the script changes a copy, and says the lines. The
energy at the origin and the number of cycles are compared, then the time that the program itself prints."""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

LOOP = re.compile(r"^ *for \(Int_t r=0 ; r<domain\.numReg\(\) ; r\+\+\) \{$", re.MULTILINE)
END = "       EvalEOSForElems(domain, vnewc, numElemReg, regElemList, rep);\n    }\n"
WORK = "domain.regElemSize(r) * (r < domain.numReg() / 2 ? 1 : r < domain.numReg() - (domain.numReg() + 15) / 20 ? 2 : 20)"
DIRECTIVE = f"#pragma omp teams distribute num_teams(2:CPU:1) weight({WORK})\n"
HEADER = """    static evn::session session;
    static evn::loop loop = [&] {
        std::vector<double> work;
        for (Int_t r = 0; r < domain.numReg(); r++) work.push_back(%s);
        return session.open_loop(work);
    }();
    loop.run([&](const evn::batch &batch) { for (const Int_t r : batch) {
""" % WORK


def changed(text, way):
    """lulesh.cc with the loop over materials given to units; what was added and changed, in lines."""
    found = LOOP.search(text)
    if not found or END not in text:
        sys.exit("lulesh.cc has no loop over domain.numReg() as in LULESH 2.0.3")
    at = found.start()
    if way == "directive":
        return text[:at] + DIRECTIVE + text[at:], 1
    text = text[:at] + HEADER.rstrip("\n") + text[found.end():]
    text = "#include <evener.hpp>\n#include <vector>\n" + text.replace(END, END.replace("    }\n", "    }});\n"))
    return text, HEADER.count("\n") + 3


def build(folder, way, source, tree, threads):
    here = os.path.join(folder, way)
    shutil.copytree(source, here, ignore=shutil.ignore_patterns(".git"))
    lines = 0
    if way != "original":
        name = os.path.join(here, "lulesh.cc")
        with open(name) as file:
            text, lines = changed(file.read(), way)
        with open(name, "w") as file:
            file.write(text)
    files = sorted(os.path.join(here, f) for f in os.listdir(here) if f.endswith(".cc"))
    include = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "include")
    command = ["g++"]
    libraries = []
    if way == "directive":
        command = [os.path.join(tree, "evener-c++")]
    if way == "header":
        words = subprocess.run([os.path.join(tree, "evener-cc"), "--link-flags"], capture_output=True, text=True, check=True).stdout.split()
        libraries = [w for w in words if not w.startswith("-Wl,--wrap")]
    subprocess.run([*command, "-O3", "-fopenmp", "-std=c++17", "-w", "-DUSE_MPI=0", "-I" + here, "-I" + include, *files, *libraries,
                    "-o", os.path.join(here, "lulesh")], check=True)
    return lines


def run(folder, way, threads, words):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "EVENER_"))}
    env["OMP_NUM_THREADS"] = str(threads)
    env["EVENER_UNITS"] = f"{threads}:CPU:1"
    done = subprocess.run([os.path.join(folder, way, "lulesh"), *words], capture_output=True, text=True, env=env, check=True)
    def number(what):
        return re.search(rf"{what} *= *(\S+)", done.stdout).group(1)
    return float(number("Elapsed time")), number("Final Origin Energy"), number("Iteration count")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--size", type=int, default=30)
    parser.add_argument("--regions", type=int, default=11)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--keep")
    o = parser.parse_args()
    words = ["-s", str(o.size), "-r", str(o.regions), "-i", str(o.steps)]
    with tempfile.TemporaryDirectory() as folder:
        folder = o.keep or folder
        ways = ["original", "directive", "header"]
        for way in ways:
            lines = build(folder, way, o.source, os.path.abspath(o.build), 1)
            print(f"{way}: {lines} lines", flush=True)
        wrong = False
        for threads in map(int, o.threads.split(",")):
            seconds = {way: [] for way in ways}
            answers = {}
            for _ in range(o.rounds):
                for way in ways:
                    s, energy, cycles = run(folder, way, threads, words)
                    seconds[way].append(s)
                    answers.setdefault((energy, cycles), set()).add(way)
            for (energy, cycles), of in answers.items():
                print(f"{threads} threads: energy {energy} after {cycles} cycles: {', '.join(w for w in ways if w in of)}")
            wrong |= len(answers) != 1
            base = statistics.median(seconds["original"])
            for way in ways:
                s = sorted(seconds[way])
                print(f"{threads} threads, {way}: {statistics.median(s):.3f} s ({s[0]:.3f} to {s[-1]:.3f}), "
                      f"{statistics.median(s) / base:.3f} of the original's")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
