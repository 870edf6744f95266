#!/usr/bin/env python3
"""gdb shows open handles by share/gdb/evener-gdb.py: loop, schedule, units, batch and exchange of examples/adaptive.c. The library of a build without -g
has no structures to tell; those of this test's program are the same. Run: ctest -R '^gdb$'. usage: test_gdb.py SOURCE BUILD"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = sys.argv[1:3]
STRUCTURES = """#include "exchange/plan.h"
#include "schedule/policy.h"
#include "unit/internal.h"
struct evn_loop *a_loop; struct evn_schedule *a_schedule; struct evn_units *some_units; struct evn_exchange *an_exchange; struct evn_batch *a_batch;
"""
COMMANDS = ["source %s/share/gdb/evener-gdb.py" % SOURCE, "break adaptive.c:change", "run", "print loop", "print halo", "print (evn_loop *)0", "break adaptive.c:body",
            "continue", "print batch", "print batch->loop->schedule"]
EXPECTED = [r"\$1 = 0x\w+: 16 tasks, 0 instances, 0 migrations = \{schedule = 0x\w+: static, 16 tasks on 2 units, instance 0, settled = \{owners = 8\*0 8\*1\}, "
            r"units = 0x\w+: 2:CPU:1 = \{unit 0 = CPU, 1 cores, speed 1, unit 1 = CPU, 1 cores, speed 1\}, owners = 8\*0 8\*1\}$",
            r"\$2 = 0x\w+: 30 faces of 16 tasks, no plan yet$", r"\$3 = (\(evn_loop \*\) )?0x0$",
            r"\$4 = 0x\w+: \d+ tasks of unit [01] on cores, 0 begun = \{tasks = \d+( \d+)*\}$", r"\$5 = 0x\w+: static, \d+ tasks on 2 units, instance \d+, settled = "]


def main():
    with open(os.path.join(BUILD, "CMakeCache.txt")) as cache:
        sanitized = re.search(r"^EVENER_SANITIZE:\w+=.", cache.read(), re.M)
    if sanitized or not shutil.which("gdb"):
        print("gdb: there is none, or the build has sanitizers")
        return 77
    environment = {**os.environ, "PKG_CONFIG_PATH": BUILD, "EVENER_UNITS": "2:CPU:1", "EVENER_OVERSUBSCRIBE": "1", "EVENER_SCHEDULE": "static"}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "evener"], capture_output=True, text=True, env=environment, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        structures, program = os.path.join(folder, "structures.c"), os.path.join(folder, "program")
        with open(structures, "w") as file:
            file.write(STRUCTURES)
        subprocess.run(["cc", "-g", "-O0", "-D_GNU_SOURCE", *[f"-I{SOURCE}/src{folder}" for folder in ("", "/core", "/ranks", "/observe")], structures, f"{SOURCE}/examples/adaptive.c", *shlex.split(flags), "-lm", "-o",
                        program], check=True)
        command = ["gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "set width 0"]
        for each in COMMANDS:
            command += ["-ex", each]
        done = subprocess.run([*command, program], capture_output=True, text=True, env=environment, timeout=240)
    said = done.stdout + done.stderr
    if "ptrace" in said or "not supported in this copy of GDB" in said:
        print(f"gdb: it may trace no program, or has no Python here\n{said[-500:]}")
        return 77
    wrong = [line for line in EXPECTED if not re.search(line, said, re.M)]
    print("\n".join(["gdb did not say", *wrong, said]) if wrong else "all handles are shown")
    return bool(wrong)


sys.exit(main())
