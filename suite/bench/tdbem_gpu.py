#!/usr/bin/env python3
"""TD-BEM's summation on a device: GFlop/s by layout, precision and steps of a group, and their share of the roofline, next to
what Bramas, Coulaud and Sylvand (2015, section 5.2) had on an M2070: 27 % of peak in float and in double with Full-Blocking,
28 and 31 % with Contiguous-Blocking, at 8 steps. And a solution by conjugate gradients on the device.

Run: suite/bench/tdbem_gpu.py [--evener build/evener] [--devices cuda] [--mesh sphere:4] [--steps 320]
                        [--peak FLOAT,DOUBLE] [--bandwidth GB/s]

Peaks in GFlop/s and the memory's bandwidth are on the data sheet, as 66900,33500 and 3352 of an H100; without them there are
no shares. The roofline is the smaller of the peak and of bandwidth times operations a byte of the values stored. A trial
without a GPU: --devices emulated --mesh sphere:2.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description="TD-BEM's summation on a device.")
parser.add_argument("--evener", default="build/evener")
parser.add_argument("--devices", default="cuda")
parser.add_argument("--mesh", default="sphere:4")
parser.add_argument("--steps", type=int, default=320)
parser.add_argument("--peak", default="", help="float and double, GFlop/s")
parser.add_argument("--bandwidth", type=float, default=0, help="GB/s")
given = parser.parse_args()
peaks = [float(x) for x in given.peak.split(",")] if given.peak else [0, 0]
if len(peaks) != 2:
    parser.error("--peak: expected two numbers with a comma between them, float first")


def run(*words):
    done = subprocess.run([given.evener, "run", "td-bem", "--mesh", given.mesh, "--method", "plain", "--steps", str(given.steps), "--units",
                           "1:GPU:1", "--devices", given.devices, "--schedule", "static", "--quiet", "--json", "-", *words],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)


def share(number, of):
    return f"{100 * number / of:5.1f} %" if of else "      -"


with tempfile.TemporaryDirectory() as folder:
    matrices = ["--matrices", os.path.join(folder, "matrices")]
    print(f"{given.mesh} on {run('--ng', '16', *matrices)['units'][0]['device']}\n")
    print("  layout       precision  n_g   GFlop/s  with padding   of peak  of roofline   paper, of peak")
    for layout, paper in [("rows", ""), ("contiguous", "28 31"), ("full:128x128", "27 27")]:
        for precision, peak in zip(["float", "double"], peaks):
            for group in [1, 4, 8, 16, 32]:
                best = max((run("--ng", str(group), "--layout", layout, "--precision", precision, *matrices)
                            for _ in range(3)), key=lambda r: r["gflops_effective"])
                speed, padded = best["gflops_effective"], best["gflops_nominal"]
                stored = best["matrix"]["stored"] * (4 if precision == "float" else 8)
                flop = 2 * group * best["matrix"]["stored"]
                roof = min(peak, given.bandwidth * flop / stored) if given.bandwidth else peak
                says = f"{paper.split()[precision == 'double']} %" if paper and group == 8 else ""
                print(f"  {layout:12s} {precision:8s} {group:5d} {speed:9.1f} {padded:13.1f}   {share(padded, peak)}      "
                      f"{share(padded, roof)}   {says}", flush=True)
    for solver in ["cg", "cg:device"]:
        best = min((run("--solver", solver, *matrices) for _ in range(3)), key=lambda r: r["stages"]["solve_s"])
        print(f"\n  {solver}: {1e6 * best['stages']['solve_s'] / given.steps:.1f} us a step, "
              f"{best['solver_iterations']:.1f} iterations", end="")
    print()
