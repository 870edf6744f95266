"""Faults planted in gates and jobs are found: each is a change of a line of the sources, with which test_gates.c must fail.
usage: test_planted.py SOURCE COMPILER"""
import pathlib, subprocess, sys, tempfile, unittest

GATE, JOIN, ARENA = "base/gate.c", "base/fork_join.c", "wire/arena_wait.c"
FAULTS = {  # name: the file, and pairs of what is there and what is planted
    "the opener looks for sleepers first": (GATE, [
        ("    atomic_fetch_add(&g->count, 1);\n    if (atomic_load(&g->sleepers)) wake_all",
         "    const unsigned some = atomic_load(&g->sleepers);\n    atomic_fetch_add(&g->count, 1);\n    if (some) wake_all")]),
    "the opener's store is late": (GATE, [
        ("atomic_fetch_add(&g->count, 1);", "atomic_store_explicit(&g->count, gate_count(g) + 1, memory_order_release);")]),
    "one sleeper is woken": (GATE, [("INT_MAX", "1")]),
    "a sleeper does not look again": (GATE, [("while (atomic_load(&g->count) == seen) sleep", "if (gate_count(g) == seen) sleep")]),
    "a sleeper does not say so": (GATE, [("atomic_fetch_add(&g->sleepers, 1)", "atomic_fetch_add(&g->sleepers, 0)")]),
    "a rank sleeps and does not say so": (ARENA, [("atomic_fetch_add(&c->sleepers, 1)", "atomic_fetch_add(&c->sleepers, 0)")]),
    "a rank looks for sleepers first": (ARENA, [
        ("    atomic_fetch_add(&c->count, 1);\n    if (atomic_load(&c->sleepers)) futex",
         "    const unsigned some = atomic_load(&c->sleepers);\n    atomic_fetch_add(&c->count, 1);\n    if (some) futex")]),
    "a barrier reads its gate after it has arrived": (GATE, [
        ("    const unsigned seen = gate_count(&b->gate);\n    if (atomic_fetch_add(&b->arrived, 1) != cores - 1) {",
         "    const int is_last = atomic_fetch_add(&b->arrived, 1) == cores - 1;\n"
         "    const unsigned seen = gate_count(&b->gate);\n    if (!is_last) {")]),
    "a barrier is made ready when it is open": (GATE, [
        ("    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);\n    gate_open(&b->gate);",
         "    gate_open(&b->gate);\n    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);")]),
    "a job is over while members are in it": (JOIN, [("(JOINABLE | NEEDED | INSIDE)", "(JOINABLE | NEEDED)")]),
    "a job is over without those it needs": (JOIN, [("(JOINABLE | NEEDED | INSIDE)", "(JOINABLE | INSIDE)")]),
    "a job's end is read after its close": (JOIN, [
        ("    const unsigned seen = gate_count(&f->end);\n    const uint64_t state = atomic_fetch_and(&f->state, ~JOINABLE) & ~JOINABLE;",
         "    const uint64_t state = atomic_fetch_and(&f->state, ~JOINABLE) & ~JOINABLE;\n    const unsigned seen = gate_count(&f->end);")]),
    "a job of any number is entered": (JOIN, [("job_of(state) != short_of(*seen) || ", "")]),
    "a job is entered after its close": (JOIN, [("!(needed || (state & JOINABLE))", "!(needed || state)")]),
    "a job needs a member after it has come": (JOIN, [("(needed ? NEEDED_ONE : 0)", "0")]),
    "a job is made when its gate is open": (JOIN, [
        ("    atomic_store_explicit(\n        &f->state, job", "    gate_open(&f->begin);\n    atomic_store_explicit(\n        &f->state, job"),
        ("    gate_open(&f->begin);\n}\n\nvoid fork_close", "}\n\nvoid fork_close")]),
    "a job's state is read before its number": (JOIN, [
        ("    *seen = gate_count(&f->begin);\n", ""),
        ("    for (;;) {\n        const int needed", "    *seen = gate_count(&f->begin);\n    for (;;) {\n        const int needed"),
        ("job_of(state) != short_of(*seen) || ", "")]),
    "the end is looked at before the job": (JOIN, [
        ("        if (try_enter(", "        if (atomic_load(&f->ended)) return 0;\n        if (try_enter("),
        ("while (!atomic_load(&f->ended))", "while (1)")]),
}
source, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
tests = source / "tests/interleavings"
folders = [source / "src" / group for group in ("core", "ranks")]


def run(folder, name, pairs):
    """The test, compiled with a file of the sources in which this is planted."""
    text = next(folder / name for folder in folders if (folder / name).exists()).read_text()
    for old, new in pairs:
        if text.count(old) != 1:
            raise LookupError(f"src/{name}: not there, or not once: {old}")
        text = text.replace(old, new)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    program = folder / "test"
    subprocess.run([compiler, "-std=gnu11", "-O1", "-w", "-D_GNU_SOURCE", f"-I{folder}", *[f"-I{group}" for group in folders], f"-I{source}/include",
                    f"-I{source}/tests",
                    tests / "test_gates.c", tests / "explore.c", "-o", program, "-lcmocka", "-lm"], check=True)
    done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    (folder / name).unlink()
    return done.returncode, done.stdout


class Planted(unittest.TestCase):
    def test_each_is_found(self):
        for fault, (name, pairs) in FAULTS.items():
            with self.subTest(fault), tempfile.TemporaryDirectory() as folder:
                status, said = run(pathlib.Path(folder), name, pairs)
                self.assertGreater(status, 0, said)
                self.assertIn(", after:\n", said)
                print(f"{fault}: {[line for line in said.splitlines() if line.endswith('after:')][0][:-8]}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
