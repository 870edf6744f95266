#!/usr/bin/env python3
"""Workloads keep their state and go on from it: the bits of a run that never stopped, on any ranks, units and schedules; damaged and foreign
files; interrupts, full disks, ranks of other hosts. Ranks that are killed, and two runs at once, are tests/attack/ranks.py's.

Files are read here by their description (suite/apps/common/checkpoint/state_file.h), not by the program's code.

Run: ctest -R '^command-checkpoint$', or tests/command/test_checkpoint.py build/evener [test ..]
"""
import math
import os
import random
import re
import signal
import struct
import subprocess
import time

import base
from base import EVENER, clean, ended

SEED, PRIME, MASK = 1469598103934665603, 1099511628211, (1 << 64) - 1
ALONE = ["--units", "1:CPU:1"]
NPB = {"bt-mz": 5, "sp-mz": 5, "lu-mz": 10}  # doubles a point
# words, the step that is kept and the last one, every how many steps a long run keeps one
SUBJECTS = {**{app: (["--class", "S", "--perturb"], 11, 20, 400) for app in NPB},
            "ft": (["--size", "32x16x16"], 3, 5, 40), "mg": (["--size", "32"], 3, 5, 160)}
FIGURES = "hash", "steps", "checksums", "norm"


def command(app, *words):
    return [EVENER, "run", app, *SUBJECTS[app][0], "--quiet", *map(str, words)]


def ranks(number, units="1:CPU:1"):
    return ["--processes", str(number), "--units", units, "--oversubscribe"]


def checksum(data):
    """Of words, each mixed in and folded."""
    total = SEED
    for (word,) in struct.iter_unpack("<Q", data):
        total = (total ^ word) * PRIME & MASK
        total ^= total >> 32
    return total


def mend(data):
    """With its header's checksum as it is to be."""
    header = struct.unpack_from("<Q", data, 8)[0]
    struct.pack_into("<Q", data, header - 8, checksum(bytes(data[:header - 8])))
    return data


class State:
    """A file that was kept, taken apart."""

    def __init__(self, app, path="c"):
        name = b"MZ" if app in NPB else app.upper().encode()
        with open(path, "rb") as f:
            data = self.data = f.read()
        assert data[:8] == b"EVN" + name + b"\0\0\1", data[:8]
        header, length, identity, schedule, _, zones, self.step = struct.unpack_from("<7Q", data, 8)
        assert length == len(data) and header % 4096 == 0 and length % 4096 == 0
        at = 64
        self.identity = dict(word.split("=") for word in data[at:at + identity].decode().split(" "))
        at += (identity + 7) // 8 * 8
        self.schedule = data[at:at + schedule].decode()
        at += (schedule + 7) // 8 * 8
        assert struct.unpack_from("<Q", data, header - 8)[0] == checksum(data[:header - 8])
        self.zone, end = [], header
        for z in range(zones):
            begin, size, total = struct.unpack_from("<3Q", data, at + 24 * z)
            assert begin == end and begin % 4096 == 0, (begin, end)
            end = begin + (size + 4095) // 4096 * 4096
            assert total == checksum(data[begin:end]), f"zone {z}"
            assert not any(data[begin + size:end])
            self.zone.append(data[begin:begin + size])
        assert end == length


class Base(base.Base):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def record(self, words, **options):
        done = ended([*words, "--json", "r.json"], **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return self.load("r.json")

    def refuses(self, words, *says):
        done = ended(words)
        self.assertEqual(done.returncode, 2, (words, done.stderr))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)

    def kept(self, app, *words, name="c", steps=None):
        return self.record(command(app, "--steps", steps or SUBJECTS[app][1], "--checkpoint", name, *words))

    def whole(self, app, *words, steps=None):
        return self.record(command(app, "--steps", steps or SUBJECTS[app][2], *words or ALONE))

    def goes_on(self, app, whole, first, *words, name="c"):
        r = self.record(command(app, "--steps", whole["steps"], "--restart", name, *words))
        self.assertEqual([r.get(key) for key in FIGURES], [whole.get(key) for key in FIGURES])
        self.assertEqual(r["restarted_from"], first)
        return r

    def spoil(self, data, name="c"):
        with open(name, "wb") as f:
            f.write(data)


class Bits(Base):
    def test_ranks(self):
        """Written by 4 ranks, read by 1, 2, 3, 8, by other units and schedules; and from state to state."""
        for app, (_, half, steps, _) in SUBJECTS.items():
            whole = self.whole(app)
            self.assertNotIn("restarted_from", whole)
            self.kept(app, *ranks(4), "--every", 5, "--schedule", "guided:time", "--slow", "1:3@1")
            for words in (ALONE, ["--units", "1:CPU:2"], ["--units", "2:CPU:1", "--schedule", "dynamic", "--oversubscribe"], ranks(2),
                          [*ranks(3), "--schedule", "guided:time"], ranks(8)):
                with self.subTest(app=app, words=words):
                    self.goes_on(app, whole, half, *words)
            self.kept(app, "--restart", "c", *ranks(3), steps=half + 1)
            self.goes_on(app, whole, half + 1, *ranks(2, "1:CPU:2"))
            self.kept(app, "--restart", "c", *ranks(2), steps=steps)  # after the last step there is nothing to do
            self.goes_on(app, whole, steps, *ranks(3))

    def test_ways(self):
        """FT with two transposes has bits of its own; variants, and nodes of one rank, have the same."""
        for app, alone, more in (("ft", ["--transposes", 2], []), ("ft", [], ["--variant", "slabs"]), ("ft", ["--transposes", 2], ["--variant", "packed"]),
                                 ("mg", [], ["--per-node", 1])):
            whole = self.whole(app, *alone, *ALONE)
            self.kept(app, *alone, *more, *ranks(3))
            self.goes_on(app, whole, 3, *alone, *ALONE)
            self.goes_on(app, whole, 3, *alone, *more, *ranks(2))

    def test_same_bytes(self):
        """The same whoever wrote them: NPB-MZ's zones are what the record says of them, FT's are its checksums, MG's what the hash is of."""
        for app, (_, half, _, _) in SUBJECTS.items():
            r = self.kept(app, *ALONE, name="alone")
            self.kept(app, *ranks(3), "--every", 1, name="three")
            one, three = State(app, "alone"), State(app, "three")
            self.assertEqual((one.zone, one.step, one.identity), (three.zone, half, three.identity))
            self.assertEqual(one.identity["app"], app)
            if app in NPB:
                self.check_zones(r, one, NPB[app])
            elif app == "ft":
                numbers = [number for pair in r["checksums"] for number in pair]
                self.assertEqual(list(struct.unpack(f"<{2 * half}d", b"".join(one.zone))), numbers)
            else:
                self.check_planes(r, b"".join(one.zone))

    def check_zones(self, r, state, size):
        wide, high = r["zones"]["x"], r["zones"]["y"]
        for z, data in enumerate(state.zone):
            nx, ny = wide[z % len(wide)], high[z // len(wide)]
            nz = len(data) // (8 * size * nx * ny)
            value = struct.unpack(f"<{len(data) // 8}d", data)
            for m in range(5):
                total = math.fsum(value[((m * nz + k) * ny + j) * nx + i] for k in range(1, nz - 1)
                                  for j in range(1, ny - 1) for i in range(1, nx - 1))
                self.assertAlmostEqual(total, r["zone_sums"][5 * z + m], delta=1e-10 * max(1, abs(total)))

    def check_planes(self, r, data):
        self.assertEqual(len(data), 8 * 32 ** 3)
        total = SEED
        for plane in range(32):
            part = SEED
            for (word,) in struct.iter_unpack("<Q", data[8192 * plane:8192 * (plane + 1)]):
                part = (part ^ word) * PRIME & MASK
            total = (total ^ part) * PRIME & MASK
        self.assertEqual(f"{total:016x}", r["hash"])

    def test_devices(self):
        """The state comes home from devices, and goes there again; with and without units that are lost."""
        emulated = ["--devices", "emulated"]
        for app, (_, half, _, _) in SUBJECTS.items():
            whole = self.whole(app, "--units", "1:GPU:1", *emulated)
            self.kept(app, "--units", "2:GPU:1", *emulated, "--every", 4)
            for words in (["--units", "1:GPU:2"], ranks(2, "1:GPU:1"),
                          ["--units", "2:GPU:1", "--schedule", "guided:time", "--checkpoint", "d", "--every", 3]):
                with self.subTest(app=app, words=words):
                    self.goes_on(app, whole, half, *words, *emulated)

    def test_official(self):
        """Steps are counted from the beginning: official runs are verified."""
        for app in SUBJECTS:
            words = [EVENER, "run", app, "--class", "S", "--quiet"]
            whole = self.record([*words, *ALONE])
            self.assertNotIn("checkpoints", whole)
            self.record([*words, *ALONE, "--steps", "2", "--checkpoint", "c"])
            for first, more in ((2, ALONE), (whole["steps"], ALONE), (whole["steps"], ranks(2))):
                r = self.record([*words, *more, "--restart", "c", "--checkpoint", "c", "--every", "1"])
                self.assertTrue(r["verified"])
                self.assertEqual((r["hash"], r["restarted_from"]), (whole["hash"], first))
                self.assertEqual(r["checkpoints"]["count"], whole["steps"] - first)

    def test_every(self):
        """As often as asked for, after the last step, and the schedule's assignment goes with it."""
        more = ["--units", "2:CPU:1", "--schedule", "guided:time"]
        r = self.record(command("bt-mz", "--steps", 20, "--every", 6, "--checkpoint", "c", *more))
        self.assertEqual(r["checkpoints"]["count"], 4)
        state = State("bt-mz")
        self.assertEqual(state.step, 20)
        self.assertRegex(state.schedule, r"^guided:time\S* \d+ tasks 2 units: ")
        r = self.record(command("bt-mz", "--steps", 20, "--restart", "c", *more))
        runs = re.findall(r"(\d+)\*(\d+)", state.schedule)
        self.assertEqual(r["owner"], [int(u) for n, u in runs for _ in range(int(n))])


class Refused(Base):
    def test_damaged(self):
        """Cut anywhere, or one bit anywhere, also where nothing is."""
        rng = random.Random(7)
        for app in "lu-mz", "ft", "mg":
            self.kept(app, *ALONE)
            data = State(app).data
            words = command(app, "--steps", SUBJECTS[app][2], "--restart", "c")
            places = [0, 8, 16, 24, 32, 40, 48, 56, 64, 4095, 4096, len(data) - 1] + [rng.randrange(len(data)) for _ in range(12)]
            for place in places:
                with self.subTest(app=app, place=place):
                    spoilt = bytearray(data)
                    spoilt[place] ^= 1 << rng.randrange(8)
                    self.spoil(spoilt)
                    self.refuses([*words, *ranks(1 + place % 2)], "c: this checkpoint" if place >= 8 else "c: this is no checkpoint")
            for length in [0, 7, 8, 63, 64, 4095, 4096, 5000, 50000, len(data) - 4096, len(data) - 1, len(data) + 1]:
                with self.subTest(app=app, length=length):
                    self.spoil((data + b"\0")[:length])
                    self.refuses([*words, *ALONE], "c: this")

    def test_other_runs(self):
        for app, rows in {
                "bt-mz": ((["bt-mz", "--class", "W", "--perturb"], "class=S there and class=W here"),
                          (["sp-mz", "--perturb"], "app=bt-mz there and app=sp-mz here"), (["bt-mz"], "perturb=1 there and perturb=0 here"),
                          (["bt-mz", "--perturb", "--steps", "5"], "at step 11, beyond the 5 wanted"), (["mg"], "no checkpoint of MG of this version")),
                "ft": ((["mg"], "c: this is no checkpoint of MG of this version"), (["bt-mz"], "c: this is no checkpoint of NPB-MZ of this version"),
                       (["ft", "--class", "W"], "size=32x16x16 there and class=W here"),
                       (["ft", "--size", "16x32x16"], "size=32x16x16 there and size=16x32x16 here"),
                       (["ft", "--size", "32x16x16", "--transposes", "2"], "transposes=1 there and transposes=2 here"),
                       (["ft", "--size", "32x16x16", "--steps", "2"], "at step 3, beyond the 2 wanted")),
                "mg": ((["ft"], "c: this is no checkpoint of FT of this version"), (["mg"], "size=32 there and class=S here"),
                       (["mg", "--size", "32", "--smoother", "b"], "smoother=a there and smoother=b here"),
                       (["mg", "--size", "32", "--steps", "2"], "at step 3, beyond the 2 wanted"))}.items():
            self.kept(app, *ALONE)
            for words, says in rows:
                self.refuses([EVENER, "run", *words, "--quiet", *ALONE, "--restart", "c"], says)
            for more in (), ranks(2):
                self.refuses(command(app, "--restart", "none", *more), "none cannot be read")
        self.kept("bt-mz", *ALONE)
        data = bytearray(State("bt-mz").data)  # another build: its words are changed, and the checksum fits again
        data[data.index(b"lanes=") + 6] ^= 1
        self.spoil(mend(data))
        self.refuses(command("bt-mz", "--restart", "c"), "lanes=", " there and lanes=")

    def test_forged(self):
        """The checksum is right, and what it is of is not: another version, another step, another length."""
        for app in "ft", "mg":
            self.kept(app, *ALONE)
            data = State(app).data
            for place, value, says in ((7, 2, "of this version"), (48, 1, "cut off or damaged"), (48, 0, "cut off or damaged"),
                                       (56, 77, "cut off or damaged" if app == "ft" else "at step 77, beyond the 5 wanted"),
                                       (59, 255, "cut off or damaged"), (24, 255, "this checkpoint"), (32, 255, "this checkpoint")):
                with self.subTest(app=app, place=place, value=value):
                    spoilt = bytearray(data)
                    spoilt[place] = value if spoilt[place] != value else value ^ 1
                    self.spoil(mend(spoilt))
                    self.refuses(command(app, "--steps", 5, "--restart", "c", *ALONE), "c: this", says)
        self.kept("ft", *ALONE)  # what fills the part up, with a checksum that has it in
        data = bytearray(State("ft").data)
        place = data.index(struct.pack("<2Q", 4096, 16 * 3)) + 16
        data[-1] = 1
        struct.pack_into("<Q", data, place, checksum(bytes(data[4096:])))
        self.spoil(mend(data))
        self.refuses(command("ft", "--steps", 5, "--restart", "c", *ALONE), "c: this checkpoint is damaged: the checksum of list 0")

    def test_words(self):
        os.mkfifo("pipe")
        for app in SUBJECTS:
            self.refuses(command(app, "--every", 2), "--every also needs --checkpoint")
            self.refuses(command(app, "--on-rank-loss", "restart", *ranks(2)), "--checkpoint")
            for more in (), ranks(2):
                self.refuses(command(app, "--checkpoint", "no/folder", *more), "no/folder cannot be written")
                self.refuses(command(app, "--checkpoint", "pipe", *more), "pipe: a state is kept in a file")
                self.refuses(command(app, "--restart", "pipe", *more), "pipe: this is no regular file")
            self.refuses(command(app, "--restart", "."), "no regular file")
            self.refuses(command(app, "--checkpoint", "-"), "kept in a file")
            self.refuses([EVENER, "plan", app, "--quiet", "--restart", "c"], "a plan computes nothing" if app in NPB else "evener plan and --restart")
        for variant in ("bulk", "overlap"):
            for option in ("--checkpoint", "--restart"):
                self.refuses(command("mg", "--variant", variant, option, "c"), f"--variant {variant} and {option} c", "slabs")


class Ends(Base):
    """Runs that end before they are done."""

    def start(self, words):
        return subprocess.Popen([*map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def test_interrupt(self):
        """The last state is kept, the line says how to go on, and what goes on has the bits; on devices, too."""
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        for app in "sp-mz", "ft", "mg":
            every = SUBJECTS[app][3]
            for words in (ALONE, ranks(2), ["--units", "1:CPU:1,1:GPU:1", "--devices", "emulated", "--oversubscribe"]):
                number = numbers[0]
                numbers = [*numbers[1:], number]
                with self.subTest(app=app, words=words, number=number):
                    run = self.start([*command(app, "--steps", 10000000, "--every", every // 8 if "GPU" in words[1] else every, *words), "--checkpoint", "c"])
                    deadline = time.monotonic() + 60
                    while run.poll() is None and time.monotonic() < deadline and not os.path.exists("c"):
                        time.sleep(0.002)
                    run.send_signal(number)
                    errors = run.communicate(timeout=60)[1]
                    self.assertEqual(run.returncode, 130, errors)
                    said = re.fullmatch(r"evener: interrupted: stopped after step (\d+) of 10+; go on with --restart c\n", errors)
                    self.assertTrue(said, errors)
                    step = int(said.group(1))
                    self.assertEqual(State(app).step, step)
                    if "GPU" not in words[1]:
                        self.goes_on(app, self.whole(app, steps=step + 3), step, *ALONE)
                    os.unlink("c")
                    self.assertEqual(set(os.listdir()) - {"r.json"}, set())

    def test_full_disk(self):
        """Later than at the first step the run ends, and the earlier state is as it was. Before the first step a full disk is bad input."""
        if os.geteuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("needs a small file system of its own")
        os.makedirs("small", exist_ok=True)
        for app, every, sizes in ("bt-mz", 5, (100, 400, 300)), ("mg", 200, (200, 700, 600)):
            for more in (ALONE, ranks(2)):
                words = " ".join([*command(app, *more), "--checkpoint", "small/c", "--every", str(every)])
                done = subprocess.run(["unshare", "-m", "sh", "-c",
                                       f"mount -t tmpfs -o size={sizes[0]}k none small && {words} --steps 10; a=$?; ls -A small | wc -l; "
                                       f"umount small; mount -t tmpfs -o size={sizes[1]}k none small && {words} --steps {max(every, 10)}; b=$?; "
                                       f"cp small/c kept; {words} --steps 100000000 & run=$!; "  # it is filled once a step is done
                                       f"while kill -0 $run 2>/dev/null && ! [ small/c -nt kept ]; do sleep 0.05; done; "
                                       f"while kill -0 $run 2>/dev/null; do "  # a state that is being written has room
                                       f"sleep 0.1; head -c {sizes[2]}k /dev/zero >> small/full; done 2>/dev/null; wait $run; c=$?; "
                                       f"cp small/c later; ls -A small; echo $a $b $c"],
                                      capture_output=True, text=True, timeout=120)
                self.assertEqual(done.stdout.split(), ["0", "c", "full", "2", "0", "3"], done.stderr)
                self.assertEqual((done.stderr.count("evener: "), done.stderr.count("No space left")), (2, 2), done.stderr)
                self.assertEqual((State(app, "kept").step, State(app, "later").step % every), (max(every, 10), 0))


class Elsewhere(Base):
    """Ranks that an MPI has started, some of which are (as far as they know) on another host."""

    def test_come_and_go(self):
        """By way of rank 0: neither the process that has the file nor the file itself is to be seen."""
        launch = self.elsewhere()
        for app, (_, half, steps, _) in SUBJECTS.items():
            whole = self.whole(app)
            words = [*launch, *command(app, *ALONE, "--oversubscribe")]
            self.record([*words, "--steps", str(half), "--checkpoint", "blind/c", "--every", "2"], env=clean() | {"BLIND": os.path.abspath("blind")})
            self.kept(app, *ALONE)
            self.assertEqual(State(app, "blind/c").zone, State(app).zone)
            for blind in ("", os.path.abspath("blind")):
                r = self.record([*words, "--steps", str(steps), "--restart", "blind/c"], env=clean() | {"BLIND": blind})
                self.assertEqual((r["hash"], r.get("checksums"), r["restarted_from"]), (whole["hash"], whole.get("checksums"), half))
