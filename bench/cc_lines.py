#!/usr/bin/env python3
"""What evener-cc takes for a line of C, in time of a core: a large file of directives and bodies, rewritten and not compiled.

Run: bench/cc_lines.py build/evener-cc
"""
import os
import resource
import subprocess
import sys
import tempfile

text = "int g(int);\n"
for i in range(400):
    text += (f"void f{i}(int n, double *a) {{\n#pragma omp teams distribute num_teams(2:CPU:1) dist_schedule(dynamic, 2)\n"
             "    for (int z = 0; z < n; z++) {\n" + "        a[z] = a[z] * 2 + g(z); /* text */\n" * 45 + "    }\n}\n")
with tempfile.TemporaryDirectory() as folder:
    times = {}
    for what, content in (("little", "int n;\n"), ("large", text)):
        name = os.path.join(folder, what + ".c")
        with open(name, "w") as file:
            file.write(content)
        times[what] = []
        for _ in range(9):
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.argv[1], "--source", name], stdout=subprocess.DEVNULL, check=True)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            times[what].append(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)
lines = text.count("\n")
print(f"a file of one line: {min(times['little']) * 1e3:.1f} ms; {lines} lines with 400 directives: "
      f"{min(times['large']) * 1e3:.1f} ms, {min(times['large']) / lines * 1e6:.2f} us a line")
