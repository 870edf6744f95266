#!/usr/bin/env python3
"""CUDA kernels by count, without a GPU: what each takes at least on an H200 by resource, from the counters of the executor of PTX
(tests/ptx), and what a change did to them.

    suite/bench/kernels_counted.py run BUILD OUT.txt WORKLOAD [OPTION..]    counts a run: run build lu.txt lu-mz --class S --steps 2
    suite/bench/kernels_counted.py table REPORT..                           microseconds a launch by resource, and the largest
    suite/bench/kernels_counted.py compare BEFORE AFTER                     figures that differ, a launch
    suite/bench/kernels_counted.py step BUILD CLASS [WORKLOAD..]            milliseconds a step of bt-mz, sp-mz and lu-mz, all zones

A step is the sum over its launches of each kernel's slowest resource. The class itself is executed, for costs do not grow with points: lines are cut into
segments by their lengths. Class C takes 2 minutes a workload. Reports of the runs are left in BUILD/counted.

PTX instructions stand for those of the machine, of which there are 1.1 to 1.5 times as many. Times are bounds: no latency, no launches."""

import os
import subprocess
import sys

PROCESSORS, GHZ, BANDWIDTH, CACHE_BANDWIDTH = 132, 1.755, 4.8e12, 5.5e12  # an H200's


def kernels(report):
    """Name: figures"""
    found = {}
    for line in open(report):
        if line.startswith("kernel "):
            name, *figures = line.split()[1:]
            found[name.split("@")[0]] = {key: float(value) for key, value in (f.split("=") for f in figures)}
    return found


def bounds(k):
    """Microseconds a launch: instructions issued, f64 arithmetic, load and store units (of it group memory), second-level cache, memory"""
    launches = k["launches"]

    def cycles(n):
        return n / PROCESSORS / (GHZ * 1e3) / launches

    shared = cycles(k["shared_waves"])
    # a wavefront of the first-level cache moves 4 sectors; a request takes one at least
    requests = max(k["load_requests"], k["load_sectors"] / 4) + max(k["store_requests"], k["store_sectors"] / 4)
    return {"issue": cycles(k["warp_instructions"] / 4), "fp64": cycles(k["fp64"] / 64), "LSU": cycles(requests) + shared, "shared": shared,
            "L2": (k["read_by_group"] + k["store_sectors"]) * 32 / CACHE_BANDWIDTH * 1e6 / launches,
            "HBM": (k["read_once"] + k["written_once"]) * 32 / BANDWIDTH * 1e6 / launches}


def slowest(b):
    return max((x for x in b if x != "shared"), key=b.get)


def ratio(a, b):
    return a / b if b else 0.0


def table(report):
    print(f"{report}\n{'kernel':18} {'launches':>8} {'registers':>9} {'groups':>6} | us a launch: {'issue':>7} {'fp64':>7} {'LSU':>7} {'(shared)':>8} "
          f"{'L2':>7} {'HBM':>7} | {'bound':5} | int/fp64  waves/least  sectors/needed")
    for name, k in sorted(kernels(report).items()):
        b = bounds(k)
        largest = slowest(b)
        print(f"{name:18} {k['launches']:8.0f} {k['registers']:9.0f} {k['groups_at_a_time']:6.0f} |              {b['issue']:7.2f} {b['fp64']:7.2f} "
              f"{b['LSU']:7.2f} {b['shared']:8.2f} {b['L2']:7.2f} {b['HBM']:7.2f} | {largest:5} | {ratio(k['integer'], k['fp64']):8.2f}  "
              f"{ratio(k['shared_waves'], k['shared_least']):11.2f}  {ratio(k['read_by_group'] + k['store_sectors'], k['read_once'] + k['written_once']):14.2f}")


COMPARED = ["registers", "groups_at_a_time", "shared_bytes", "warp_instructions", "integer", "diverged", "load_sectors", "read_by_group", "store_sectors",
            "shared_requests", "shared_waves"]
A_KERNEL = {"registers", "groups_at_a_time", "shared_bytes"}  # the others are a launch's


def compare(before, after):
    a, b = kernels(before), kernels(after)
    for name in sorted(set(a) & set(b)):
        for figure in COMPARED:
            x, y = (k[name][figure] / (1 if figure in A_KERNEL else k[name]["launches"]) for k in (a, b))
            if x != y:
                print(f"{name:18} {figure:18} {x:14.10g} -> {y:14.10g}" + (f"  ({y / x:.3f})" if x else ""))


def step(build, size, *workloads):
    """Milliseconds a step. A run of no steps has one step, by which NPB-MZ begins, and launches besides, of the same size; how many of a kernel's
    launches a step has is told by two runs of class S."""
    os.makedirs(build + "/counted", exist_ok=True)

    def count(workload, size, steps):
        report = f"{build}/counted/{workload}.{size}.{steps}.txt"
        if run(build, report, workload, "--class", size, "--steps", str(steps)):
            sys.exit(f"kernels_counted.py: {workload} of class {size} failed")
        return kernels(report)

    for workload in workloads or ("bt-mz", "sp-mz", "lu-mz"):
        none, one = count(workload, "S", 0), count(workload, "S", 1)
        counted = none if size == "S" else count(workload, size, 0)
        total = launches = 0
        print(f"{workload}, class {size}\n{'kernel':18} {'a step':>6} | us a launch: {'issue':>8} {'fp64':>8} {'LSU':>8} {'(shared)':>8} {'L2':>8} {'HBM':>8} | "
              f"{'bound':5} {'us a step':>9}")
        for name, k in sorted(counted.items()):
            of_step = (one[name]["launches"] / none[name]["launches"] - 1) * k["launches"]
            if not of_step:
                continue
            b = bounds(k)
            largest = slowest(b)
            launches += of_step
            total += of_step * b[largest]
            print(f"{name:18} {of_step:6.4g} |              {b['issue']:8.2f} {b['fp64']:8.2f} {b['LSU']:8.2f} {b['shared']:8.2f} {b['L2']:8.2f} "
                  f"{b['HBM']:8.2f} | {largest:5} {of_step * b[largest]:9.2f}")
        print(f"{workload}, class {size}: {total / 1e3:.4g} ms a step at least, in {launches:.4g} launches\n", flush=True)


def run(build, report, *what):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "ptx"))
    from found import nvrtc
    compiler = nvrtc() or build + "/tests/libclang_nvrtc.so"
    environment = dict(os.environ, EVENER_LIBCUDA=os.path.abspath(build + "/tests/libptxrun.so"), EVENER_NVRTC=os.path.abspath(compiler),
                       EVENER_CACHE="", EVENER_KERNELS="", PTXRUN_CACHE=os.path.abspath(build + "/ptx"), PTXRUN_CHECK="0", PTXRUN_REPORT=report)
    line = [build + "/evener", "run", *what, "--units", "1:GPU:1", "--devices", "cuda", "--quiet"]
    return subprocess.run(line, env=environment).returncode


if __name__ == "__main__":
    verb, files = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if verb == "run" and len(files) >= 3:
        sys.exit(run(*files))
    if verb == "table" and files:
        for file in files:
            table(file)
    elif verb == "step" and len(files) >= 2:
        step(*files)
    elif verb == "compare" and len(files) == 2:
        compare(*files)
    else:
        sys.exit(__doc__)
