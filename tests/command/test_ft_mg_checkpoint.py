#!/usr/bin/env python3
"""FT and MG keep their state and go on from it: the bits of a run that never stopped, from each step, on any ranks, units and
schedules; damaged and foreign files; interrupts, kill -9, full disks, ranks of other hosts.

Files are read here by their description (suite/apps/common/checkpoint/state_file.h, suite/apps/ft/state.h, suite/apps/mg/state.h), not by the program's code.
EVENER_KILLS=200 kills so many runs instead of a few.

Run: ctest -R '^command-ft-mg-checkpoint$', or tests/command/test_ft_mg_checkpoint.py build/evener [test ..]
"""
import os
import random
import struct
import time
import unittest

import test_checkpoint as npbmz
from base import EVENER, clean

KILLS = int(os.environ.get("EVENER_KILLS", "4"))
SEED, PRIME, MASK = 1469598103934665603, 1099511628211, (1 << 64) - 1
SIZE = {"ft": ["--size", "32x16x16"], "mg": ["--size", "32"]}
STEPS, HALF = 5, 3
LONG = {"ft": (2000, 40), "mg": (8000, 160)}  # steps, and every how many
ALONE = ["--units", "1:CPU:1"]
ranks = npbmz.ranks


def command(app, *words):
    return [EVENER, "run", app, *SIZE[app], "--quiet", *map(str, words)]


def state(app, name="c"):
    return npbmz.State(name, app.upper().encode())


def mend(data):
    """With its header's checksum as it is to be."""
    header = struct.unpack_from("<Q", data, 8)[0]
    struct.pack_into("<Q", data, header - 8, npbmz.checksum(bytes(data[:header - 8])))
    return data


class Base(npbmz.Base):
    def kept(self, app, *words, name="c", steps=HALF):
        return self.record(command(app, "--steps", steps, "--checkpoint", name, *words))

    def whole(self, app, steps=STEPS):
        return self.record(command(app, "--steps", steps, *ALONE))

    def same(self, record, whole, first):
        self.assertEqual((record["hash"], record["steps"], record["restarted_from"]), (whole["hash"], whole["steps"], first))
        for name in ("checksums", "norm"):
            self.assertEqual(record.get(name), whole.get(name))


class Bits(Base):
    def test_each_step(self):
        """Kept after each step and gone on from, on 1, 2, 3 ranks and back; after the last one there is nothing to do."""
        lists = [ALONE, ranks(2), ranks(3), ["--units", "2:CPU:1", "--oversubscribe"]]
        for app in SIZE:
            whole = self.whole(app)
            for step in range(1, STEPS + 1):
                with self.subTest(app=app, step=step):
                    r = self.kept(app, *lists[step % 4], steps=step)
                    self.assertEqual((r["checkpoints"]["count"], state(app).step), (1, step))
                    for words in (lists[(step + 1) % 4], lists[(step + 2) % 4]):
                        r = self.record(command(app, "--steps", STEPS, "--restart", "c", *words))
                        self.same(r, whole, step)
                        if step == STEPS:
                            self.assertEqual(r["mops"], 0)

    def test_chain(self):
        """From state to state in one file, other ranks and schedules each time."""
        for app in SIZE:
            whole = self.whole(app, 7)
            self.kept(app, *ranks(3), "--schedule", "guided:time", "--slow", "1:3@1", steps=2)
            for step, words in ((3, [*ranks(2), "--schedule", "dynamic"]), (5, ["--units", "2:CPU:1", "--schedule", "dynamic",
                                "--oversubscribe"]), (6, [*ranks(4), "--schedule", "weighted"])):
                self.kept(app, "--restart", "c", *words, steps=step)
            self.same(self.record(command(app, "--steps", 7, "--restart", "c", *ranks(2, "1:CPU:2"))), whole, 6)

    def test_ways(self):
        """FT with two transposes has bits of its own; variants, and nodes of one rank, have the same."""
        for more in (["--transposes", 2], ["--variant", "slabs"], ["--variant", "packed", "--transposes", 2]):
            alone = [word for word in more if word not in ("--variant", "slabs", "packed")]
            whole = self.record(command("ft", "--steps", STEPS, *alone, *ALONE))
            self.kept("ft", *more, *ranks(3))
            self.same(self.record(command("ft", "--steps", STEPS, "--restart", "c", *alone, *ALONE)), whole, HALF)
            self.same(self.record(command("ft", "--steps", STEPS, "--restart", "c", *more, *ranks(2))), whole, HALF)
            self.kept("ft", *alone, *ALONE, steps=STEPS)
            self.same(self.record(command("ft", "--steps", STEPS, "--restart", "c", *more, *ranks(2))), whole, STEPS)
        whole = self.whole("mg")
        self.kept("mg", "--per-node", 1, *ranks(3))
        self.same(self.record(command("mg", "--steps", STEPS, "--restart", "c", "--per-node", 1, *ranks(2))), whole, HALF)

    def test_what_is_kept(self):
        """The same bytes whoever wrote them: FT's are its checksums, MG's the numbers that the hash is of."""
        for app in SIZE:
            record = self.kept(app, *ALONE, name="alone")
            self.kept(app, *ranks(3), "--every", 1, name="three")
            one, three = state(app, "alone"), state(app, "three")
            self.assertEqual((one.zone, one.step, one.identity), (three.zone, HALF, three.identity))
            self.assertEqual(one.identity["app"], app)
            data = b"".join(one.zone)
            if app == "ft":
                numbers = [number for pair in record["checksums"] for number in pair]
                self.assertEqual(list(struct.unpack(f"<{2 * HALF}d", data)), numbers)
                continue
            self.assertEqual(len(data), 8 * 32 ** 3)
            total = SEED
            for plane in range(32):
                part = SEED
                for (word,) in struct.iter_unpack("<Q", data[8192 * plane:8192 * (plane + 1)]):
                    part = (part ^ word) * PRIME & MASK
                total = (total ^ part) * PRIME & MASK
            self.assertEqual(f"{total:016x}", record["hash"])

    def test_official(self):
        """Steps are counted from the beginning: official runs are verified."""
        for app in SIZE:
            words = [EVENER, "run", app, "--class", "S", "--quiet", *ALONE]
            whole = self.record(words)
            self.assertNotIn("restarted_from", whole)
            self.assertNotIn("checkpoints", whole)
            self.record([*words, "--steps", "2", "--checkpoint", "c"])
            for first, more in ((2, []), (whole["steps"], []), (whole["steps"], ranks(2))):
                r = self.record([*words, *map(str, more), "--restart", "c", "--checkpoint", "c", "--every", "1"])
                self.assertTrue(r["verified"])
                self.same(r, whole, first)
                self.assertEqual(r["checkpoints"]["count"], whole["steps"] - first)


class Refused(Base):
    def test_damaged(self):
        """Cut anywhere, or one bit anywhere, also where nothing is."""
        rng = random.Random(7)
        for app in SIZE:
            self.kept(app, *ALONE)
            data = state(app).data
            words = command(app, "--steps", STEPS, "--restart", "c")
            places = [0, 8, 16, 24, 32, 40, 48, 56, 64, 4095, 4096, len(data) - 1] + [rng.randrange(len(data)) for _ in range(12)]
            for place in places:
                with self.subTest(app=app, place=place):
                    spoilt = bytearray(data)
                    spoilt[place] ^= 1 << rng.randrange(8)
                    with open("c", "wb") as f:
                        f.write(spoilt)
                    self.refuses([*words, *map(str, ranks(1 + place % 2))], "c: this checkpoint" if place >= 8 else "c: this is no")
            for length in [0, 7, 8, 63, 64, 4095, 4096, 5000, len(data) - 4096, len(data) - 1, len(data) + 1]:
                with self.subTest(app=app, length=length):
                    with open("c", "wb") as f:
                        f.write((data + b"\0")[:length])
                    self.refuses([*words, *ALONE], "c: this")

    def test_other_runs(self):
        run = ["--quiet", *ALONE, "--restart", "c"]
        self.kept("ft", *ALONE)
        self.refuses([EVENER, "run", "mg", *run], "c: this is no checkpoint of MG of this version")
        self.refuses([EVENER, "run", "bt-mz", *run], "c: this is no checkpoint of NPB-MZ of this version")
        self.refuses([EVENER, "run", "ft", "--class", "W", *run], "size=32x16x16 there and class=W here")
        self.refuses([EVENER, "run", "ft", "--size", "16x32x16", *run], "size=32x16x16 there and size=16x32x16 here")
        self.refuses(command("ft", "--transposes", 2, *run), "transposes=1 there and transposes=2 here")
        self.record([EVENER, "run", "ft", "--steps", "1", "--checkpoint", "d", "--quiet", *ALONE])
        self.refuses([EVENER, "run", "ft", "--quiet", "--restart", "d", "--transposes", "2"], "transposes=1 there and transposes=2 here")
        self.refuses(command("ft", "--steps", 2, *run), "at step 3, beyond the 2 wanted")
        self.kept("mg", *ALONE)
        self.refuses([EVENER, "run", "ft", *run], "c: this is no checkpoint of FT of this version")
        self.refuses(command("mg", "--smoother", "b", *run), "smoother=a there and smoother=b here")
        self.refuses([EVENER, "run", "mg", *run], "size=32 there and class=S here")
        self.refuses(command("mg", "--steps", 2, *run), "at step 3, beyond the 2 wanted")
        self.refuses(command("mg", "--restart", "none", *ranks(2)), "none cannot be read")
        self.record([EVENER, "run", "bt-mz", "--steps", "1", "--checkpoint", "c", "--quiet", *ALONE])
        self.refuses([EVENER, "run", "mg", *run], "c: this is no checkpoint of MG of this version")

    def test_forged(self):
        """The checksum is right, and what it is of is not: another version, another step, another length."""
        for app in SIZE:
            self.kept(app, *ALONE)
            data = state(app).data
            words = command(app, "--steps", STEPS, "--restart", "c", *ALONE)
            for place, value, says in ((7, 2, "of this version"), (48, 1, "cut off or damaged"), (48, 0, "cut off or damaged"),
                                       (56, 77, "cut off or damaged" if app == "ft" else "at step 77, beyond the 5 wanted"),
                                       (59, 255, "cut off or damaged"), (24, 255, "this checkpoint"), (32, 255, "this checkpoint")):
                with self.subTest(app=app, place=place, value=value):
                    spoilt = bytearray(data)
                    spoilt[place] = value if spoilt[place] != value else value ^ 1
                    with open("c", "wb") as f:
                        f.write(mend(spoilt))
                    self.refuses(words, "c: this", says)

        self.kept("ft", *ALONE)  # what fills the part up, with a checksum that has it in
        data = bytearray(state("ft").data)
        place = data.index(struct.pack("<2Q", 4096, 16 * HALF)) + 16
        data[-1] = 1
        struct.pack_into("<Q", data, place, npbmz.checksum(bytes(data[4096:])))
        with open("c", "wb") as f:
            f.write(mend(data))
        self.refuses(command("ft", "--steps", STEPS, "--restart", "c", *ALONE), "c: this checkpoint is damaged: the checksum of list 0")

    def test_words(self):
        for app in SIZE:
            self.refuses(command(app, "--every", 2), "--every also needs --checkpoint")
            self.refuses(command(app, "--checkpoint", "no/folder"), "no/folder cannot be written")
            self.refuses(command(app, "--on-rank-loss", "restart", *ranks(2)), "--checkpoint")
            for other in ("plan", "calibrate"):
                self.refuses([EVENER, other, app, "--quiet", "--restart", "c"], f"evener {other} and --restart do not go together")
        for variant in ("bulk", "overlap"):
            for option in ("--checkpoint", "--restart"):
                self.refuses(command("mg", "--variant", variant, option, "c"), f"--variant {variant} and {option} c", "slabs")


class Ends(Base, npbmz.Halting):
    def test_interrupt(self):
        """The last state is kept, the line says how to go on, and what goes on has the bits."""
        for app in SIZE:
            for words in (ALONE, ranks(2)):
                with self.subTest(app=app, words=words):
                    step = self.interrupted(command(app, "--steps", 1000000, "--every", LONG[app][1], *words))
                    self.assertEqual(state(app).step, step)
                    whole = self.whole(app, step + 3)
                    self.same(self.record(command(app, "--steps", step + 3, "--restart", "c", *ALONE)), whole, step)
                    os.unlink("c")
                    self.assertEqual(set(os.listdir()) - {"r.json"}, set())

    def test_kill(self):
        """kill -9 at any moment: what goes on from the last state ends with the same bits."""
        lists = [ALONE, ranks(2), ["--units", "2:CPU:1", "--oversubscribe"], ranks(3)]
        for app, (steps, every) in LONG.items():
            whole = self.whole(app, steps)
            r = self.gone_on(command(app, "--steps", steps, "--every", every), lists, 0.05, KILLS,
                             lambda app=app, every=every: self.assertEqual(state(app).step % every, 0))
            self.assertEqual((r["hash"], r.get("checksums"), r.get("norm")),
                             (whole["hash"], whole.get("checksums"), whole.get("norm")))
            os.unlink("c")

    def test_full_disk(self):
        """Later than at the first step the run ends, and the earlier state is as it was."""
        for more in (ALONE, ranks(2)):
            self.fill_disk(command("mg", *more), 200, (200, 700, 600))
            self.assertEqual((state("mg", "kept").step, state("mg", "later").step % 200), (200, 0))


class Elsewhere(npbmz.Elsewhere):
    """Ranks that an MPI has started, some of which are (as far as they know) on another host."""

    def test_zones_come_and_go(self):
        """By way of rank 0: neither the process that has the file nor the file itself is to be seen."""
        for app in SIZE:
            whole = self.record(command(app, "--steps", STEPS, *ALONE))
            words = [*self.launch, "./elsewhere", *command(app, *ALONE, "--oversubscribe")]
            self.record([*words, "--steps", str(HALF), "--checkpoint", "blind/c", "--every", "2"],
                        env=clean() | {"BLIND": os.path.abspath("blind")})
            self.record(command(app, "--steps", HALF, "--checkpoint", "c", *ALONE))
            self.assertEqual(state(app, "blind/c").zone, state(app).zone)
            for blind in ("", os.path.abspath("blind")):
                r = self.record([*words, "--steps", str(STEPS), "--restart", "blind/c"], env=clean() | {"BLIND": blind})
                self.assertEqual((r["hash"], r.get("checksums"), r["restarted_from"]), (whole["hash"], whole.get("checksums"), HALF))


if __name__ == "__main__":
    unittest.main()
