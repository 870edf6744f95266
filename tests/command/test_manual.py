#!/usr/bin/env python3
"""The commands that README and the pages of docs show: each has options that there are, runs, ends as the page says and prints what stands below it.

Commands are lines of code blocks that begin with `$ `, and those that begin with a word of COMMANDS. Lines below a command with `$ `, up to the
next one, are what it prints. Of these only numbers may differ, and as many blanks stand between words as there are; `...` is any lines. A page's commands run one
after another, in a folder that looks like the source tree with a build in it; what a page's reader has is made when a command names it (make()).

Run: ctest -R manual, or tests/command/test_manual.py SOURCE BUILD [test ..]; `--list` instead of tests shows all commands.
EVENER_MANUAL_TIMES=1 prints the processor time of each.
"""
import glob
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = ".", "build"
LONGEST = 300  # s a command
COMMANDS = r"(build/|evener[a-z+-]* |make |cmake |ctest |suite/bench/|tests/|python3 |mpirun |srun |cc |c\+\+ |gfortran |\./|apt |man |(for|export) |[A-Z_]+=\S* )"

# Commands that are not run, and why; the first expression found in the command counts. Their options are looked at all the same.
LEFT_OUT = (
    (r"(^|: )make |cmake --build|ctest ", "builds and tests trees: .ci/run, and the tests package and guest"),
    (r"apt install", "installs a package: the test package"),
    (r"suite/bench/gpu", "needs a GPU: the test gpu-script"),
    (r"srun ", "needs a cluster"),
    (r"EVENER_WATCH|evener watch", "watches a program that runs: the test watch"),
    (r"--npb|suite/bench/ports|suite/bench/npb_ft_mg", "needs sources of others"),
    (r"(: |[ ;])suite/bench/(?!machines)|build/bench-", "measures for minutes: the tests command-peers and npb-mz-mpi, and numbers of instructions by hand"),
    (r"bench (npbmz|td-bem|tasks|pinning|units|schedules --(planning|default))|--class D|sphere:[456]", "takes minutes: the studies' own tests"),
    (r"bench exchange --class C|bench ft --classes A", "takes minutes"),
    (r"(schedule|performance).md: .*bench schedules suite/bench/machines", "README's command has these files"),
    (r"model.md: .*(one|two).json", "of runs that take minutes"),
    (r"lu-mz --class B|lu.json", "takes a minute: run and report of other records are here"),
    (r"mpirun .* : |mpirun -n 8|CPU:8|2:CPU:4@|mpirun -n 4", "needs more cores than a test may ask for"),
    (r"mg --class A|bt-mz --class [BC] --processes", "takes a minute: the tests command-mg-devices and command-ranks"),
    (r"tests/|EVENER_TEST_DEVICE|EVENER_LIBCUDA", "tests by themselves"),
    (r"language\.md: .*\./(prog|zones)|language\.md: (evener-cc|evener-c\+\+|cc)|programs\.md: cc program", "the reader's own program: the tests cc-forms, "
     "cc-cxx and install"),
)
# Commands that take about a second of processor time or more: manual-rest.
LONG = (
    (r"bench (exchange|schedules|cluster|put|links)", ""),
    (r"README.md: .*--processes|run adaptive|cpp.md: ", ""),
    (r"--class A|run td-bem|plan td-bem|clock=virtual|calibrate|sphere:|uneven|ears.csv|static.json|record.json|--processes 3|fail=|aircraft|1:GPU:1.*emulated|model (bt|ft)", ""),
)
# Commands that a machine of two cores refuses.
CROWDED = r"--processes 3"
# Printed lines that depend on the machine, on times or on chance: pages whose figures are those of another machine.
VARIES = (
    (r"docs/device.md: *(devices )?(cuda|hip|opencl) ", "what this machine has"),
    (r"docs/hybrid.md: .*lost on purpose", "which launch is number 300 goes by the times of those before"),
)


class Command:
    def __init__(self, page, line, text, code):
        self.page, self.line, self.code = page, line, code
        # an explanation stands behind three blanks or more
        self.text = re.sub(r"(?<=\S)\s{3,}\S.*$", "", text) if not text.endswith("\\") else text
        self.printed = []

    def __str__(self):
        return f"{self.page}:{self.line}: {self.text}"

    def found(self, table):
        return next((why for expression, why in table if re.search(expression, f"{self.page}: {self.text}")), None)

    def left_out(self):
        if re.search(r"(^|[ =/])(?!EVENER|[A-Z_]+=)[A-Z]{3,}($|[ /])|\.\.$", self.text):
            return "a word stands for the reader's own"
        absent = [name for name in re.findall(r"(?:^|[ =])(gfortran|mpirun|evener-fc|evener-cc)(?= )", self.text)
                  if not shutil.which(name, path=f"{BUILD}:{os.environ['PATH']}")]
        return f"there is no {absent[0]}" if absent else self.found(LEFT_OUT)

    def is_long(self):
        return self.found(LONG) is not None

    def options(self):
        """The command's own words before the first option, and its options, where it is one of ours; None: another."""
        one = re.search(r"(?:^|[ ;])(?:build/)?evener (.*?)(?: : .*)?$", self.text.replace(" APP ", " bt-mz "))
        words = shlex.split(one.group(1), comments=True) if one and not re.match("suite/bench/|tests/", self.text) else []
        if not words or ".." in words:
            return None
        count = 2 if words[0] in ("run", "plan", "model", "bench") and len(words) > 1 and re.fullmatch(r"[a-z-]+", words[1]) else 1
        return words[:count], [word.split("=")[0] for word in words if word.startswith("--")]


def blocks(page):
    """Lines of code with their numbers, by block, and the block's language; "" is none."""
    lines, inside, language = [], False, ""
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n") + [""], 1):
            fence = line.startswith("```")
            if fence and not inside:
                language = line[3:].strip()
            elif not fence and (inside or line.startswith("    ")):
                lines.append((number, line if inside else line[4:]))
                continue
            if lines:
                yield language, lines
            if fence:
                inside = not inside
            language, lines = language if inside else "", []


def commands(page):
    """The page's commands, by block, each block with the latest text of each language before it."""
    code = {}
    for language, lines in blocks(page):
        if language in ("c", "cpp", "fortran"):
            code[language] = "\n".join(text for _, text in lines) + "\n"
            continue
        found, prompts, open_line = [], any(text.startswith("$ ") for _, text in lines), False
        for number, text in lines:
            if open_line:
                found[-1].text = found[-1].text[:-1] + text.strip()
            elif text.startswith("$ ") or (not prompts and re.match(COMMANDS, text) and not re.match(r"evener: |for \(", text)):
                found.append(Command(page, number, text[2:] if prompts else text, dict(code)))
            elif found and prompts:
                found[-1].printed.append(text)
                continue
            open_line = bool(found) and found[-1].text.endswith("\\")
        if found:
            yield found


PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
FENCED = {".c": "c", ".cpp": "cpp", ".f90": "fortran"}
# sources that stand for the reader's own
OWN = {"mesh.f90": "module mesh\ninteger :: cells = 3\nend module\n", "prog.f90": "program prog\nuse mesh\nprint *, cells\nend program\n",
       "program.c": "#include <evener.h>\nint main(void) { return !evn_version(); }\n"}


class Tree:
    """A folder as a reader has it, and the variables."""

    def __init__(self, folder):
        self.folder = folder
        for name in os.listdir(SOURCE):
            if not name.startswith((".", "build")):
                os.symlink(os.path.join(SOURCE, name), self.path(name))
        os.remove(self.path("docs"))  # some commands write pictures
        shutil.copytree(os.path.join(SOURCE, "docs"), self.path("docs"))
        os.symlink(BUILD, self.path("build"))
        self.environment = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith("EVENER_")}
        self.environment.update(PATH=f"{BUILD}:{os.environ['PATH']}", PKG_CONFIG_PATH=BUILD, HOME=folder, XDG_CACHE_HOME=self.path("cache"),
                                EVENER_OVERSUBSCRIBE="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                OMPI_MCA_rmaps_base_oversubscribe="1")

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, command):
        """Files that the command names and the page's reader has: programs of the page, examples, programs of the build."""
        for word in re.findall(r"(?:(?<=\./)|(?<![\w./-]))[\w-]+(?:\.[a-z0-9]+)*(?![\w/])", command.text):
            stem, kind = os.path.splitext(word)
            block = command.code.get(FENCED.get(kind, ""), "")
            example, program = os.path.join(SOURCE, "examples", word), os.path.join(BUILD, "examples", word)
            if os.path.lexists(self.path(word)):
                continue
            if re.search(r"\bmain\(|end program", block) and kind in FENCED:
                self.write(word, block)
            elif kind in FENCED and os.path.exists(example):
                shutil.copy(example, self.path(word))
            elif word in OWN:
                self.write(word, OWN[word])
            elif f"./{word}" in command.text and os.path.isfile(program):
                os.symlink(program, self.path(word))

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, command, variables):
        self.make(command)
        text = command.text + (" --oversubscribe" if re.search(CROWDED, command.text) else "")
        with subprocess.Popen(["bash", "-c", text], cwd=self.folder, env=self.environment | variables, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as process:
            try:
                return process.communicate(timeout=LONGEST)[0], process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return f"{process.communicate()[0]}\nstopped after {LONGEST} s", 130


NUMBER = re.compile(r"[-+]?(?:\d[\d,]*)(?:\.\d+)?(?:[eE][-+]?\d+)?")


def shape(line):
    """The line with its numbers and blanks made equal."""
    return re.sub(r"\s+", " ", NUMBER.sub("0", line)).strip()


def missing(command, output):
    """Lines that the page shows and the output has not; `..` at a line's end is the rest of it."""
    have = [shape(line) for line in output.split("\n")]

    def is_there(line):
        begin = line.rstrip().removesuffix("..")
        return shape(line) in have if begin == line.rstrip() else any(other.startswith(shape(begin)) for other in have)
    return [line for line in command.printed if not re.fullmatch(r"\s*\.*\s*", line) and not is_there(line.split("   #")[0])
            and not any(re.search(expression, f"{command.page}: {line}") for expression, _ in VARIES)]


class Words(unittest.TestCase):
    """What is not run is looked at, too."""

    def test_options(self):
        """Commands have the options that the pages say."""
        helps, seen = {}, 0
        for page in PAGES:
            for block in commands(page):
                for command in block:
                    words, options = command.options() or ([], [])
                    if not words:
                        continue
                    key = " ".join(words)
                    if key not in helps:
                        done = subprocess.run([f"{BUILD}/evener", *words, "--help"], capture_output=True, text=True, timeout=60)
                        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
                        helps[key] = set(re.findall(r"--[a-z-]+", done.stdout)) | (
                            helps["run bt-mz"] if words in (["calibrate"], ["bench", "pinning"]) else set())
                    self.assertLessEqual(set(options), helps[key], str(command))
                    seen += 1
        self.assertGreater(seen, 50)

    def test_tables(self):
        """Each row is of some command."""
        texts = [f"{command.page}: {command.text}" for page in PAGES for block in commands(page) for command in block]
        for expression, why in LEFT_OUT + LONG:
            self.assertTrue(any(re.search(expression, text) for text in texts), (expression, why))


class Run(unittest.TestCase):
    """Commands of all pages, one page after another, in a folder for each."""

    def run_all(self, long):
        for page in PAGES:
            with tempfile.TemporaryDirectory() as folder:
                tree = Tree(folder)
                for block in commands(page):
                    variables = {}
                    for command in block:
                        if command.text.startswith("export "):
                            variables.update(word.split("=", 1) for word in shlex.split(command.text)[1:])
                        elif not command.left_out() and (long or not command.is_long()):
                            with self.subTest(str(command)):
                                self.command(tree, command, variables)

    def command(self, tree, command, variables):
        begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        output, status = tree.run(command, variables)
        if os.environ.get("EVENER_MANUAL_TIMES"):
            print(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin:6.2f} s  {command}", flush=True)
        refused = any(re.match(r"evener: (?!warning: )", line) for line in command.printed)
        self.assertIn(status, (0, 2, 3) if refused else (0,), output[-2000:])
        self.assertEqual(missing(command, output), [], output[-4000:])

    def test_short(self):
        """Those that take less than a second."""
        self.run_all(False)

    def test_all(self):
        """All that are not left out: long ones make files for short ones."""
        self.run_all(True)


def main():
    global SOURCE, BUILD
    SOURCE, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    PAGES.extend(sorted(os.path.relpath(name, SOURCE) for name in glob.glob(os.path.join(SOURCE, "docs", "*.md"))))
    if not any(word.endswith("--list") for word in sys.argv):
        return unittest.main()
    for page in PAGES:
        for block in commands(page):
            for command in block:
                print(f"{'-' if command.left_out() else 'long' if command.is_long() else 'short':5}  {command}")


if __name__ == "__main__":
    main()
