#!/usr/bin/env python3
"""What evener-cc takes, in time of a core: the example beside its compiler at -O2, and a line of a large file of directives and
bodies, rewritten and not compiled; and a whole program of a few lines beside the same compiler without directives, with its parts. Files
are in turn, and the least time of each counts.

Run: suite/bench/cc_lines.py build/evener-cc
"""
import os
import resource
import subprocess
import sys
import tempfile

COMMAND = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
text = "int g(int);\n"
for i in range(400):
    text += (f"void f{i}(int n, double *a) {{\n#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(dynamic, 2)\n"
             "    for (int z = 0; z < n; z++) {\n" + "        a[z] = a[z] * 2 + g(z); /* text */\n" * 45 + "    }\n}\n")


def seconds(words):
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


with tempfile.TemporaryDirectory() as folder:
    example = os.path.join(SOURCE, "examples", "zones.c")
    names = {"little": "int n;\n", "large": text}
    for name, content in names.items():
        with open(os.path.join(folder, name + ".c"), "w") as file:
            file.write(content)
    rewritten = os.path.join(folder, "zones.evn.c")
    subprocess.run([COMMAND, "--keep", "-c", example, "-o", os.path.join(folder, "zones.o")], check=True)
    flags = subprocess.run([COMMAND, "--compile-flags"], capture_output=True, text=True, check=True).stdout.split()
    flags += ["-iquote", os.path.dirname(example)]
    first, program = os.path.join(SOURCE, "examples", "first.c"), os.path.join(folder, "first")
    compiler = os.environ.get("EVENER_CC", "gcc").split()
    commands = {"little": [COMMAND, "--source", os.path.join(folder, "little.c")],
                "large": [COMMAND, "--source", os.path.join(folder, "large.c")],
                "rewriting": [COMMAND, "--source", example],
                "preprocessed": [COMMAND, "--preprocessed", "--source", example],
                "whole": [COMMAND, "-O2", first, "-o", program, "-lm"],
                "plain": [*compiler, "-O2", first, "-o", program, "-lm", "-I" + os.path.join(SOURCE, "include")],
                "compiled": [COMMAND, "-O2", "-c", first, "-o", program + ".o"],
                "linked": [COMMAND, program + ".o", "-o", program, "-lm"],
                "compiling": [*compiler, "-O2", "-c", rewritten, *flags, "-o", os.path.join(folder, "zones.o")]}
    least = {}
    for _ in range(15):
        for name, words in commands.items():
            least[name] = min(least.get(name, 1e9), seconds(words))
lines = text.count("\n")
print(f"examples/zones.c: rewriting {least['rewriting'] * 1e3:.2f} ms, {least['rewriting'] / least['compiling']:.3f} of what "
      f"{' '.join(compiler)} -O2 takes, {least['compiling'] * 1e3:.1f} ms; preprocessed first, {least['preprocessed'] * 1e3:.1f} ms")
print(f"{lines} lines with 400 directives: {least['large'] * 1e3:.1f} ms, {(least['large'] - least['little']) / lines * 1e6:.2f} us a line")
print(f"examples/first.c to a program: {least['whole'] * 1e3:.0f} ms, {least['whole'] / least['plain']:.2f} of {' '.join(compiler)} -O2 without directives; "
      f"compiling {least['compiled'] * 1e3:.0f} ms, linking {least['linked'] * 1e3:.0f} ms")
