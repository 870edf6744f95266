#!/usr/bin/env python3
"""Whether the executor of PTX sees what it is to see and computes what PTX says: kernels and calls that are wrong in one way each, atomic
operations, shuffles and grids of two dimensions against Python. By NVRTC where there is one, and by clang; by one of them without EVENER_TEST_LONG=1.

    python3 tests/ptx/test_executor.py DRIVER CLANG-NVRTC CACHE"""

import ctypes as C
import os
import re
import subprocess
import sys
import unittest

from found import nvrtc

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = open(HERE + "/cases.cu").read()
DRIVER, CLANG, CACHE = sys.argv[1:4]
ITEMS = {name: int(items) for items, name in re.findall(r"KERNEL\((\d+)\) (\w+)", TEXT)}
WORDS = 1024

# kernel, or call: what is told; None: nothing
TOLD = {"good": None, "no_barrier": "race in group memory", "outside": "out of bounds", "skewed": "misaligned",
        "unwritten": "unwritten group memory read", "groups": "race: two writers", "others_read": "race: writes what another group reads",
        "diverged": "barrier where a warp has diverged", "constant": "ld.global.nc", "warp_good": None,
        "warp_race": "race in group memory: reads what another item writes", "atomics": None, "tickets": None, "atomic_shared": None,
        "atomic_mixed": "race: two writers", "shuffles": None, "shuffle_absent": "lanes that others wait for are elsewhere",
        "shuffle_outside": "shuffle from a lane that does not take part", "plane": None, "generic": None, "sizes": None,
        "streams": "race between streams", "ordered": None, "freed": "freed while in use", "left": "left behind", "never": "unwritten memory read",
        "many": "more items than the kernel is compiled for"}
GROUPS_OF_8 = {"good", "groups", "others_read", "streams", "ordered", "freed", "atomics", "tickets"}


def begin(which):
    """Doubles that a kernel finds"""
    if which == "atomics":
        return [0.0] * WORDS
    if which == "tickets":
        return [0.0] * 1020 + [C.c_double.from_buffer(C.c_uint64(7)).value] + [0.0] * 3
    return [float(i % 7 - 3) for i in range(WORDS)]


# ---- the child: one kernel, its outcome as words of 64 bits on standard output

def check(code):
    if code:
        sys.exit(f"refused: {code}")


def ptx_of(library):
    n, program, size = C.CDLL(library), C.c_void_p(), C.c_size_t()
    n.nvrtcCreateProgram(C.byref(program), TEXT.encode(), b"cases", 0, None, None)
    code = n.nvrtcCompileProgram(program, 1, (C.c_char_p * 1)(b"--gpu-architecture=compute_80"))
    if code:
        n.nvrtcGetProgramLogSize(program, C.byref(size))
        log = C.create_string_buffer(size.value)
        n.nvrtcGetProgramLog(program, log)
        raise RuntimeError(log.value.decode())
    n.nvrtcGetPTXSize(program, C.byref(size))
    ptx = C.create_string_buffer(size.value)
    n.nvrtcGetPTX(program, ptx)
    return ptx.value


def child(which, ptx):
    d = C.CDLL(DRIVER)
    context, module, function, one, two, event = (C.c_void_p() for _ in range(6))
    memory = C.c_uint64()
    check(d.cuInit(0))
    check(d.cuDevicePrimaryCtxRetain(C.byref(context), 0))
    check(d.cuCtxSetCurrent(context))
    check(d.cuModuleLoadDataEx(C.byref(module), open(ptx, "rb").read() + b"\0", 0, None, None))
    check(d.cuMemAlloc_v2(C.byref(memory), C.c_size_t(8 * WORDS)))
    check(d.cuStreamCreate(C.byref(one), 1))
    check(d.cuStreamCreate(C.byref(two), 1))
    check(d.cuEventCreate(C.byref(event), 0))
    host = (C.c_double * WORDS)(*begin(which))
    if which != "never":
        check(d.cuMemcpyHtoDAsync_v2(memory, host, C.c_size_t(8 * WORDS), one))
        check(d.cuStreamSynchronize(one))
    name = which if which in ITEMS else "good"
    check(d.cuModuleGetFunction(C.byref(function), module, name.encode()))
    count = C.c_int(WORDS)

    def launch(stream):
        values = [C.pointer(memory)] * (2 if name == "constant" else 1) + [C.pointer(count)]
        grid = (2, 4, 1) if which == "plane" else (8 if which in GROUPS_OF_8 else 1, 1, 1)
        block = (16, 8, 1) if which == "plane" else (256 if which == "many" else ITEMS[name], 1, 1)
        check(d.cuLaunchKernel(function, *grid, *block, 0, stream, (C.c_void_p * len(values))(*[C.cast(x, C.c_void_p) for x in values]), None))

    launch(one)
    if which in ("streams", "ordered"):
        check(d.cuEventRecord(event, one))
        if which == "ordered":
            check(d.cuStreamWaitEvent(two, event, 0))
        launch(two)
    if which == "freed":
        check(d.cuMemFree_v2(memory))
    check(d.cuStreamSynchronize(one))
    check(d.cuStreamSynchronize(two))
    if which != "freed":
        check(d.cuMemcpyDtoHAsync_v2(host, memory, C.c_size_t(8 * WORDS), one))
        sys.stdout.buffer.write(bytes(host))
    if which == "left":
        check(d.cuDevicePrimaryCtxRelease_v2(0))


# ---- what PTX says that these kernels compute

def numbers(raw, kind="d"):
    return list(memoryview(raw).cast(kind))


def signed(x, bits=32):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def after_atomics():
    """Words of 32 bits from the second double on"""
    a = [(item * 7919) % 1021 - 500 for item in range(1024)]
    total, both, any_, odd, up, down, least = 0, 0, 0, 0, 0, 0, 0
    for item, x in enumerate(a):
        total, odd = total + x, odd ^ x
        both &= ~(1 << item % 7)
        any_ |= 1 << item % 11
        up = 0 if up >= 99 else up + 1
        down = 99 if down == 0 or down > 99 else down - 1
    return float(sum(a)), [signed(total), min(0, *a), max(0, *a), signed(max(x & 0xffffffff for x in a)), both, any_, signed(odd), up, down, least], \
        signed(sum(x << 33 for x in a), 64)


def after_shuffles():
    lanes = range(32)
    yield [(l - 3, 1) if l >= 3 else (l, 0) for l in lanes]
    yield [(l + 5, 1) if l + 5 <= 31 else (l, 0) for l in lanes]
    yield [(l ^ 6, 1) for l in lanes]
    yield [((l & 24) | (3 * l & 7), 1) for l in lanes]
    yield [(0x1ff, 0)] * 32
    yield [(l - 3, 1) if l % 8 >= 3 else (l, 0) for l in lanes]


class Executor(unittest.TestCase):
    compiler = CLANG

    @classmethod
    def setUpClass(cls):
        if not cls.compiler:
            raise unittest.SkipTest("there is no NVRTC")
        if cls is Executor and nvrtc() and not os.environ.get("EVENER_TEST_LONG"):
            raise unittest.SkipTest("in ptx-executor-long")
        os.makedirs(CACHE, exist_ok=True)
        cls.ptx = f"{CACHE}/{cls.__name__}.ptx"
        with open(cls.ptx, "wb") as file:
            file.write(ptx_of(cls.compiler))

    def run_one(self, which, seed=1):
        environment = dict(os.environ, PTXRUN_LOG="", PTXRUN_SEED=str(seed), PTXRUN_CACHE=CACHE, PTXRUN_PYTHON=sys.executable)
        done = subprocess.run([sys.executable, __file__, DRIVER, CLANG, CACHE, which, self.ptx], capture_output=True, env=environment, timeout=120)
        return done.stdout, done.stderr.decode()

    def test_told(self):
        for which, wanted in TOLD.items():
            with self.subTest(which=which):
                out, told = self.run_one(which)
                serious = [line for line in told.splitlines() if "DEFECT" in line and "DEFECT note" not in line]
                if wanted:
                    self.assertTrue(any(wanted in line for line in serious), told)
                else:
                    self.assertEqual(serious, [], told)
                    self.assertEqual(len(out), 8 * WORDS, told)

    def test_atomic_operations(self):
        real, words, long = after_atomics()
        for seed in (0, 1, 2):
            with self.subTest(seed=seed):
                out, told = self.run_one("atomics", seed)
                self.assertEqual(numbers(out)[0], real, told)
                self.assertEqual(numbers(out, "i")[2:12], words)
                self.assertEqual(numbers(out, "q")[8], long)
                out, told = self.run_one("tickets", seed)
                self.assertEqual(numbers(out, "I")[0], 1024, told)
                self.assertEqual(numbers(out)[1:1001], list(range(1000)))
                taken = numbers(out, "Q")[1020]
                self.assertEqual(numbers(out)[1021], taken)
                out, told = self.run_one("atomic_shared", seed)
                self.assertEqual(numbers(out)[:128], [127 * 64.0] * 128, told)

    def test_tickets_are_in_no_order(self):
        out = [self.run_one("tickets", seed)[0] for seed in (1, 2)]
        self.assertNotEqual(numbers(out[0], "Q")[1020], numbers(out[1], "Q")[1020])

    def test_shuffles(self):
        words = numbers(self.run_one("shuffles")[0], "i")
        for number, lanes in enumerate(after_shuffles()):
            with self.subTest(shuffle=number):
                self.assertEqual([tuple(words[64 * number + 2 * l:][:2]) for l in range(32)], lanes)

    def test_two_dimensions(self):
        out = numbers(self.run_one("plane")[0])
        self.assertEqual(out, [x + 100.0 * y for y in range(32) for x in range(32)])

    def test_generic_addresses(self):
        x = begin("generic")
        own, shared = [i + x[i] for i in range(32)], [100.0 + i for i in range(32)]
        self.assertEqual(numbers(self.run_one("generic")[0])[128:160], [(x[64:], shared, own)[i % 3][i % 32] for i in range(32)])

    def test_registers_of_a_size(self):
        x, out = begin("sizes"), self.run_one("sizes")[0]
        converted = [float(i - WORDS) for i in range(32)]
        self.assertEqual(numbers(out)[128:160], [x[i] + x[i + 1] for i in range(32)])
        self.assertEqual(numbers(out)[160:192], converted)
        self.assertEqual(numbers(out)[192:224], [x[i] if x[i] < 0 else converted[i] for i in range(32)])
        self.assertEqual(numbers(out, "f")[448:512:2], [float(i) for i in range(32)])


class ExecutorByNvrtc(Executor):
    compiler = nvrtc()


if __name__ == "__main__":
    if len(sys.argv) > 4:
        child(*sys.argv[4:6])
        sys.exit(0)
    unittest.main(argv=sys.argv[:1])
