"""What the tests of evener-cc share: where things are, and programs run on emulated devices and more threads than cores."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
import programs  # pylint: disable=wrong-import-position,unused-import

SOURCE = os.path.dirname(os.path.dirname(HERE))
INCLUDE = os.path.join(SOURCE, "include")
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
COMMAND = os.path.abspath(sys.argv.pop(1) if len(sys.argv) > 1 and os.path.isfile(sys.argv[1]) else "build/evener-cc")
# threads that wait do not take the cores of others: there are more of them than cores
PLAIN = {k: v for k, v in os.environ.items() if k == "EVENER_CLAIMS" or not k.startswith(("EVENER_", "OMP_", "CMAKE_"))}
PLAIN.update(LC_ALL="C", OMP_WAIT_POLICY="passive", EVENER_OVERSUBSCRIBE="1", EVENER_DEVICES="emulated:3")


def run(words, **more):
    """Output, errors and status of a command."""
    env = dict(PLAIN)
    env.update(more.pop("env", {}))
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=300, env=env, **more)


KEYWORDS = set("""auto break case catch char class const constexpr continue decltype default delete do double else enum extern false float for
friend goto if inline int long namespace new noexcept nullptr operator private protected public register restrict return short signed sizeof
static static_assert static_cast struct switch template this thread_local throw true try typedef typename union unsigned using virtual void
volatile while bool char16_t char32_t wchar_t""".split())


def words_of_headers(*headers):
    """The words of tools' headers that a program may define as macros."""
    words = set()
    for header in headers:
        with open(os.path.join(INCLUDE, "evener", header)) as file:
            text = re.sub(r'/\*.*?\*/|"[^"\n]*"|#\s*include[^\n]*|#\s*\w+', " ", file.read(), flags=re.DOTALL)
        words.update(w for w in re.findall(r"[A-Za-z_]\w*", text) if not re.match(r"evn_|EVN_|EVENER_|_[_A-Z]", w))
    return words - {"defined"}


def words_of_text(text, user):
    """The words of generated text that are no user's and not reserved."""
    text = re.sub(r'"(\\.|[^"\\\n])*"|#\s*(pragma GCC|pragma p|undef|line|include).*', " ", text)
    return {w for w in re.findall(r"[A-Za-z_]\w*", text) if not re.match(r"evn_|EVN_|_[_A-Z]", w)} - set(re.findall(r"\w+", user)) - KEYWORDS


def shortened(lines, expected):
    """The lines; one that begins as an expected message that ends in .. is that message."""
    return [expected if expected.endswith("..") and line.startswith(expected[:-2]) else line for line in lines]


# what the lines of bodies.txt stand between
AROUND = {"wrong": (".c", "void work(int);\nvoid f(int n, int s, int *a, char *text) {\n", "}\n"),
          "kernels/wrong": (".c", "void f(int n, double *u) {\n", "}\n"),
          "wrong_fortran": (".f90", "subroutine f(v, n)\ninteger :: n, z, k\nreal :: v(n)\n", "end subroutine\n")}
PLACE = re.compile(r"(\d+)(:\d+: (?:error|warning|note): .*)\n")


def wrong(folder):
    """(name, text, line, what is said of it) of each wrong program of a folder: a file with LINE:COLUMN: KIND: MESSAGE in its first line, as a comment,
    or, in bodies.txt, such a line and the lines below it, the first of which is line 1."""
    (suffix, head, end), found = AROUND[folder], []
    for name in sorted(glob.glob(os.path.join(HERE, folder, "*.[cf]*"))):
        with open(name) as file:
            text = file.read()
        line, said = PLACE.search(text.split("\n", 1)[0].removesuffix(" */") + "\n").groups()
        found.append((os.path.basename(name), text, int(line), said))
    with open(os.path.join(HERE, folder, "bodies.txt")) as file:
        _, *parts = PLACE.split(file.read())
    for line, said, body in zip(parts[::3], parts[1::3], parts[2::3]):
        found.append((f"body{len(found)}{suffix}", head + body + end, head.count("\n") + int(line), said))
    return found


class Case(unittest.TestCase):
    """A folder of its own, and the command with each compiler behind it."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def write(self, name, text):
        """A file in the case's folder; its path."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def cc(self, compiler, *words, **more):
        env = {"EVENER_CC": compiler}
        env.update(more.pop("env", {}))
        return run([COMMAND, *words], env=env, **more)

    def said(self, result):
        return [line for line in result.stderr.splitlines() if re.match(r"^\S+:\d+:\d+: (error|warning|note): ", line)]

    def told(self, folder):
        """evener-cc says of each wrong program what stands beside it, shows the line and the place, and fails where it is an error."""
        for name, text, number, message in wrong(folder):
            self.write(name, text)
            expected = f"{name}:{number}{message}"
            with self.subTest(text=text):
                result = self.cc(COMPILERS[0], "-w", "-c", name, "-o", "/dev/null", cwd=self.folder)
                self.assertEqual(shortened(self.said(result), expected), [expected])
                self.assertEqual(result.returncode, int(": error: " in expected))
                lines = shortened(result.stderr.splitlines(), expected)
                at = lines.index(expected)
                self.assertEqual(lines[at + 1:at + 3], [text.split("\n")[number - 1], " " * (int(message.split(":")[1]) - 1) + "^"])

    def fine(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return result
