#!/usr/bin/env python3
"""Programs of others with kernels made of their loops: CloverLeaf's C kernels, CoMD's ljForce, XSBench's lookup.

Takes the folders of the originals, which are not part of Evener, changes a copy of each by the rules below, compiles it with
`evener-cc --kernels` and prints one hash for each list of units; the first line is the original, compiled without Evener's units.
Run: suite/bench/ports.py build/evener-cc [--cloverleaf DIR] [--comd DIR] [--xsbench DIR] [--opencl] [--cuda]
     (CloverLeaf_OpenMP; CoMD's src-openmp; XSBench's openmp-offload)
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-std=gnu99", "-O2", "-w", "-ffp-contract=off"]
KERNELS = ("ideal_gas viscosity calc_dt PdV revert accelerate flux_calc advec_cell advec_mom reset_field field_summary").split()
UNITS = 'OMP_CU(num_teams(1:CPU:1))'

# file: (pattern, what stands there instead); each is one line of the port
COMD = {
    "linkCells.h": [(r"int\*\* nbrBoxes", "int (*nbrBoxes)[27]")],
    "linkCells.c": [(r"sizeof\(int\*\)", "sizeof *ll->nbrBoxes"), (r".*nbrBoxes\[iBox\] = comdMalloc.*", "")],
    "ljForce.c": [(r"omp parallel for", "omp target teams distribute parallel for")],
    "timestep.c": [
        (r"\A", "#include <omp_cu.h>\n#include <stdio.h>\n"),
        (r"(s->pot->force\(s\);)",
         "static int known;\nint all = s->boxes->nTotalBoxes;\nAtoms *a = s->atoms;\nLinkCell *l = s->boxes;\n"
         "if (!known++)\n omp_register(a->r, sizeof(real3) * all * MAXATOMS), omp_register(a->f, sizeof(real3) * all * MAXATOMS),\n"
         " omp_register(a->U, sizeof(real_t) * all * MAXATOMS), omp_register(l->nAtoms, sizeof(int) * all),\n"
         " omp_register(l->nbrBoxes, sizeof(int) * 27 * all);\n"
         f"#pragma omp teams distribute {UNITS}\nfor (int once = 0; once < 1; once++)\n \\1\n"
         "omp_migrate(a->r), omp_migrate(a->f), omp_migrate(a->U), omp_migrate(l->nAtoms), omp_migrate(l->nbrBoxes);\n"
         "unsigned long long h = 1, b;\nfor (int i = 0; i < all * MAXATOMS; i++)\n for (int m = 0; m < 4; m++)\n"
         '  __builtin_memcpy(&b, m < 3 ? &a->f[i][m] : &a->U[i], 8), h = (h ^ b) * 1099511628211ull;\nprintf("hash %016llx\\\\n", h);')],
}
XSBENCH = {
    "Simulation.c": [
        (r"\A", "#include <omp_cu.h>\n"),
        (r"(#pragma omp target)",
         f"omp_register(verification, in.lookups * sizeof *verification);\n#pragma omp teams distribute {UNITS}\n"
         "for (int once = 0; once < 1; once++)\n\\1"),
        (r"(unsigned long long validation_hash)", "omp_migrate(verification);\n\\1")],
    "Main.c": [
        (r"\A", "#include <omp_cu.h>\n"),
        (r"(verification = run_event_based_simulation\(.*?\);)",
         "{ " + " ".join(f"omp_register(SD.{n}, SD.length_{n} * sizeof *SD.{n});" for n in
                         ("num_nucs", "concs", "mats", "unionized_energy_array", "index_grid", "nuclide_grid")) + " \\1 }")],
}


def run(words, fine=(0,), folder=None, **env):
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1", **env})
    if done.returncode not in fine:
        raise SystemExit(" ".join(words[:3]) + ":\n" + done.stderr)
    return done.stdout


def changed(folder, copy, rules):
    shutil.copytree(folder, copy)
    for name, pairs in rules.items():
        path = os.path.join(copy, name)
        with open(path) as file:
            text = file.read()
        for pattern, instead in pairs:
            text, count = re.subn(pattern, instead, text)
            if not count:
                raise SystemExit(f"{name}: no {pattern}: another version than the rules are for")
        with open(path, "w") as file:
            file.write(text)


def comd(o, folder):
    with open(os.path.join(folder, "CoMD_info.h"), "w") as file:
        for word in "VARIANT HOSTNAME KERNEL_NAME KERNEL_RELEASE PROCESSOR COMPILER COMPILER_VERSION CFLAGS LDFLAGS".split():
            file.write(f'#define CoMD_{word} ""\n')
    return sorted(glob.glob(os.path.join(folder, "*.c"))), ["-DDOUBLE"], "-x 4 -y 4 -z 4 -N 3 -n 1", r"^hash (\w+)"


def xsbench(o, folder):
    return sorted(glob.glob(os.path.join(folder, "*.c"))), [], "-m event -s small -g 100 -l 100000", r"checksum: (\d+)"


CLOVERLEAF_MAIN = """
static unsigned long long h = 1;
static void hash(const double *a, int n) {
    unsigned long long b;
    for (int i = 0; i < n; i++) __builtin_memcpy(&b, a + i, 8), h = (h ^ b) * 1099511628211ull;
}
"""


def scalar(kernel, name):
    """What a kernel is given for a parameter that is no array."""
    known = {"xmin": "1", "ymin": "1", "xmax": "NX", "ymax": "NY", "gsmall": "1e-16", "gbig": "1e21", "dtminval": "1e20",
             "mindt": "1e-30", "prdct": "pass", "drctn": "1 + pass", "dr": "1 + pass", "swp_nmbr": "1 + pass", "swpnmbr": "1 + pass",
             "vctr": "0", "dbyt": "0.01", "dtbyt": "0.01", "dt": "0.01"}
    return known.get(name, "0.7" if name.startswith("dt") else "1")


def cloverleaf(o, folder):
    """The kernels as they are but for the words of their directives, called twice one after another."""
    sources, declared, calls, arrays, variables = [], [], [], set(), []
    for kernel in KERNELS:
        with open(os.path.join(o.cloverleaf, kernel + "_kernel_c.c")) as file:
            text = file.read()
        hidden = re.findall(r"^#pragma omp parallel private\((\w+)\)", text, re.M)
        text = re.sub(r"^#pragma omp parallel\b.*\n", "", text, flags=re.M)
        text = re.sub(r"^#pragma omp for\b", "#pragma omp target teams distribute parallel for" +
                      "".join(f" private({n})" for n in hidden), text, flags=re.M)
        sources.append(os.path.join(folder, kernel + ".c"))
        with open(sources[-1], "w") as file:
            file.write(text)
        name, parameters, body = re.search(r"void (\w+_kernel_c_)\s*\((.*?)\)\s*\{(.*)", text, re.S).groups()
        declared.append(f"void {name}({parameters});")
        given = []
        for kind, n in re.findall(r"(int|double)\s*\*\s*(\w+)", parameters):
            if re.search(rf"\b{n}\[", body):
                arrays.add(n)
                given.append(n)
            else:
                variables.append(f"static {kind} {kernel}_{n};")
                given.append(f"({kernel}_{n} = {scalar(kernel, n)}, &{kernel}_{n})")
        calls.append(f"            {name}({', '.join(given)});")
    arrays = sorted(arrays)
    shutil.copy(os.path.join(o.cloverleaf, "ftocmacros.h"), folder)
    lines = ["#include <omp_cu.h>", "#include <stdio.h>", "enum { NX = 150, NY = 90, N = (NX + 6) * (NY + 6) };", *declared, *variables]
    lines += [f"static double {a}[N];" for a in arrays] + [CLOVERLEAF_MAIN, "int main(void) {"]
    for a in arrays:
        lines.append(f"    for (int i = 0; i < N; i++) {a}[i] = 1 + i * {7 + 2 * len(a)} % 97 / {300. if 'vel' in a else 150.};")
        lines.append(f"    omp_register({a}, sizeof {a});")
    lines += ["    for (int pass = 0; pass < 2; pass++) {", f"#pragma omp teams distribute {UNITS}",
              "        for (int once = 0; once < 1; once++) {", *calls, "        }"]
    lines += [f"        omp_migrate({a}), hash({a}, N);" for a in arrays]
    lines += ["        hash(&calc_dt_dtminval, 1);", '        printf("hash %016llx\\n", h);', "    }", "    return 0;", "}"]
    main = os.path.join(folder, "main.c")
    with open(main, "w") as file:
        file.write("\n".join(lines) + "\n")
    return [main, *sources], [], "", r"^hash (\w+)"


def show(o, title, sources, options, words, pattern):
    program = sources[0] + ".program"
    include = ["-I", os.path.join(HERE, "..", "..", "include"), "-I", os.path.dirname(sources[0])]
    print(title)
    for command, lists in ((["cc"], [("", "")]),
                           ([o.compiler, "--kernels"], [("1:CPU:2", "emulated"), ("1:GPU:1", "emulated")] + [("1:GPU:1", "opencl")] * o.opencl +
                            [("1:GPU:1", "cuda")] * o.cuda)):
        run([*command, *FLAGS, *options, *include, *sources, "-o", program, "-lm", *(["-lgomp"] if command == ["cc"] else [])])
        for units, devices in lists:
            env = {"EVENER_UNITS": units, "EVENER_DEVICES": devices, "EVENER_OVERSUBSCRIBE": "1"} if units else {}
            # 1: XSBench's, of a size that it has no checksum of
            found = re.findall(pattern, run([program, *words.split()], (0, 1), os.path.dirname(program), **env), re.M)
            print(f"  {units + ' ' + devices if units else 'serial':20} {found[-1]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("compiler")
    for name in ("cloverleaf", "comd", "xsbench"):
        parser.add_argument("--" + name, metavar="DIR")
    parser.add_argument("--opencl", action="store_true")
    parser.add_argument("--cuda", action="store_true", help="a GPU, or what EVENER_LIBCUDA names in its driver's place")
    o = parser.parse_args()
    o.compiler = os.path.abspath(o.compiler)
    for title, rules, build in (("comd", COMD, comd), ("xsbench", XSBENCH, xsbench)):
        if not getattr(o, title):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            copy = os.path.join(scratch, title)
            changed(getattr(o, title), copy, rules)
            show(o, title, *build(o, copy))
    if o.cloverleaf:
        with tempfile.TemporaryDirectory() as scratch:
            show(o, "cloverleaf", *cloverleaf(o, scratch))


if __name__ == "__main__":
    main()
