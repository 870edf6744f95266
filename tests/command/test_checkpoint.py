#!/usr/bin/env python3
"""NPB-MZ keeps its state and goes on from it: the bits of a run that never stopped, on any ranks and units; damaged and
foreign files; interrupts, kill -9, full disks, ranks of other hosts.

The file is read here by its description (suite/apps/common/checkpoint/state_file.h), not by the program's code.
EVENER_KILLS=200 kills so many runs instead of a few.

Run: ctest -R '^command-checkpoint$', or tests/command/test_checkpoint.py build/evener [test ..]
"""
import math
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

import base
from base import EVENER, clean, ended

KILLS = int(os.environ.get("EVENER_KILLS", "6"))
MASK = (1 << 64) - 1
HALF, STEPS = 11, 20
SIZES = {"bt": 5, "sp": 5, "lu": 10}
ELSEWHERE = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
if [ "$rank" = 0 ]; then exec "$@"; fi
exec unshare -mu sh -c 'hostname another && if [ -n "$BLIND" ]; then mount -t tmpfs none "$BLIND"; fi && exec "$@"' sh "$@"
"""


def command(app, *words):
    return [EVENER, "run", app + "-mz", "--class", "S", "--perturb", "--quiet", *map(str, words)]


def ranks(number, units="1:CPU:1"):
    return ["--processes", number, "--units", units, "--oversubscribe"]


def checksum(data):
    """Of words, each mixed in and folded."""
    total = 1469598103934665603
    for (word,) in struct.iter_unpack("<Q", data):
        total = (total ^ word) * 1099511628211 & MASK
        total ^= total >> 32
    return total


class State:
    """A file that was kept, taken apart."""

    def __init__(self, path, name=b"MZ"):
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

    def kept(self, app, *words, name="c"):
        self.record(command(app, "--steps", HALF, "--checkpoint", name, *words))
        return name


class Bits(Base):
    def test_ranks(self):
        """Written by 4 ranks, read by 1, 2, 3, 8, by other units and schedules."""
        for app in SIZES:
            whole = self.record(command(app, "--steps", STEPS, "--units", "1:CPU:1"))
            self.assertNotIn("restarted_from", whole)
            self.kept(app, *ranks(4), "--every", 5)
            for words in (["--units", "1:CPU:1"], ["--units", "1:CPU:2"], ["--units", "2:CPU:1", "--schedule", "dynamic"],
                          ranks(2), [*ranks(3), "--schedule", "guided:time"], ranks(8)):
                with self.subTest(app=app, words=words):
                    r = self.record(command(app, "--steps", STEPS, "--restart", "c", *words))
                    self.assertEqual((r["hash"], r["steps"], r["restarted_from"]), (whole["hash"], STEPS, HALF))

    def test_same_bytes(self):
        """Zones are the same whoever wrote them, and are what the record says of them."""
        for app, size in SIZES.items():
            self.kept(app, "--units", "1:CPU:1", name="alone")
            self.kept(app, *ranks(3), name="three")
            one, three = State("alone"), State("three")
            self.assertEqual(one.zone, three.zone)
            self.assertEqual(one.step, HALF)
            self.assertEqual(one.identity["app"], app + "-mz")
            r = self.load("r.json")
            wide, high = r["zones"]["x"], r["zones"]["y"]
            for z, data in enumerate(one.zone):
                nx, ny = wide[z % len(wide)], high[z // len(wide)]
                nz = len(data) // (8 * size * nx * ny)
                value = struct.unpack(f"<{len(data) // 8}d", data)
                for m in range(5):
                    total = math.fsum(value[((m * nz + k) * ny + j) * nx + i] for k in range(1, nz - 1)
                                      for j in range(1, ny - 1) for i in range(1, nx - 1))
                    self.assertAlmostEqual(total, r["zone_sums"][5 * z + m], delta=1e-10 * max(1, abs(total)))

    def test_devices(self):
        """The state comes home from devices, and goes there again; with and without units that are lost."""
        emulated = ["--devices", "emulated"]
        for app in SIZES:
            whole = self.record(command(app, "--steps", STEPS, "--units", "1:GPU:1", *emulated))
            self.kept(app, "--units", "2:GPU:1", *emulated, "--every", 4)
            for words in (["--units", "1:GPU:2"], ranks(2, "1:GPU:1"),
                          ["--units", "2:GPU:1", "--schedule", "guided:time", "--checkpoint", "d", "--every", 3]):
                with self.subTest(app=app, words=words):
                    r = self.record(command(app, "--steps", STEPS, "--restart", "c", *words, *emulated))
                    self.assertEqual(r["hash"], whole["hash"])

    def test_official(self):
        """Steps are counted from the beginning: the official run is verified."""
        for app in SIZES:
            words = [EVENER, "run", app + "-mz", "--class", "S", "--quiet", "--units", "1:CPU:1"]
            self.record([*words, "--steps", "23", "--checkpoint", "c"])
            r = self.record([*words, "--restart", "c", "--checkpoint", "c"])
            self.assertTrue(r["verified"])
            again = self.record([*words, "--restart", "c"]) # of its last step: nothing is left to do
            self.assertTrue(again["verified"])
            self.assertEqual((again["hash"], again["restarted_from"]), (r["hash"], r["steps"]))

    def test_every(self):
        """As often as asked for, after the last step, and the schedule's assignment goes with it."""
        r = self.record(command("bt", "--steps", 20, "--every", 6, "--checkpoint", "c", "--units", "2:CPU:1", "--schedule",
                                "guided:time"))
        self.assertEqual(r["checkpoints"]["count"], 4)
        state = State("c")
        self.assertEqual(state.step, 20)
        self.assertRegex(state.schedule, r"^guided:time\S* \d+ tasks 2 units: ")
        r = self.record(command("bt", "--steps", 20, "--restart", "c", "--units", "2:CPU:1", "--schedule", "guided:time"))
        runs = re.findall(r"(\d+)\*(\d+)", state.schedule)
        self.assertEqual(r["owner"], [int(u) for n, u in runs for _ in range(int(n))])


class Refused(Base):
    def test_cut(self):
        self.kept("bt", "--units", "1:CPU:1")
        whole = State("c").data
        words = command("bt", "--steps", STEPS, "--restart", "cut", "--units", "1:CPU:1")
        for length in [*range(0, len(whole), 1000), len(whole) - 1, len(whole) + 1]:
            with open("cut", "wb") as f:
                f.write((whole + b"\0")[:length])
            self.refuses(words, "cut: this")

    def test_flipped(self):
        """One bit anywhere, also where nothing is."""
        self.kept("lu", "--units", "1:CPU:1")
        whole = State("c").data
        rng = random.Random(4)
        places = [0, 8, 16, 24, 32, 40, 48, 56, 64, 4095, 4096, len(whole) - 1] + [rng.randrange(len(whole)) for _ in range(40)]
        for place in places:
            data = bytearray(whole)
            data[place] ^= 1 << rng.randrange(8)
            with open("c", "wb") as f:
                f.write(data)
            with self.subTest(place=place):
                self.refuses(command("lu", "--steps", STEPS, "--restart", "c", *ranks(1 + place % 2)), "c: this checkpoint"
                             if place >= 8 else "c: this is no checkpoint")

    def test_other_runs(self):
        self.kept("bt", "--units", "1:CPU:1")
        run = ["--quiet", "--units", "1:CPU:1", "--restart", "c"]
        self.refuses([EVENER, "run", "bt-mz", "--class", "W", "--perturb", *run], "class=S there and class=W here")
        self.refuses([EVENER, "run", "sp-mz", "--perturb", *run], "app=bt-mz there and app=sp-mz here")
        self.refuses([EVENER, "run", "bt-mz", *run], "perturb=1 there and perturb=0 here")
        self.refuses([EVENER, "run", "bt-mz", "--perturb", "--steps", "5", *run], "at step 11, beyond the 5 wanted")
        self.refuses(["env", "--", *command("bt", "--restart", "none")], "none cannot be read")
        self.refuses(command("bt", "--restart", "none", *ranks(2)), "none cannot be read")
        self.refuses(command("bt", "--restart", "."), "no regular file")
        data = bytearray(State("c").data) # another build: its words are changed, and the checksum fits again
        place = data.index(b"lanes=") + 6
        data[place] ^= 1
        header = struct.unpack_from("<Q", data, 8)[0]
        struct.pack_into("<Q", data, header - 8, checksum(data[:header - 8]))
        with open("c", "wb") as f:
            f.write(data)
        self.refuses(command("bt", "--restart", "c"), "lanes=", " there and lanes=")

    def test_places(self):
        os.mkfifo("pipe")
        for words in ([], ranks(2)):
            self.refuses(command("bt", "--checkpoint", "no/folder", *words), "no/folder cannot be written")
            self.refuses(command("bt", "--checkpoint", "pipe", *words), "pipe: a state is kept in a file")
            self.refuses(command("bt", "--restart", "pipe", *words), "pipe: this is no regular file")
        self.refuses(command("bt", "--checkpoint", "-"), "kept in a file")
        self.refuses(command("bt", "--every", "2"), "--every also needs --checkpoint")
        self.refuses([EVENER, "plan", "bt-mz", "--restart", "c"], "a plan computes nothing")


class Halting(Base):
    """Runs that end before they are done."""

    def start(self, words):
        return subprocess.Popen([*map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def until(self, path, run, before=0):
        """Waits until the file is there, and another one than `before`."""
        deadline = time.monotonic() + 60
        while run.poll() is None and time.monotonic() < deadline:
            if os.path.exists(path) and os.stat(path).st_mtime_ns != before:
                return
            time.sleep(0.002)

    def interrupted(self, words, number=signal.SIGTERM):
        """The step that the line says, which also says how to go on."""
        run = self.start([*words, "--checkpoint", "c"])
        self.until("c", run)
        run.send_signal(number)
        errors = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, 130, errors)
        said = re.fullmatch(r"evener: interrupted: stopped after step (\d+) of 10+; go on with --restart c\n", errors)
        self.assertTrue(said, errors)
        return int(said.group(1))

    def gone_on(self, words, lists, pause, kills, look):
        """The record of a run that is killed so many times, each time on the next of the lists and from the last state, at which look() looks."""
        rng = random.Random(time.time_ns())
        for kill in range(kills):
            there = os.path.exists("c")
            before = os.stat("c").st_mtime_ns if there else 0
            run = self.start([*words, *lists[kill % len(lists)], "--checkpoint", "c", *(["--restart", "c"] if there else [])])
            self.until("c", run, before)
            time.sleep(pause * rng.random())
            run.kill()
            errors = run.communicate(timeout=60)[1]
            self.assertIn(run.returncode, (0, -signal.SIGKILL), errors)
            look()
            if run.returncode == 0: # it was done: all over again
                os.unlink("c")
        return self.record([*words, *lists[0], "--checkpoint", "c", *(["--restart", "c"] if os.path.exists("c") else [])])

    def fill_disk(self, words, every, sizes):
        """The states `kept` on a disk with room, and `later` on one that was filled. Before the first step a full disk is bad input."""
        if os.geteuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("needs a small file system of its own")
        os.makedirs("small", exist_ok=True)
        words = " ".join([*words, "--checkpoint", "small/c", "--every", str(every)])
        done = subprocess.run(["unshare", "-m", "sh", "-c",
                               f"mount -t tmpfs -o size={sizes[0]}k none small && {words} --steps 10; a=$?; ls -A small | wc -l; "
                               f"umount small; mount -t tmpfs -o size={sizes[1]}k none small && {words} --steps {max(every, 10)}; b=$?; "
                               f"cp small/c kept; {words} --steps 100000000 & run=$!; " # it is filled once a step is done
                               f"while kill -0 $run 2>/dev/null && ! [ small/c -nt kept ]; do sleep 0.05; done; "
                               f"while kill -0 $run 2>/dev/null; do " # a state that is being written has room
                               f"sleep 0.1; head -c {sizes[2]}k /dev/zero >> small/full; done 2>/dev/null; wait $run; c=$?; "
                               f"cp small/c later; ls -A small; echo $a $b $c"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout.split(), ["0", "c", "full", "2", "0", "3"], done.stderr)
        self.assertEqual(done.stderr.count("evener: "), 2, done.stderr)
        self.assertEqual(done.stderr.count("No space left"), 2, done.stderr)


class Ends(Halting):
    def test_interrupt(self):
        """The last state is kept, and the line says how to go on."""
        for words in (["--units", "1:CPU:1"], ranks(2)):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(words=words, number=number):
                    step = self.interrupted(command("sp", "--steps", 10000000, "--every", 400, *words), number)
                    self.assertEqual(State("c").step, step)
                    os.unlink("c")
                    self.assertEqual(set(os.listdir()) - {"r.json"}, set())

    def test_kill(self):
        """kill -9 at any moment: what goes on from the last state ends with the same bits. Nothing else is left behind."""
        words = command("lu", "--steps", 4000, "--every", 40)
        whole = self.record(command("lu", "--steps", 4000, "--units", "1:CPU:1"))
        left = []

        def look():
            State("c")
            more = [name for name in os.listdir() if name.startswith(".evener-")]
            self.assertLessEqual(set(os.listdir()), {"r.json", "c", *more})
            left.extend(more) # killed between two calls that give it its name: <evener/output.h>
            for name in more:
                os.unlink(name)

        r = self.gone_on(words, [["--units", "1:CPU:1"], ranks(2), ["--units", "2:CPU:1"], ranks(3)], 0.1, KILLS, look)
        self.assertLessEqual(len(left), 1 + KILLS // 100)
        self.assertEqual(r["hash"], whole["hash"])

    def test_two_at_once(self):
        """Each file is of one of them, whole."""
        words = command("bt", "--steps", 1500, "--every", 1, "--checkpoint", "c")
        both = [self.start([*words, "--units", "1:CPU:1"]), self.start([*words, *map(str, ranks(2))])]
        looks = 0
        while any(run.poll() is None for run in both):
            if os.path.exists("c"):
                State("c")
                looks += 1
            time.sleep(0.02)
        self.assertEqual([run.communicate()[1] for run in both], ["", ""])
        self.assertEqual([run.returncode for run in both], [0, 0])
        self.assertGreater(looks, 3)
        self.assertEqual(State("c").step, 1500)
        self.assertEqual(os.listdir(), ["c"])

    def test_full_disk(self):
        """Later than at the first step the run ends, and the earlier state is as it was."""
        for more in (["--units", "1:CPU:1"], ranks(2)):
            self.fill_disk(command("bt", *more), 5, (100, 400, 300))
            self.assertEqual(State("kept").step, 10)
            self.assertEqual(State("later").step % 5, 0)


class Elsewhere(Base):
    """Ranks that an MPI has started, some of which are (as far as they know) on another host."""

    def setUp(self):
        super().setUp()
        if os.geteuid() or subprocess.run(["unshare", "-mu", "true"], capture_output=True).returncode:
            self.skipTest("needs hosts' names and file systems of its own")
        self.launch = [shutil.which("mpirun.openmpi"), "--oversubscribe", "-n", "3"]
        if not self.launch[0]:
            self.launch = [shutil.which("mpirun.mpich"), "-n", "3"]
        if not self.launch[0]:
            self.skipTest("there is no MPI")
        os.chmod(self.write("elsewhere", ELSEWHERE), 0o700)
        os.mkdir("blind")

    def test_zones_come_and_go(self):
        """By way of rank 0: neither the process that has the file nor the file itself is to be seen."""
        for app in SIZES:
            whole = self.record(command(app, "--steps", STEPS, "--units", "1:CPU:1"))
            words = [*self.launch, "./elsewhere", *command(app, "--units", "1:CPU:1", "--oversubscribe")]
            self.record([*words, "--steps", str(HALF), "--checkpoint", "blind/c", "--every", "4"],
                        env=clean() | {"BLIND": os.path.abspath("blind")})
            self.kept(app, "--units", "1:CPU:1")
            self.assertEqual(State("blind/c").zone, State("c").zone)
            for blind in ("", os.path.abspath("blind")):
                r = self.record([*words, "--steps", str(STEPS), "--restart", "blind/c"], env=clean() | {"BLIND": blind})
                self.assertEqual((r["hash"], r["restarted_from"]), (whole["hash"], HALF))


if __name__ == "__main__":
    unittest.main()
