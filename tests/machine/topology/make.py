#!/usr/bin/env python3
"""Writes the topologies of this folder as hwloc's XML, version 2: machines with kinds of cores, which hwloc's synthetic descriptions
cannot say, with cores, caches, clocks and capacities such as makers and kernels state. Run: python3 make.py, in this folder."""


class Machine:
    def __init__(self):
        self.made = 0
        self.kinds = []

    def object(self, kind, cpus, number, inside="", **more):
        self.made += 1
        mask = cpuset(cpus)
        words = "".join(f' {k}="{v}"' for k, v in more.items())
        sets = " ".join(f'{s}="{mask}"' for s in ("cpuset", "complete_cpuset")) + ' nodeset="0x00000001" complete_nodeset="0x00000001"'
        return f'<object type="{kind}" os_index="{number}" {sets} gp_index="{self.made}"{words}>{inside}</object>\n'

    def core(self, number, cpus, l1, l2=0):
        inside = "".join(self.object("PU", [c], c) for c in cpus)
        inside = self.object("Core", cpus, number, inside)
        inside = self.cache("L1Cache", 1, cpus, l1, inside, number)
        return self.cache("L2Cache", 2, cpus, l2, inside, number) if l2 else inside

    def cache(self, name, depth, cpus, size, inside, number=0):
        return self.object(name, cpus, number, inside, cache_size=size, depth=depth, cache_linesize=64, cache_associativity=8,
                           cache_type=1 if depth == 1 else 0)

    def package(self, number, cpus, inside, model):
        return self.object("Package", cpus, number, f'<info name="CPUModel" value="{model}"/>\n' + inside)

    def kind(self, cpus, efficiency, **info):
        said = "".join(f'<info name="{k}" value="{v}"/>' for k, v in info.items())
        self.kinds.append(f'<cpukind cpuset="{cpuset(cpus)}" forced_efficiency="{efficiency}">{said}</cpukind>\n')

    def write(self, name, cpus, inside, memory):
        self.made += 1
        node = (f'<object type="NUMANode" os_index="0" cpuset="{cpuset(cpus)}" complete_cpuset="{cpuset(cpus)}" nodeset="0x00000001" '
                f'complete_nodeset="0x00000001" gp_index="{self.made}" local_memory="{memory}"/>\n')
        text = self.object("Machine", cpus, 0, node + inside)
        text = text.replace("<object type=\"Machine\"", f'<object type="Machine" allowed_cpuset="{cpuset(cpus)}" '
                            'allowed_nodeset="0x00000001"', 1)
        with open(name + ".xml", "w", encoding="utf-8") as f:
            f.write('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n'
                    + text + "".join(self.kinds) + "</topology>\n")


def cpuset(cpus):
    return f"0x{sum(1 << c for c in cpus):08x}"


KiB, MiB, GiB = 1 << 10, 1 << 20, 1 << 30


def laptop():
    """6 performance cores of two threads (two of them clock a little higher), 8 efficiency cores in clusters of four; one L3."""
    m = Machine()
    cpus = range(20)
    fast = "".join(m.core(c, [2 * c, 2 * c + 1], 48 * KiB, 1280 * KiB) for c in range(6))
    slow = ""
    for first in (12, 16):
        four = range(first, first + 4)
        slow += m.cache("L2Cache", 2, four, 2 * MiB, "".join(m.core(c, [c], 32 * KiB) for c in four))
    m.kind(range(12, 20), 0, CoreType="IntelAtom", FrequencyMaxMHz=3500)
    m.kind([*range(4), *range(8, 12)], 1, CoreType="IntelCore", FrequencyMaxMHz=4700)
    m.kind([4, 5, 6, 7], 2, CoreType="IntelCore", FrequencyMaxMHz=4800)
    m.write("laptop", cpus, m.package(0, cpus, m.cache("L3Cache", 3, cpus, 24 * MiB, fast + slow), "Hybrid laptop, 6 + 8 cores"), 32 * GiB)


def board():
    """A board of 4 LITTLE cores, which come first, and 4 big ones; no L3. Clocks alone would say that they are nearly as fast."""
    m = Machine()
    halves = ""
    for first, size in ((0, 512 * KiB), (4, 1 * MiB)):
        four = range(first, first + 4)
        halves += m.cache("L2Cache", 2, four, size, "".join(m.core(c, [c], 32 * KiB) for c in four), first)
    m.kind(range(4), 0, LinuxCapacity=485, FrequencyMaxMHz=1800)
    m.kind(range(4, 8), 1, LinuxCapacity=1024, FrequencyMaxMHz=2000)
    m.write("board", range(8), m.package(0, range(8), halves, "Board of 4 + 4 cores"), 8 * GiB)


def pair():
    """Two cores, of which the second is the faster kind: for runs on a real machine with cores 0 and 1, by HWLOC_THISSYSTEM=1."""
    m = Machine()
    cores = "".join(m.core(c, [c], 32 * KiB, 512 * KiB) for c in (0, 1))
    m.kind([0], 0, CoreType="Small", LinuxCapacity=512)
    m.kind([1], 1, CoreType="Large", LinuxCapacity=1024)
    m.write("pair", range(2), m.package(0, range(2), m.cache("L3Cache", 3, range(2), 8 * MiB, cores), "Pair of cores"), 8 * GiB)


laptop()
board()
pair()
