#!/usr/bin/env bash
# The GPU kernels of NPB-MZ on this machine beside its cores and beside GMAP/NPB-GPU, as Markdown for docs/performance.md: for a machine
# with Python, compilers and time. Where there is ten minutes and nothing but a driver: suite/bench/gpu.sh.
#
#   suite/bench/gpu_compare.sh                                  classes A to C on one GPU, and hybrid with 8 and 16 cores
#   suite/bench/gpu_compare.sh --npb-gpu FOLDER                 the same, next to GMAP/NPB-GPU's single-zone BT, SP and LU
#   suite/bench/gpu_compare.sh --devices emulated --classes S   a trial of the script itself, where there is no GPU
#
# Every run must verify. Configurations of a class take turns, so that what disturbs the machine disturbs all; a figure is
# the best of its runs, with the least beside it. With nsys there are times of phases and their share of the floor that
# memory bandwidth sets; with ncu, counters of the three kernels that cost most. What could not be measured is said in the
# report. Exit status: 0, 1 if a run failed or did not verify, 2 for wrong usage.
set -u

usage() {
    cat <<'END'
usage: suite/bench/gpu_compare.sh [options]

  --evener FILE      the command (default build/evener, made if it is not there)
  --devices SPEC     where the GPU unit comes from (default cuda)
  --apps "LIST"      (default "bt-mz sp-mz lu-mz")
  --classes "LIST"   (default "A B C")
  --cores "LIST"     cores of CPU and hybrid runs; a hybrid one gives one of them to the GPU (default "8 16")
  --schedule SPEC    of CPU and hybrid runs (default guided:time)
  --repeat N         runs of each configuration (default 3)
  --steps N          steps of a profiled run (default 20)
  --profile CLASS    class that is profiled (default the last of --classes)
  --bandwidth GB/s   of the GPU's memory (default from a table of names)
  --npb-gpu FOLDER   GMAP/NPB-GPU, built for this GPU in a copy of it and run with the same classes; needs nvcc
  --out FOLDER       records, logs and report.md (default gpu-figures)
END
}

fail_usage() {
    echo "gpu_compare.sh: $1" >&2
    usage >&2
    exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
evener=$root/build/evener
devices=cuda
apps="bt-mz sp-mz lu-mz"
classes="A B C"
cores="8 16"
schedule=guided:time
repeat=3
steps=20
profile=
bandwidth=
npb_gpu=
out="gpu-figures"
arguments=$([ $# = 0 ] || printf ' %q' "$@")

while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) usage; exit 0 ;;
    --evener | --devices | --apps | --classes | --cores | --schedule | --repeat | --steps | --profile | --bandwidth | --npb-gpu | --out)
        [ $# -ge 2 ] || fail_usage "$1 needs a value"
        name=${1#--}
        printf -v "${name//-/_}" %s "$2"
        shift 2
        ;;
    *) fail_usage "unknown option \"$1\"" ;;
    esac
done
for n in "$repeat" "$steps"; do
    [[ $n =~ ^[1-9][0-9]*$ ]] || fail_usage "\"$n\" is no number of runs or steps, expected 1 or more"
done
for n in $cores; do
    [[ $n =~ ^[1-9][0-9]*$ ]] || fail_usage "--cores: \"$n\" is no number of cores"
done
for c in $classes $profile; do
    [[ $c =~ ^[SWABCDEF]$ ]] || fail_usage "no class \"$c\", expected S W A B C D E or F"
done
for a in $apps; do
    [[ $a =~ ^(bt|sp|lu)-mz$ ]] || fail_usage "--apps: unknown \"$a\", expected bt-mz, sp-mz or lu-mz"
done
[ -z "$bandwidth" ] || [[ $bandwidth =~ ^[0-9]+([.][0-9]+)?$ ]] || fail_usage "--bandwidth: \"$bandwidth\" is no number of GB/s"
[ -z "$npb_gpu" ] || [ -d "$npb_gpu/CUDA" ] || fail_usage "--npb-gpu: $npb_gpu has no folder CUDA"
[ -n "$profile" ] || profile=${classes##* }
command -v python3 > /dev/null || { echo "gpu_compare.sh: python3 is needed for the report" >&2; exit 2; }

if [ ! -x "$evener" ]; then
    [ "$evener" = "$root/build/evener" ] || fail_usage "--evener: there is no command $evener"
    make -C "$root" build || exit 1
fi
if ! why=$("$evener" run sp-mz --class S --units 1:GPU:1 --devices "$devices" --quiet 2>&1); then
    echo "gpu_compare.sh: class S of SP-MZ does not run on --devices $devices: $why" >&2
    exit 1
fi
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
rm -rf "$out"/runs "$out"/logs "$out"/profile # of an earlier time; its report stays until there is a new one
mkdir -p "$out/runs" "$out/logs" "$out/profile"
failed=0

note() { # what could not be measured goes into the report
    echo "gpu_compare.sh: $*" >&2
    echo "$*" >> "$out/logs/notes"
}
: > "$out/logs/notes"

# ---- what this machine is ----------------------------------------------------------------------

"$evener" info > "$out/logs/info" 2>&1
gpu=
capability=
if command -v nvidia-smi > /dev/null; then
    IFS=, read -r gpu capability driver clock < <(nvidia-smi --id=0 \
        --query-gpu=name,compute_cap,driver_version,clocks.max.sm --format=csv,noheader 2> /dev/null)
    capability=${capability//[ .]/}
    [ -n "$gpu" ] && echo "$gpu, compute capability $capability, driver${driver:-}, at most${clock:-}" > "$out/logs/gpu"
fi
if [ ! -s "$out/logs/gpu" ]; then
    echo "no GPU by nvidia-smi; --devices $devices" > "$out/logs/gpu"
    note "There is no NVIDIA GPU here: these figures try the script, they say nothing of a GPU."
fi
if [ -z "$bandwidth" ]; then
    case $gpu in # data sheets, GB/s; a variant comes before what its name begins with
    *H200*) bandwidth=4800 ;;
    *H100*NVL*) bandwidth=3938 ;;
    *H100*PCIe*) bandwidth=2039 ;;
    *H100*) bandwidth=3352 ;;
    *A100*PCI*80GB*) bandwidth=1935 ;;
    *A100*80GB*) bandwidth=2039 ;;
    *A100*) bandwidth=1555 ;;
    *A30*) bandwidth=933 ;;
    *A40*) bandwidth=696 ;;
    *L40S* | *L40*) bandwidth=864 ;;
    *L4*) bandwidth=300 ;;
    *T4*) bandwidth=320 ;;
    *"RTX 4090"*) bandwidth=1008 ;;
    *"RTX 3090"*) bandwidth=936 ;;
    *) note "The memory bandwidth of this device is not known (give --bandwidth GB/s): no shares of the floor." ;;
    esac
fi

# ---- runs --------------------------------------------------------------------------------------

# run APP CLASS NAME ROUND options..: a verified run, its record kept
run() {
    local app=$1 class=$2 name=$3 round=$4
    shift 4
    local record=$out/runs/$app.$class.$name.$round.json log=$out/logs/$app.$class.$name.$round
    echo "$app $class $name, round $round"
    if ! "$evener" run "$app" --class "$class" "$@" --quiet --json "$record" > "$log" 2>&1; then
        note "$app class $class on $name failed: $(tail -n 1 "$log")"
        failed=1
    fi
}

available=$(nproc)
for n in $cores; do
    [ "$n" -le "$available" ] || note "Runs with $n cores are left out: there are $available."
done

# npb_gpu_run BENCHMARK CLASS ROUND: single zone, its own output kept
npb_gpu_run() {
    local log=$out/runs/npb-gpu.$1.$2.$3.log
    echo "NPB-GPU $1 $2, round $3"
    (cd "$npb_gpu_copy" && "bin/$1.$2") > "$log" 2>&1
    if ! grep -q 'Verification *= *SUCCESSFUL' "$log"; then
        note "NPB-GPU $1 class $2 did not verify: $(grep -v '^ *$' "$log" | tail -n 1)"
        rm -f "$log"
        failed=1
    fi
}

npb_gpu_copy=
if [ -n "$npb_gpu" ]; then
    if ! command -v nvcc > /dev/null; then
        note "NPB-GPU is left out: there is no nvcc."
    elif [ -z "$capability" ]; then
        note "NPB-GPU is left out: nvidia-smi names no GPU to build it for."
    else
        rm -rf "$out/npb-gpu" # so that the folder given stays as it is
        cp -r "$npb_gpu/CUDA" "$out/npb-gpu" && mkdir -p "$out/npb-gpu/bin" && npb_gpu_copy=$out/npb-gpu
    fi
fi

for class in $classes; do
    built=
    if [ -n "$npb_gpu_copy" ]; then
        for app in $apps; do
            b=${app%-mz}
            if make --no-print-directory -C "$npb_gpu_copy" "$b" CLASS="$class" \
                COMPUTE_CAPABILITY="-gencode arch=compute_$capability,code=sm_$capability" \
                > "$out/logs/npb-gpu.$b.$class.make" 2>&1 && [ -x "$npb_gpu_copy/bin/$b.$class" ]; then
                built="$built $b"
            else
                note "NPB-GPU $b class $class could not be built: $(tail -n 1 "$out/logs/npb-gpu.$b.$class.make")"
                failed=1
            fi
        done
    fi
    for app in $apps; do
        for ((round = 1; round <= repeat; round++)); do
            run "$app" "$class" gpu "$round" --units 1:GPU:1 --devices "$devices" --schedule static
            for n in $cores; do
                [ "$n" -le "$available" ] || continue
                run "$app" "$class" "cpu-$n" "$round" --units "$n:CPU:1" --schedule "$schedule"
                [ "$n" -ge 2 ] || continue
                run "$app" "$class" "hybrid-$n" "$round" --units "$((n - 1)):CPU:1,1:GPU:1" --devices "$devices" \
                    --schedule "$schedule"
            done
            [[ " $built " == *" ${app%-mz} "* ]] && npb_gpu_run "${app%-mz}" "$class" "$round"
        done
    done
done

# ---- profiles ----------------------------------------------------------------------------------

profiled() { # the run that is profiled, as words
    echo "$evener run $1 --class $profile --steps $steps --units 1:GPU:1 --devices $devices --schedule static --quiet"
}

case $devices in cuda*) on_cuda=1 ;; *) on_cuda=0 ;; esac
if [ $on_cuda = 0 ]; then
    note "Profiles are of CUDA devices: no times of phases, no counters."
else
    command -v nsys > /dev/null || note "There is no nsys: no times of phases."
    command -v ncu > /dev/null || note "There is no ncu: no counters."
fi
if [ $on_cuda = 1 ] && command -v nsys > /dev/null; then
    for app in $apps; do
        echo "$app $profile, nsys"
        to=$out/profile/$app
        # shellcheck disable=SC2046 # words
        if ! { nsys profile --trace=cuda --cuda-graph-trace=node --sample=none --cpuctxsw=none --force-overwrite=true \
            --output "$to" $(profiled "$app") && nsys stats --report cuda_gpu_trace --format csv --output - \
            "$to.nsys-rep" > "$to.trace.csv"; } > "$out/logs/nsys.$app" 2>&1; then
            note "nsys failed with $app: $(tail -n 1 "$out/logs/nsys.$app")"
            failed=1
        fi
    done
fi

# The report is made in two goes: which kernels cost most is known after the first.
report() {
    python3 - "$out" "$profile" "$steps" "${bandwidth:-0}" "$devices" "$1" "$arguments" <<'END'
import csv, glob, json, os, re, sys

out, profile, steps, bandwidth, devices, go, arguments = sys.argv[1:]
steps, bandwidth = int(steps), float(bandwidth)

# Meshes: points, and zones of BT-MZ and SP-MZ; LU-MZ has 4 x 4 (NAS-03-010, section 4).
MESH = {"S": (24, 24, 6, 2), "W": (64, 64, 8, 4), "A": (128, 128, 16, 4), "B": (304, 208, 17, 8), "C": (480, 320, 28, 16),
        "D": (1632, 1216, 34, 32), "E": (4224, 3456, 92, 64), "F": (12032, 8960, 250, 128)}


def interior(app, class_):
    """Interior points of all zones: zones are cut along x and y, each cut takes two planes away."""
    x, y, z, zones = MESH[class_]
    if app == "lu-mz":
        zones = 4
    return (x - 2 * zones) * (y - 2 * zones) * (z - 2)


# Kernel: its phases, in the order of its launches in a step, each with the bytes that have to cross the device's memory
# for an interior point if nothing is read or written twice: what a phase gets from the one before, and what it hands on.
# BT: 5 doubles between phases; SP: 5, 1/rho and the speed of sound. u 5, forcing 5, LU's residual 5.
PHASES = {
    "bt_rhs": [("rhs", 120)], "bt_lines": [("x", 120), ("y", 120), ("z", 120)],
    "sp_rhs": [("rhs", 136)], "sp_lines": [("x", 104), ("y", 104), ("z", 136)],
    "lu_lower": [("lower", 120)], "lu_upper": [("upper", 120)], "lu_residual": [("rhs", 120)],
}
# kernels launched several times a phase, not once each
SWEEPS = ("lu_lower", "lu_upper")


def rows_of(path, first):
    """Rows of a CSV file whose head begins with `first`; lines before it are a tool's talk."""
    if not os.path.exists(path):
        return []
    lines = open(path, errors="replace").read().splitlines()
    for n, line in enumerate(lines):
        if line.replace('"', "").startswith(first):
            return list(csv.DictReader(lines[n:]))
    return []


def trace_of(app):
    """[(kernel, ns)] in order of time."""
    trace = []
    for row in rows_of(f"{out}/profile/{app}.trace.csv", "Start"):
        name = re.sub(r"\(.*", "", row["Name"]).split()[-1] if row.get("Name") else ""
        if not row.get("GrdX"):
            name = "copies"
        trace.append((float(row["Start (ns)"]), name, float(row["Duration (ns)"])))
    return [(name, ns) for _, name, ns in sorted(trace)]


apps = [a for a in ("bt-mz", "sp-mz", "lu-mz")]
traces = {a: trace_of(a) for a in apps}

# ---- the kernels that cost most: seconds in all profiled runs
cost = {}
for a in apps:
    for name, ns in traces[a]:
        if name != "copies":
            sum_, count, _ = cost.get(name, (0, 0, a))
            cost[name] = (sum_ + ns, count + 1, a)
most = sorted(cost, key=lambda k: -cost[k][0])[:3]
if go == "kernels":
    for name in most:
        print(cost[name][2], name)
    sys.exit()


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(r) + " |" for r in rows] + [""]


# ---- runs: best Mop/s and least, of those that verified
best = {}
build = machine = None
for path in sorted(glob.glob(f"{out}/runs/*.json")):
    app, class_, name, _, _ = os.path.basename(path).split(".")
    record = json.load(open(path))
    build, machine = record["build"], record["machine"]
    if record["verified"] is True:
        best.setdefault((class_, app, name), []).append(record["mops"])
for path in sorted(glob.glob(f"{out}/runs/npb-gpu.*.log")):
    _, b, class_, _, _ = os.path.basename(path).split(".")
    found = re.search(r"Mop/s total *= *([0-9.eE+]+)", open(path, errors="replace").read())
    if found:
        best.setdefault((class_, b + "-mz", "npb-gpu"), []).append(float(found.group(1)))

classes = sorted({k[0] for k in best}, key="SWABCDEF".index)
names = sorted({k[2] for k in best if k[2] != "npb-gpu"}, key=lambda n: (int((n.split("-") + ["0"])[1]), n))
has_other = any(k[2] == "npb-gpu" for k in best)


def mops(key):
    runs = best.get(key)
    if not runs:
        return "not measured"
    return f"{max(runs):.0f}" + (f" ({min(runs):.0f})" if len(runs) > 1 else "")


text = ["# NPB-MZ on a GPU", "", "    $ suite/bench/gpu_compare.sh" + arguments, "", open(f"{out}/logs/gpu").read().strip() + "."]
if machine:
    text += [f"{machine['processor']}, {machine['cores']} cores. {build['compiler']}, `{build['flags']}`, commit {build['commit']}."]
text += ["", "Mop/s of runs that verified: the best, in brackets the least. `hybrid-N`: N cores, of which one leads the GPU.", ""]
head = ["class", "", *names] + (["NPB-GPU, one zone", "gpu over it"] if has_other else [])
rows = []
for class_ in classes:
    for a in apps:
        keys = [(class_, a, n) for n in names]
        if not any(k in best for k in keys):
            continue
        row = [class_, a.upper(), *map(mops, keys)]
        if has_other:
            ours, other = best.get((class_, a, "gpu")), best.get((class_, a, "npb-gpu"))
            row += [mops((class_, a, "npb-gpu")), f"{max(ours) / max(other):.2f}" if ours and other else "not measured"]
        rows.append(row)
text += table(head, rows)

# ---- phases
if any(traces.values()):
    text += [f"## Phases, class {profile}", "",
             f"From a trace of {steps} steps (nsys). Floor: bytes that have to cross memory once, at "
             + (f"{bandwidth:.0f} GB/s." if bandwidth else "a bandwidth that is not known."), ""]
    rows = []
    for a in apps:
        points = interior(a, profile)
        # launches of each kernel; a step more than was asked for warms up
        launched = {}
        for name, ns in traces[a]:
            launched.setdefault(name, []).append(ns)
        whole = sum(sum(v) for v in launched.values())
        for name, times in launched.items():
            phases = PHASES.get(name, [(name, None)])
            for n, (phase, bytes_) in enumerate(phases):
                mine = times[n :: len(phases)]
                if bytes_ and name not in SWEEPS:
                    each = max(1, round(len(mine) / (steps + 1)))  # parts of a batch
                    seconds = sum(mine) / len(mine) * each * 1e-9
                else:
                    seconds = sum(mine) / (steps + 1) * 1e-9
                floor = bytes_ * points / (bandwidth * 1e9) if bytes_ and bandwidth else None
                rows.append([f"{a.upper()} {phase}", f"{seconds * 1e6:.1f}", f"{seconds / points * 1e12:.0f}",
                             f"{100 * sum(mine) / whole:.1f} %", str(bytes_ or ""),
                             f"{100 * floor / seconds:.0f} %" if floor else ""])
    text += table(["", "µs a step", "ps a point", "share of the device's time", "bytes a point", "floor over time"], rows)

# ---- the three kernels that cost most
if most:
    text += ["## The three kernels that cost most", ""]
    whole = sum(v[0] for v in cost.values())
    counters = {}
    for path in glob.glob(f"{out}/profile/*.ncu.csv"):
        for row in rows_of(path, "ID"):
            counters.setdefault(re.sub(r"\(.*", "", row.get("Kernel Name", "")), []).append(row)

    def counter(name, column, form):
        values = []
        for row in counters.get(name, []):
            try:
                values.append(float(row[column].replace(",", "")))
            except (KeyError, ValueError, AttributeError):
                pass  # the row of units, or a counter that this GPU has not
        return form.format(sum(values) / len(values)) if values else "not measured"

    rows = [[f"`{name}`", cost[name][2].upper(), f"{100 * cost[name][0] / whole:.1f} %", str(cost[name][1]),
             f"{cost[name][0] / cost[name][1] * 1e-3:.1f}",
             counter(name, "launch__registers_per_thread", "{:.0f}"),
             counter(name, "sm__warps_active.avg.pct_of_peak_sustained_active", "{:.0f} %"),
             counter(name, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "{:.0f} %"),
             counter(name, "lts__t_sector_hit_rate.pct", "{:.0f} %"),
             counter(name, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "{:.0f} %")] for name in most]
    text += table(["kernel", "", "share of all kernels' time", "launches", "µs each", "registers", "warps active",
                   "memory's peak", "L2 hits", "processors' peak"], rows)

notes = open(f"{out}/logs/notes").read().splitlines()
if notes:
    text += ["## Not measured", ""] + ["- " + n for n in notes] + [""]
with open(f"{out}/report.md.new", "w") as f:
    f.write("\n".join(text).rstrip() + "\n")
os.replace(f"{out}/report.md.new", f"{out}/report.md")
END
}

if [ $on_cuda = 1 ] && command -v ncu > /dev/null; then
    while read -r app kernel; do
        echo "$kernel, ncu"
        # the first launches warm up
        # shellcheck disable=SC2046 # words
        if ! ncu --kernel-name-base function --kernel-name "$kernel" --launch-skip 3 --launch-count 6 --csv --page raw \
            --metrics launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active,dram__throughput.avg.pct_of_peak_sustained_elapsed,lts__t_sector_hit_rate.pct,sm__throughput.avg.pct_of_peak_sustained_elapsed \
            --log-file "$out/profile/$kernel.ncu.csv" $(profiled "$app") > "$out/logs/ncu.$kernel" 2>&1; then
            note "ncu failed with $kernel: $(grep -h '==ERROR==' "$out/profile/$kernel.ncu.csv" "$out/logs/ncu.$kernel" 2> /dev/null | tail -n 1)"
        fi
    done < <(report kernels)
fi

report all || exit 1
echo
cat "$out/report.md"
exit $failed
