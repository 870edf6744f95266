"""A box: one command in a fresh folder, under limits; and what is wrong with how it ended.

A case is a dictionary: `words` after the command's name, `files` by their place in the folder, and where they differ from
what cases have in common: `environment` (None: unset), `inout` (files that may change although they are input), `shell`
(lines before the command, as `ulimit -n 8`), `patience` (seconds of computing after which it is told to end, with TERM:
it has much to do, which is no mistake), `nodes` (devices of its own, as [["full", 1, 7]]).
"""
import argparse
import collections
import contextlib
import json
import math
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import time

DONE, UNVERIFIED, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
CPU_SECONDS, WALL_SECONDS, RESIDENT_BYTES, ADDRESS_KIB = 20, 120, 2 << 30, 6 << 20
SANITIZER_STATUS = 99
SANITIZER_WORDS = (b"AddressSanitizer", b"LeakSanitizer", b"runtime error:", b"ThreadSanitizer")


# said by what is not ours before it ends the process: the dynamic loader, PoCL where it has no memory
STRANGERS = (b"error while loading shared libraries", b"Not enough memory to run on this device.",
             b"PTHREAD ERROR in pthread_scheduler_init")


class Ended:
    """How a command ended: its status (negative: the signal), what it printed, what it used."""

    def __init__(self, status, out, err, usage=None, asked_to_end=None, seconds=0.0):
        self.status, self.out, self.err = status, out, err
        self.resident = usage.ru_maxrss * 1024 if usage else 0
        self.asked_to_end, self.seconds = asked_to_end, seconds


class Evener:
    """The command under test, and what is known of its build."""

    def __init__(self, path, slack, cache):
        self.path = os.path.abspath(path)
        with open(self.path, "rb") as file:
            self.sanitized = b"__asan_init" in file.read()
        self.slack = slack * (5 if self.sanitized else 1)
        self.cache = cache

    def environment(self, folder):
        """Nothing of ours goes in: every case has the same, and a home and a temporary folder of its own."""
        return {"PATH": "/usr/bin:/bin", "HOME": f"{folder}/home", "TMPDIR": f"{folder}/tmp", "LC_ALL": "C",
                "EVENER_CACHE": f"{self.cache}/kernels", "POCL_CACHE_DIR": f"{self.cache}/pocl",
                "ASAN_OPTIONS": f"exitcode={SANITIZER_STATUS}:detect_leaks=1:allocator_may_return_null=1:"
                                "soft_rss_limit_mb=3000:hard_rss_limit_mb=5000",
                "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:exitcode={SANITIZER_STATUS}"}


@contextlib.contextmanager
def opened(path, slack=1.0):
    """The command under test, with a cache of compiled kernels for as long as it is used."""
    with tempfile.TemporaryDirectory(prefix="evener-attack-cache-") as cache:
        os.chmod(cache, 0o777)
        yield Evener(path, slack, cache)


def cpu_seconds(pid):
    """What a process has computed so far; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def launch(evener, words, folder, environment=None, shell=(), out=None, err=None):
    """Starts the command in `folder`; the process."""
    limits = ["ulimit -c 0", f"ulimit -t {CPU_SECONDS}"]
    if not evener.sanitized:
        limits.append(f"ulimit -v {ADDRESS_KIB}")
    script = "\n".join([*limits, *shell, 'exec "$@"'])
    merged = evener.environment(folder)
    merged.update(environment or {})
    merged = {key: value for key, value in merged.items() if value is not None}
    return subprocess.Popen(["/bin/sh", "-c", script, "sh", evener.path, *words], cwd=os.path.join(folder, "work"),
                            env=merged, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)


def wait(process, evener, patience=None):
    """Its end: (status, usage, number of the signal it was sent or None, seconds from that to its end)."""
    begin, asked, when = time.monotonic(), None, 0.0
    handle = os.pidfd_open(process.pid)
    watch = select.poll()
    watch.register(handle, select.POLLIN)
    try:
        while not watch.poll(100):
            now = time.monotonic()
            if now - begin > WALL_SECONDS * evener.slack:
                os.killpg(process.pid, signal.SIGKILL)
                asked = signal.SIGKILL
            elif patience and not asked and cpu_seconds(process.pid) > patience:
                os.kill(process.pid, signal.SIGTERM)
                asked, when = signal.SIGTERM, now
            elif asked == signal.SIGTERM and now - when > 10 * evener.slack:
                os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        os.close(handle)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage, asked, time.monotonic() - when if when else 0.0


def new_folder():
    """An empty box: `work`, where the command runs, `home` and `tmp`."""
    folder = tempfile.mkdtemp(prefix="evener-attack-")
    for part in ("work", "home", "tmp", ".said"):
        os.mkdir(os.path.join(folder, part))
    return folder


def fill(folder, case):
    for name, content in case.get("files", {}).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    for name, major, minor in case.get("nodes", ()):
        try:
            os.mknod(os.path.join(folder, "work", name), stat.S_IFCHR | 0o666, os.makedev(major, minor))
        except OSError:
            pass  # only root can; without it the name is one that is not there
    for name, target in case.get("links", ()):
        os.symlink(target, os.path.join(folder, "work", name))


def run(evener, case, folder):
    with open(f"{folder}/.said/out", "wb") as out, open(f"{folder}/.said/err", "wb") as err:
        process = launch(evener, case["words"], folder, case.get("environment"), case.get("shell", ()), out, err)
        status, usage, asked, seconds = wait(process, evener, case.get("patience"))
    said = []
    for name in ("out", "err"):
        with open(f"{folder}/.said/{name}", "rb") as file:
            said.append(file.read(64 << 20))
    return Ended(status, *said, usage, asked, seconds)


# ---- programs of the attack ----

def arguments(about):
    """A parser of what all of them take."""
    words = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--evener", default="build/evener")
    words.add_argument("--cases", type=int, default=100)
    words.add_argument("--seed", default="1")
    return words


def tell(wrong):
    """Prints what was wrong, the same together."""
    for line, count in collections.Counter(map(cause, wrong)).items():
        print(f"{count:5d}  {line}")


# ---- what is wrong ----

def tree(folder):
    """All that is in a box: (kind, content) by place; not what the command said."""
    found = {}
    for here, folders, files in os.walk(folder):
        if os.path.relpath(here, folder).split(os.sep)[0] == ".said":
            continue
        for name in folders + files:
            path = os.path.join(here, name)
            place = os.path.relpath(path, folder)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                found[place] = ("link", os.readlink(path))
            elif stat.S_ISREG(mode):
                with open(path, "rb") as file:
                    found[place] = ("file", file.read())
            else:
                found[place] = ("folder" if stat.S_ISDIR(mode) else "node", stat.S_IFMT(mode))
    found.pop(".said", None)
    return found


def refuse_number(word):
    raise ValueError(f"{word} is no number of JSON")


def check_finite(value):
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number too large")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        check_finite(part)


NOT_FINITE = re.compile(rb"(?<![\w./:-])-?(nan|inf|infinity)(?![\w./:-])", re.IGNORECASE)


def check_json(content):
    try:
        check_finite(json.loads(content.decode("utf-8"), parse_constant=refuse_number))
    except (ValueError, RecursionError) as error:
        return f"is no whole JSON ({error})"
    return None


def check_content(content, words):
    """What is wrong with a file or a text that the command wrote; None: nothing. Its first bytes say what it is."""
    start = content[:64].lstrip()
    if start.startswith((b"{", b"[")):
        return check_json(content)
    if start.startswith(b"<?xml"):
        return None if content.rstrip().endswith(b"</VTKFile>") else "is cut off"
    if start.startswith(b"<"):
        return None if content.rstrip().endswith(b"</html>") else "is cut off"
    if b"\0" in content[:4096]:
        return None  # binary: what reads it checks it
    asked = any(NOT_FINITE.search(word.replace(b",", b" ").replace(b"=", b" ")) for word in map(os.fsencode, words))
    found = None if asked else NOT_FINITE.search(content)
    if found:
        return f"has {found.group().decode()} in it"
    rows = [line for line in content.split(b"\n") if line and not line.startswith(b"#")]
    if rows and re.match(rb"(n,)?t,", rows[0]):
        if len({row.count(b",") for row in rows}) > 1 or not content.endswith(b"\n"):
            return "is no whole table"
    return None


def is_aside(line):
    """Warnings, and the words of a long work that goes on."""
    return line.startswith((b"evener: warning: ", b"evener: note: ")) or not line.startswith(b"evener: ") and line.endswith(b" ..")


def check_messages(ended, case):
    """One line for one failure, printable."""
    wrong = []
    try:
        ended.err.decode("utf-8")
    except UnicodeDecodeError:
        wrong.append("a message is not UTF-8")
    control = re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", ended.err)
    if control:
        wrong.append(f"a message has the control character {control.group()[0]:#x}")
    lines = [line for line in ended.err.split(b"\n") if line and not is_aside(line)]
    said = [line for line in lines if line.startswith(b"evener: ")]
    page = any(os.fsencode(word) in (b"-", b"--json=-") for word in case["words"])  # the page is on standard error then
    if ended.status in (USAGE, FAILED) and case["words"] and len(said) != 1:
        wrong.append(f"status {ended.status} with {len(said)} lines of what was wrong")
    if len(lines) != len(said) and case["words"] and not page:
        wrong.append("a line on standard error that does not begin \"evener: \"")
    if any(len(line) > 1200 for line in lines):
        wrong.append("a line of a message is longer than 1200 characters")
    return wrong


def check_end(ended, case, evener):
    """Signals, sanitizers, exit statuses, time and memory."""
    if any(word in ended.err for word in SANITIZER_WORDS) or ended.status == SANITIZER_STATUS:
        return ["a sanitizer's report"]
    if ended.asked_to_end == signal.SIGTERM:
        if ended.status != INTERRUPTED:
            return [f"told to end by TERM, it ended with {ended.status}"]
        limit = case.get("limit", 2.0) * evener.slack
        return [f"it ended later than {limit:g} s after TERM"] if ended.seconds > limit else []
    if ended.asked_to_end:
        return ["it hangs"]
    if ended.status in (-signal.SIGXCPU, -signal.SIGKILL):
        return [f"more than {CPU_SECONDS} s of computing"]
    if ended.status < 0:
        return [f"killed by {signal.Signals(-ended.status).name}"]
    if ended.status not in case.get("statuses", (DONE, USAGE, FAILED)):
        return [f"exit status {ended.status}"]
    if not evener.sanitized and ended.resident > RESIDENT_BYTES:
        return [f"{ended.resident >> 20} MiB of memory"]
    return []


def named(place, case):
    """Whether the command line names this place of the box, or a folder that it is in."""
    for word in case["words"]:
        word = os.fsdecode(word)
        names = [word, word.partition("=")[2]]
        # what is written to a link goes where it leads
        names += [target for link, target in case.get("links", ()) if link in names]
        for name in names:
            full = os.path.normpath(os.path.join("work", name)) if name else ""
            if full and full != "work" and (place == full or place.startswith(full + os.sep)):
                return True
    if case["words"][:1] == ["report"] and place == "work/report.html":
        return True  # the page's name where none is given
    return may_change(place, case)


def cause(line):
    """What is wrong without numbers and names by chance, so that the same is found together."""
    line = re.sub(r"\.[A-Za-z0-9]{6} is left", ".XXXXXX is left", line)
    return re.sub(r"0x[0-9a-f]+|[0-9a-f]{32}|(?<![-\w])[0-9]+\b", "N", line)


OUTPUTS = {"json", "trace", "output", "checkpoint", "matrices", "probe-output", "vertex-output", "spectrum", "far-field", "transfer-function", "impulse-response"}


def is_output(place, case):
    """Whether an option for outputs names this place: then that is what was asked for, whatever it is called."""
    words = [os.fsdecode(word) for word in case["words"]]
    for i, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option.startswith("--") and option[2:] in OUTPUTS:
            value = value if equals else words[i + 1] if i + 1 < len(words) else ""
            if value and os.path.normpath(os.path.join("work", value)) == place:
                return True
    return False


def may_change(place, case):
    return is_output(place, case) or any(place == name or place.startswith(name + os.sep) for name in case.get("inout", ()))


# Caches that drivers and their compilers keep in a home, on machines that have them
FOREIGN = tuple(f"home/{name}" for name in (".nv", ".AMD", ".cache/AMD", ".cache/comgr", ".cache/mesa_shader_cache", ".cache/mesa_shader_cache_db",
                                            ".cache/neo_compiler_cache", ".cache/rusticl", ".cache/nvidia", ".cache/pocl"))


def is_foreign(place):
    return any(place == name or place.startswith(name + "/") for name in FOREIGN)


def check_files(before, after, case):
    """Nothing is left that was not named, inputs are as they were, outputs are whole."""
    wrong = []
    for place, (kind, content) in sorted(after.items()):
        earlier = before.get(place)
        if earlier == (kind, content) or place.startswith("home/.cache/evener") or is_foreign(place):
            continue
        base = os.path.basename(place)
        if earlier is None and (place in ("home/.cache",) or kind == "folder" and named(place, case)):
            continue
        if earlier is None and not named(place, case):
            wrong.append(f"{place} is left behind")
        elif earlier is None and base.startswith("-") and not is_output(place, case):
            wrong.append(f"a file {base!r} was made")
        elif earlier is not None and earlier[0] != kind:
            wrong.append(f"{place} was a {earlier[0]} and is a {kind}")
        elif earlier is not None and not may_change(place, case):
            wrong.append(f"{place} was changed, and is an input")
        elif kind == "file":
            bad = check_content(content, case["words"])
            if bad:
                wrong.append(f"{place} {bad}")
    wrong.extend(f"{place} is gone" for place in before if place not in after)
    return wrong


def judge(ended, case, before, after, evener):
    """All that is wrong with a case, as lines; none: it is well."""
    if any(word in ended.err for word in STRANGERS):
        return []
    wrong = check_end(ended, case, evener)
    if not wrong:
        wrong = check_messages(ended, case)
        if ended.status == DONE:
            bad = check_content(ended.out, case["words"])
            if bad:
                wrong.append(f"standard output {bad}")
    return [ascii(line)[1:-1] for line in wrong + check_files(before, after, case)]


def play(evener, case, keep_folder=False):
    """Runs a case in a box of its own: (what is wrong, how it ended)."""
    folder = new_folder()
    try:
        fill(folder, case)
        before = tree(folder)
        ended = run(evener, case, folder)
        return judge(ended, case, before, tree(folder), evener), ended
    finally:
        if not keep_folder:
            shutil.rmtree(folder, ignore_errors=True)
