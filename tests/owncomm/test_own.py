"""Programs with an MPI of their own, on communicators that they give (evn_open_comm()): C and Fortran, Open MPI and MPICH; heat beside a
server of files; what is refused; directives on each rank with halos by MPI between them (examples/tiles.c). Run: ctest -R own-mpi. usage: test_own.py SOURCE BUILD KIND"""
import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import programs  # pylint: disable=wrong-import-position

SOURCE, BUILD, KIND = sys.argv[1:4]
WIRES = {k: os.path.join(BUILD, "lib", "evener", f"evener-wire-{k}.so") for k in ("openmpi", "mpich")}
HERE = os.path.join(SOURCE, "tests", "owncomm")
ENV = programs.clean(EVENER_OVERSUBSCRIBE="1", EVENER_UNITS="1:CPU:1", LC_ALL="C", EVENER_WIRE=WIRES[KIND])


def run(words, **env):
    return programs.ended(words, env=ENV, **env)


def fine(done):
    if done.returncode:
        sys.exit(f"{done.args}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def same(what, got, expected):
    if not re.fullmatch(expected, got, re.DOTALL):
        sys.exit(f"{what}: got\n{got}\nexpected\n{expected}")


def tiles(launcher, mpicc, folder):
    """The sum of the plain compiler's program on one rank, on any ranks and units; directives were run, each once a step on each rank."""
    source, plain, program = (os.path.join(folder, name) for name in ("tiles.c", "plain", "tiles"))
    shutil.copy(os.path.join(SOURCE, "examples", "tiles.c"), source)
    fine(run([mpicc, "-O2", "-Wall", "-Wextra", "-Wno-unknown-pragmas", source, "-o", plain]))
    fine(run([os.path.join(BUILD, "evener-cc"), "-O2", "-Wall", "-Wextra", source, "-o", program], EVENER_CC=mpicc))
    expected = fine(run([*launcher, "1", plain]))
    same("tiles, serial", expected, r"\d+\.\d+\n")
    for ranks, units in (1, "2:CPU:1"), (2, "1:CPU:1"), (3, "2:CPU:1"):
        same(f"tiles, plain, {ranks} ranks", fine(run([*launcher, str(ranks), plain])), re.escape(expected))
        done = run([*launcher, str(ranks), program], EVENER_UNITS=units, EVENER_REPORT="1")
        same(f"tiles, {ranks} ranks of {units}", fine(done), re.escape(expected))
        lines = re.findall(r"tiles\.c:\d+: (\d+) instances", done.stderr)
        if lines != ["100"] * 2 * ranks:
            sys.exit(f"tiles, {ranks} ranks: directives were not run: {done.stderr}")


def main():
    mpicc, mpifort = (shutil.which(f"{name}.{KIND}") for name in ("mpicc", "mpifort"))
    if not programs.mpirun(KIND) or not mpicc or not os.path.exists(WIRES[KIND]):
        print(f"no {KIND} here")
        sys.exit(77)
    launcher = [*programs.mpirun(KIND), "-n"]
    libraries = run([os.path.join(BUILD, "evener-cc"), "--link-flags"]).stdout.split()
    libraries = [w for w in libraries if not w.startswith("-Wl,--wrap")]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "own")
        include = os.path.join(SOURCE, "include")
        kernels = next(os.path.join(r, "heat_kernels.c") for r, _, f in os.walk(BUILD) if "heat_kernels.c" in f)
        fine(run([mpicc, "-std=gnu11", "-O1", "-fopenmp", "-Wall", "-Wextra", "-DEVN_CONTRACT=0", "-I", include,
                  os.path.join(HERE, "own.c"), kernels, *libraries, "-o", program]))
        for ranks in 2, 4:
            out = sorted(fine(run([*launcher, str(ranks), program])).splitlines())
            others = ranks - 1
            blocks = ["1:CPU:1: 0 blocks are wrong"] * (2 + min(2, others))
            if out != blocks + [f"the server has {3 * others * ranks // 2} of {3 * others * ranks // 2}"]:
                sys.exit(f"{ranks} ranks: {out}")
        said = fine(run([*launcher, "4", program, "refused"]))
        same("refused", said, r"inter: bad input[^\n]*an inter-communicator; [^\n]*\nnone: bad input[^\n]*communicator -?\d+ is none; [^\n]*\n")
        said = fine(run([*launcher, "2", program, "single"]))
        same("single", said, r"(single: [^\n]*thread level \d, and MPI_THREAD_SERIALIZED \(\d\) is needed[^\n]*\n)?")
        done = run([*launcher, "2", program, "late"])
        same("late", "".join(sorted(done.stdout.splitlines(True))), r"(late: [^\n]*a communicator after MPI_Finalize\(\)[^\n]*\n){2}"
             r"(late: [^\n]*MPI_Finalize\(\) was called while ranks are in use; [^\n]*\n){2}")
        other = next(k for k in WIRES if k != KIND)
        if os.path.exists(WIRES[other]):
            done = run([*launcher, "2", program], EVENER_WIRE=WIRES[other])
            same("another MPI's plug-in", done.stdout + done.stderr, r".*the plug-in is made for (MPICH|Open MPI), and this program's MPI is .*")
        if mpifort and shutil.which("gfortran"):
            objects = []
            for name in os.path.join(include, "evener", "fortran", "evener.f90"), os.path.join(HERE, "own.f90"):
                objects.append(os.path.join(folder, os.path.basename(name) + ".o"))
                fine(run([mpifort, "-fopenmp", "-J", folder, "-c", name, "-o", objects[-1]]))
            fine(run([mpifort, "-fopenmp", *objects, *libraries, "-o", program + "f"]))
            same("Fortran", fine(run([*launcher, "4", program + "f"])).replace(" ", ""), "fine\n")
        tiles(launcher, mpicc, folder)
    print(f"own-mpi: heat beside a server by {KIND}, in groups; refusals; directives with halos by MPI")


main()
