#!/usr/bin/env python3
"""Faults planted one by one into a copy of the tree: the quick set has to find each of them.

    tests/planted.py [--folder FOLDER] [--all] [--jobs N] [--under "nice -n 19"] [ROOM ..]

FOLDER (build/planted) gets the copy, `source`, and its build. Each fault is an edit of a line or two; after it the programs of the tests
that the table names are built, and these tests run; at least one of them must fail, and pass again when the fault is gone (they are run
once without any fault first). With --all the whole quick set is built and runs after each fault, which takes hours. The status is 1 where
a fault was not found, 2 where an edit no longer applies: then the table below has to follow the code.
"""
import argparse
import collections
import filecmp
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
Fault = collections.namedtuple("Fault", "room file old new what tests")

FAULTS = [
    Fault("base", "src/core/base/number.c", "return isinf(value) ? NUMBER_LARGE : NUMBER_FINE;", "return NUMBER_FINE;",
          "a number beyond all doubles is taken", "number"),
    Fault("machine", "src/core/machine/quota.c", "least->processors = fmin(least->processors, quota / period);",
          "least->processors = quota / period;", "of nested quotas the last one counts, not the least", "quota"),
    Fault("device", "src/device/kernel_cache.c", "if (k->source == source &&\n            (k->kernel->entry->name", "if ((k->kernel->entry->name",
          "a kernel of another source with the same name is launched", "device exchange bodies gpu_norms"),
    Fault("unit", "src/core/unit/descriptor.c", "if (!evn_text_number(&p, UNITS_MAX, &n) || n == 0) {", "if (!evn_text_number(&p, UNITS_MAX, &n)) {",
          "units of no cores are taken", "unit misuse command"),
    Fault("wire", "src/ranks/wire/arena_channel.c", "*room = b->room[m->count % 2];", "*room = b->room[0];",
          "a message is written over the one before it", "wire"),
    Fault("messages of ranks", "src/ranks/cluster/send.c", "void *here = data ? (char *)data + at : NULL;", "void *here = data;",
          "all pieces of a long message go to its beginning", "cluster ranks"),
    Fault("one-sided memory", "src/ranks/pgas/reduce.c", "slot(s, (r - s->rank + s->size) % s->size);", "slot(s, r);",
          "each rank sums in an order of its own, so that bits differ", "shared shared-processes"),
    Fault("place", "src/device/ops/snapshot.c", "memcpy(r->spare, r->host, r->bytes);", "memcpy(r->spare, r->host, r->bytes / 2);",
          "half of a region is kept", "place recover"),
    Fault("schedule", "src/policy/binpack.c", "if (c + 1 < h->n && before(h->item[c + 1], h->item[c])) c++;",
          "if (c + 1 < h->n && before(h->item[c], h->item[c + 1])) c++;", "a heap gives the wrong task", "policies plans"),
    Fault("loop", "src/core/loop/batch.c", "seconds * (weight[task[i]] / sum)", "seconds * (1.0 / count)",
          "tasks done together all learn the same time", "bodies loop"),
    Fault("exchange", "src/core/exchange/pairs.c", "f->of.from_stride[d] == g->of.to_stride[d] &&\n               f->of.to_stride[d]",
          "f->of.to_stride[d]", "faces whose strides differ are copied as a pair", "exchange-pairs"),
    Fault("model", "src/model/predict.c", "((double)length + threads - 1) / threads", "(double)length / threads",
          "pieces of a loop are rounded down", "predict command-model"),
    Fault("trace", "src/observe/trace/match.c", "for (int k = 0; k < out && k < in; k++)", "for (int k = 0; k < out && k < 1; k++)",
          "of messages alike one is kept", "trace-ranks"),
    Fault("sessions", "src/observe/record/parts.c", 'put_seconds(out, "idle_s", stats->idle_s);', 'put_seconds(out, "idle_s", stats->exchange_s);',
          "a record has the time of exchanges for idle time", "open open-record"),
    Fault("suite/apps/common", "suite/apps/common/checkpoint/state_restart.c", "const int whole = sum == part->sum && is_filled(f, part, end, (unsigned char *)piece);",
          "const int whole = is_filled(f, part, end, (unsigned char *)piece);", "a damaged checkpoint is restarted from",
          "command-checkpoint ft_state"),
    Fault("NPB-MZ", "suite/apps/npbmz/mesh/faces.c", "int give = high ? 1 : (along_y ? a->ny : a->nx) - 2;",
          "int give = high ? 1 : (along_y ? a->ny : a->nx) - 3;", "a zone gets the plane behind its neighbour's last one", "mesh hybrid command-hash"),
    Fault("NPB-MZ on devices", "suite/apps/npbmz/lu/lu.kernel.c", "a->lines_z = evn_imin(z->nz - 2 - k, LU_LINES_Z);", "a->lines_z = LU_LINES_Z;",
          "a bundle goes beyond its zone", "gpu_steps"),
    Fault("barriers of CUDA kernels", "suite/apps/npbmz/sp/sp.kernel.c",
          "middle_reach(HELD(middle, (e + SP_LINES) % SP_ITEMS), &EVN_OWN_AT(own, 0, e)); }\n    EVN_BARRIER;",
          "middle_reach(HELD(middle, (e + SP_LINES) % SP_ITEMS), &EVN_OWN_AT(own, 0, e)); }",
          "items read what others have not yet written: only on a GPU", "ptx-kernels-quick"),
    Fault("FT", "suite/apps/ft/host/fields.c", "(size_t)(b->at[here] - b->begin[space]) * row_doubles(f);", "(size_t)b->at[here] * row_doubles(f);",
          "a line of a second space of a rank lands in another's", "command-ft-devices command-hash"),
    Fault("MG", "suite/apps/mg/charges.c", "npb_random_at((uint64_t)(begin * plane) + 1 + (uint64_t)s)", "npb_random_at((uint64_t)(begin * plane) + (uint64_t)s)",
          "the charges are those of the numbers one before", "mg command-mg-ranks"),
    Fault("evener-cc", "cc/clause.c", "if (d->clause[i].kind == c->kind) {", "if (d->clause[i].kind == c->kind && i > 0) {",
          "a clause that is given twice is taken where it is the first one", "cc-messages"),
    Fault("Fortran", "include/evener/fortran/evener.f90", "        integer(c_int) :: task(2) = 0\n        real(c_double) :: bytes = 0\n",
          "        real(c_double) :: bytes = 0\n        integer(c_int) :: task(2) = 0\n", "a struct's parts stand in another order than C's", "fortran-module"),
    Fault("changes", "src/core/loop/change.c", "    inherit(loop, r);\n", "", "tasks that are kept get others' times and numbers", "change-ranks"),
    Fault("births", "src/core/loop/birth.c", "const int count = c->first ? c->first[t + 1] - begin : 0;",
          "const int count = c->first ? c->first[t] - begin : 0;", "a born task has no origins", "births change-ranks"),
    Fault("changes over ranks", "src/ranks/domain/change_ranks.c",
          "if (rank_of(loop, to[c->from[i]]) != rank_of(loop, unit)) to[c->from[i]] = unit;\n", "",
          "origins stay on other ranks than the task that they make", "change-ranks"),
    Fault("halves", "src/core/exchange/exchange.c", "status = run(x, may_open && has_more(x) && stays(x));",
          "status = run(x, may_open || has_more(x));", "an exchange that was run whole waits for its second half", "change-ranks exchange"),
    Fault("visits", "src/core/exchange/exchange.c", "    x->open = open;\n", "", "a change is made while halves are open", "misuse-ranks"),
    Fault("born regions", "src/session/regions.c", "        if (!evn_place_bytes(r->place, region))\n", "        if (evn_place_bytes(r->place, region))\n",
          "a task is born with a region that is not there", "change-ranks misuse-ranks"),
    Fault("balance", "src/ranks/domain/balance.c", "if (m->target[t] != d->rank) status = pack_task(d, m, t, &at[m->target[t]]);",
          "status = pack_task(d, m, t, &at[m->target[t]]);", "tasks that stay are packed, too", "distributed"),
    Fault("routes", "src/policy/routes.c", "return r->per_byte[0] + (r->hops == 2 ? r->per_byte[1] : 0);", "return r->per_byte[0];",
          "of two hops the first one counts", "places routes"),
    Fault("papers", "suite/bench/papers/papers.py", "return span[0] * (1 - NEAR) <= x <= span[1] * (1 + NEAR)",
          "return span[0] * (1 - NEAR) <= x", "a number far above is near", "command-papers"),
    Fault("places of messages", "cc/source.c", "for (int k = 1; k < place.column; k++)", "for (int k = 0; k < place.column; k++)",
          "the mark stands beside its place", "cc-messages cc-fortran"),
]


def run(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def stop(message):
    print(message)
    sys.exit(2)


def edited(source, fault):
    """The text before, and with the fault in it."""
    path = os.path.join(source, fault.file)
    if not os.path.exists(path):
        stop(f"{fault.room}: there is no {fault.file} any more; tests/planted.py has to name the file where this is now: {fault.old}")
    with open(path) as file:
        text = file.read()
    if text.count(fault.old) != 1:
        stop(f"{fault.room}: {fault.file} has this {text.count(fault.old)} times, expected once; tests/planted.py has to follow it:\n{fault.old}")
    return text, text.replace(fault.old, fault.new)


def write(source, fault, text):
    with open(os.path.join(source, fault.file), "w") as file:
        file.write(text)


class Tree:
    """A copy of the tree, its build, and its quick tests."""

    def __init__(self, folder, jobs, under):
        self.source, self.build, self.jobs, self.under = f"{folder}/source", f"{folder}/build", str(jobs), under
        self.good = set()  # tests that have passed without any fault
        for name in run("git", "-C", TREE, "ls-files").stdout.split("\n"):
            of, to = f"{TREE}/{name}", f"{self.source}/{name}"
            if not os.path.isfile(of) or (os.path.isfile(to) and filecmp.cmp(of, to, shallow=False)):
                continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(of, to)  # with a new date, so that what an earlier fault left is made again

    def configure(self):
        words = ["cmake", "-S", self.source, "-B", self.build, "-DEVENER_TESTS=ON", "-DEVENER_ISA=own"]
        if shutil.which("ccache"):
            words += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        if shutil.which("ninja") and not os.path.exists(f"{self.build}/CMakeCache.txt"):
            words += ["-G", "Ninja"]
        done = run(*words)
        if done.returncode:
            stop(done.stdout)
        if not self.list():  # the command of a test is known when its program is there
            done = run(*self.under, "cmake", "--build", self.build, "--parallel", self.jobs)
            if done.returncode or not self.list():
                stop(done.stdout[-3000:])

    def list(self):
        """Reads the quick tests; whether all of them have their programs."""
        listed = run("ctest", "--test-dir", self.build, "-L", "^quick$", "--show-only=json-v1")
        self.tests = {test["name"]: test for test in json.loads(listed.stdout)["tests"]}
        return all("command" in test for test in self.tests.values())

    def targets(self, names):
        """Of the programs that the tests' commands and variables name; those that find theirs in the build folder take all."""
        named = {"evener": "evener_command", "evener-cc": "evener_cc", "evener_toy": "evener_toy"}
        targets = set()
        for name in names:
            words = self.tests[name]["command"]
            variables = [v for p in self.tests[name]["properties"] if p["name"] == "ENVIRONMENT" for v in p["value"]]
            for word in words + [v.split("=", 1)[1] for v in variables]:
                if word.rstrip("/") == self.build:
                    return []
                if word.startswith(self.build + "/"):
                    base = os.path.basename(word)
                    base = base[3:-3] if base.startswith("lib") and base.endswith(".so") else base
                    if "." not in base and base not in ("evener-cache", "cache", "pocl", "examples", "ptx", "evener"):
                        targets.add(named.get(base, base))
                    elif base == "evener" and not word.endswith("lib/evener"):
                        targets.add("evener_command")
                    elif base == "evener":
                        targets.add("wires")
                    elif base == "examples":
                        return []
        return sorted(targets)

    def make(self, names):
        targets = self.targets(names)
        return run(*self.under, "cmake", "--build", self.build, "--parallel", self.jobs, *(["--target", *targets] if targets else []))

    def failing(self, names):
        """Those of these tests that fail."""
        failed = []
        for name in names:
            done = run(*self.under, "ctest", "--test-dir", self.build, "-R", f"^{name.replace('+', '.')}$")
            if "100% tests passed" not in done.stdout or "Skipped" in done.stdout:
                failed.append(name + (" (skipped)" if "Skipped" in done.stdout else ""))
        return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", default=f"{TREE}/build/planted")
    parser.add_argument("--all", action="store_true", help="the whole quick set after each fault")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--under", default="", help="a command that builds and tests are run by")
    parser.add_argument("--check", action="store_true", help="only whether each edit applies")
    parser.add_argument("rooms", nargs="*")
    options = parser.parse_args()
    faults = [fault for fault in FAULTS if not options.rooms or fault.room in options.rooms]
    for fault in faults:
        edited(TREE, fault)
    if options.check:
        print(f"{len(faults)} faults apply")
        return 0
    tree = Tree(os.path.abspath(options.folder), options.jobs, options.under.split())
    tree.configure()
    for fault in faults:
        unknown = [name for name in fault.tests.split() if name not in tree.tests]
        if unknown:
            stop(f"{fault.room}: not in the quick set: {' '.join(unknown)}")
    missed = 0
    for fault in faults:
        names = sorted(tree.tests) if options.all else fault.tests.split()
        text, wrong = edited(tree.source, fault)
        new = [name for name in names if name not in tree.good]
        done = tree.make(names) if new else None
        if done and done.returncode:
            stop(done.stdout[-3000:])
        before = tree.failing(new)
        tree.good.update(name for name in new if name not in before)
        write(tree.source, fault, wrong)
        done = tree.make(names)
        found = [name for name in tree.failing(names) if name not in before] if not done.returncode else ["the build"]
        write(tree.source, fault, text)
        missed += not found
        print(f"{fault.room:26} {fault.what}: {', '.join(found) or 'NOT FOUND'}"
              + (f" (without the fault: {', '.join(before)})" if before else ""), flush=True)
    print(f"{len(faults)} faults planted, {len(faults) - missed} found")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
