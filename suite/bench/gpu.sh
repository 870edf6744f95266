#!/usr/bin/env bash
# The figures of a machine with a GPU, in ten minutes, most important first. It builds nothing and needs nothing but bash, coreutils, grep,
# sed and awk: it takes the folder that cmake/bundle makes, which is the one that it lies in there.
#
#   suite/bench/gpu.sh                                              in such a folder
#   suite/bench/gpu.sh --bundle FOLDER --out FIGURES
#   suite/bench/gpu.sh --devices emulated --classes S --check S --big S --mesh sphere:2      a trial of the script, without a GPU
#
# Each run has a time limit, all together have --minutes; what there was no time for is named. The report is written as it goes, into
# at most eight files: report.md, and what it was made from.
# Exit status: 0, 1 if a run failed, did not verify or a hash differs, 2 for wrong usage.
set -u

usage() {
    cat <<'END'
usage: suite/bench/gpu.sh [options]

  --bundle FOLDER    evener, off/evener and tests (default: the folder above this script)
  --devices SPEC     where the GPU unit comes from (default cuda; hip where there is AMD's device file alone)
  --classes "LIST"   of whole runs, verified (default "A B C"); the last one also of counters and hybrid runs
  --big CLASS        of runs of twenty steps (default D)
  --check CLASS      of runs whose hashes are compared (default W)
  --mesh FILE        of TD-BEM (default sphere:4)
  --repeat N         whole runs of each (default 2)
  --minutes N        for all (default 10)
  --out FOLDER       (default gpu-figures)
END
}

fail_usage() {
    echo "gpu.sh: $1" >&2
    usage >&2
    exit 2
}

bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
devices=
classes="A B C"
big=D
check=W
mesh=sphere:4
repeat=2
minutes=10
out=gpu-figures
arguments=$([ $# = 0 ] || printf ' %q' "$@")
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) usage; exit 0 ;;
    --bundle | --devices | --classes | --big | --check | --mesh | --repeat | --minutes | --out)
        [ $# -ge 2 ] || fail_usage "$1 needs a value"
        printf -v "${1#--}" %s "$2"
        shift 2
        ;;
    *) fail_usage "unknown option \"$1\"" ;;
    esac
done
for n in "$repeat" "$minutes"; do
    [[ $n =~ ^[1-9][0-9]*$ ]] || fail_usage "\"$n\" is no number of runs or minutes, expected 1 or more"
done
[ -n "$classes" ] || fail_usage "--classes: none"
for c in $classes "$big" "$check"; do
    [[ $c =~ ^[SWABCDEF]$ ]] || fail_usage "no class \"$c\", expected S W A B C D E or F"
done
if [ -z "$devices" ]; then
    devices=cuda
    [ -e /dev/nvidiactl ] || [ ! -e /dev/kfd ] || devices=hip
fi
evener=$bundle/evener
[ -x "$evener" ] || fail_usage "there is no command $evener; --bundle names the folder that cmake/bundle has made"
last=${classes##* }
case $devices in # one device that is opened twice
cuda | hip) twice=$devices:devices=0+0 ;;
emulated) twice=emulated:2 ;;
*) twice=$devices ;;
esac

mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
for file in report.md facts.txt runs.csv tests.txt counters.csv sanitizer.txt log.txt; do rm -f "$out/$file"; done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export EVENER_CACHE=$work/cache
begin=$SECONDS
end=$((begin + 60 * minutes))
failed=0
report=$out/report.md

tell() { printf '%s\n' "$@" >> "$report"; }
note() {
    echo "gpu.sh: $*"
    tell "- $*"
}
section() {
    echo "== $1 ($((SECONDS - begin)) s)"
    tell "" "## $1" ""
}

# limited SECONDS command..: its status; 124 if it took too long, 125 if there is no time left for it. Errors go into the log.
limited() {
    local limit=$1 left=$((end - SECONDS))
    shift
    [ "$left" -ge 2 ] || return 125
    [ "$limit" -le "$left" ] || limit=$left
    echo "-- $((SECONDS - begin)) s: $*" >> "$out/log.txt"
    timeout -k 5 "$limit" "$@" 2>> "$out/log.txt"
}

why() { # what a status of limited means
    case $1 in
    124 | 137) echo "took too long" ;;
    125) echo "no time left" ;;
    *) tail -n 1 "$out/log.txt" | cut -c 1-300 ;;
    esac
}

field() { sed -n 's/^[[:space:]]*"'"$1"'":[[:space:]]*"\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' "$work/record" | head -n 1; }

# run LIMIT NAME APP CLASS options..: one run; its record is in $work/record, a line of it in runs.csv. Its status.
run() {
    local limit=$1 name=${2//,/+} app=$3 class=$4 status
    shift 4
    rm -f "$work/record"
    limited "$limit" "$evener" run "$app" --class "$class" "$@" --quiet --json - > "$work/record"
    status=$?
    [ $status = 0 ] || return $status
    echo "$name,$app,$class,$(field steps),$(field seconds),$(field mops),$(field verified),$(field hash)" >> "$out/runs.csv"
}

# row NAME APP CLASS ROUNDS LIMIT options..: a row of a table of times: the best of the runs.
row() {
    local name=$1 app=$2 class=$3 rounds=$4 limit=$5 status=0 verdict=
    shift 5
    for ((i = 0; i < rounds; i++)); do
        run "$limit" "$name" "$app" "$class" "$@"
        status=$?
        [ $status = 0 ] || break
        case $(field verified) in
        true) verdict=verified ;;
        null) verdict="not a whole run" ;;
        *) verdict="NOT VERIFIED"; failed=1; break ;;
        esac
    done
    if [ $status = 0 ]; then
        awk -F, -v name="$name" -v app="$app" -v class="$class" -v verdict="$verdict" '
            $1 == name && $2 == app && $3 == class { n++; if (!best || $5 < best) { best = $5; mops = $6; steps = $4 }; if ($5 > worst) worst = $5 }
            END { printf "| %s | %s | %s | %.4f | %.4f | %.1f | %.0f | %s |\n", app, class, name, best, worst, 1e6 * best / (steps ? steps : 1), mops, verdict }
        ' "$out/runs.csv" >> "$report"
    else
        tell "| $app | $class | $name | | | | | $(why $status) |"
        [ $status = 125 ] || failed=1
    fi
    return $status
}
times_head() { tell "| | class | units | s, best | s, worst | µs a step | Mop/s | |" "|---|---|---|---|---|---|---|---|"; }

# ---- facts

tell "# A machine with a GPU" "" "    \$ suite/bench/gpu.sh$arguments" "" "$(date -u '+%F %R') UTC"
section "Facts"
{
    echo "== evener info"
    limited 30 "$evener" info
    echo "== nvidia-smi"
    if command -v nvidia-smi > /dev/null; then
        limited 15 nvidia-smi
        limited 15 nvidia-smi --query-gpu=name,compute_cap,driver_version,clocks.max.sm,clocks.max.mem,memory.total --format=csv,noheader
    else
        echo "there is none"
    fi
    echo "== processor"
    grep -m 1 'model name' /proc/cpuinfo
    uname -srm
    sed -n 's/^PRETTY_NAME=//p' /etc/os-release
} > "$out/facts.txt" 2>&1
limited 30 "$evener" info --json - > "$work/record"
cores=$(field cores)
[[ ${cores:-} =~ ^[0-9]+$ ]] || cores=1
tell "Processor: $(field processor), $cores cores; $(field compiler), commit $(field commit)." "" '```'
sed -n '/^devices/,/^units/p' "$out/facts.txt" | sed '$d' >> "$report"
grep -m 1 -E 'driver_version|, [0-9]+[.][0-9.]+, ' "$out/facts.txt" >> "$report"
tell '```'
if ! limited 40 "$evener" run sp-mz --class S --units 1:GPU:1 --devices "$devices" --quiet; then
    note "Class S of SP-MZ does not run on --devices $devices: $(why $?)"
    echo "gpu.sh: nothing more can be measured; $report" >&2
    exit 1
fi

section "Links"
tell '```'
limited 40 "$evener" bench links --devices "$devices" --repeat 3 >> "$report" || failed=1
tell '```'

# ---- times

section "Whole runs on one GPU"
tell "Kernels are read from the bundle or compiled in the first run; times are of the steps alone." ""
times_head
echo "units,workload,class,steps,seconds,mops,verified,hash" > "$out/runs.csv"
refused=
for class in $classes; do
    for app in bt-mz sp-mz lu-mz; do
        row GPU "$app" "$class" "$repeat" 40 --units 1:GPU:1 --devices "$devices" --schedule static
    done
    for app in ft mg; do # an earlier Evener has no kernels for them
        [[ " $refused " != *" $app "* ]] || continue
        before=$failed
        row GPU "$app" "$class" "$repeat" 40 --units 1:GPU:1 --devices "$devices"
        [ $? != 2 ] || { refused="$refused $app"; failed=$before; }
    done
done
for app in bt-mz sp-mz lu-mz; do
    row "GPU 20 steps" "$app" "$big" 1 60 --steps 20 --units 1:GPU:1 --devices "$devices" --schedule static
done

# ---- phases

section "Phases, class $last, launches timed"
tell "A run as above, and one with an event before and behind each launch, whose times these are. Floor: the bytes of the fields, over what a copy" \
    "within the device reaches. Of FT and MG by kernel." "" '```'
for app in bt-mz sp-mz lu-mz; do
    limited 40 "$evener" bench npbmz --apps $app --class "$last" --repeat 1 --units 1:GPU:1 --devices "$devices" --schedule static > "$work/phases"
    status=$?
    if [ $status = 0 ]; then
        sed 1d "$work/phases" >> "$report"
    else
        tell "$app: $(why $status)"
        [ $status = 125 ] || failed=1
    fi
done
for app in ft mg; do
    [[ " $refused " != *" $app "* ]] || continue
    limited 40 "$evener" run $app --class "$last" --units 1:GPU:1 --devices "$devices" --phases > "$work/phases"
    status=$?
    if [ $status = 0 ]; then
        tell "" "$app class $last"
        sed -n '/^  device /,$p' "$work/phases" >> "$report"
    else
        tell "$app: $(why $status)"
        [ $status = 125 ] || failed=1
    fi
done
tell '```'

# ---- tests

# suite LIMIT TEST DEVICE: a row of the table of tests
suite() {
    local limit=$1 test=$2 device=$3 status from=$SECONDS
    [ -x "$bundle/tests/test-$test" ] || { tell "| $test | $device | is not in the bundle | |"; return; }
    echo "== test-$test, $device" >> "$out/tests.txt"
    EVENER_TEST_DEVICE=$device limited "$limit" "$bundle/tests/test-$test" > "$work/test" 2>&1
    status=$?
    tail -n 60 "$work/test" >> "$out/tests.txt"
    case $status in
    0) tell "| $test | $device | passed | $((SECONDS - from)) s |" ;;
    77) tell "| $test | $device | skipped: $(grep -v '^\[' "$work/test" | tail -n 1 | cut -c 1-200) | |" ;;
    125) tell "| $test | $device | no time left | |" ;;
    *)
        tell "| $test | $device | FAILED ($status): $(grep -E 'FAILED|ERROR' "$work/test" | head -n 3 | tr '|\n' '  ' | cut -c 1-300) | |"
        failed=1
        ;;
    esac
}
section "Conformance"
tell "| test | device | | |" "|---|---|---|---|"
for test in device resident gpu_norms gpu_steps gpu_lu_resident gpu_summation tdbem_solve; do suite 60 "$test" "$devices"; done
suite 60 device "$twice"
suite 60 exchange "$twice"

# ---- counters

section "Counters of the costly kernels, class $last"
metrics=gpu__time_duration.sum,launch__registers_per_thread,launch__occupancy_limit_registers,launch__occupancy_limit_shared_mem
metrics=$metrics,launch__shared_mem_config_size,sm__warps_active.avg.per_cycle_active,dram__bytes.sum
metrics=$metrics,dram__throughput.avg.pct_of_peak_sustained_elapsed,lts__t_sector_hit_rate.pct
metrics=$metrics,sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active
metrics=$metrics,smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio

# summary < CSV of ncu: a row of each kernel, averages over its launches. Words are in quotes with commas between.
summary() {
    awk '
        BEGIN { n = split("gpu__time_duration.sum launch__registers_per_thread sm__warps_active.avg.per_cycle_active dram__throughput.avg.pct_of_peak_sustained_elapsed lts__t_sector_hit_rate.pct sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", wanted, " ") }
        /^"ID"/ { split(substr($0, 2, length($0) - 2), head, "\",\""); for (i in head) at[head[i]] = i; units = 1; next }
        !at["Kernel Name"] { next }
        /^"/ {
            split(substr($0, 2, length($0) - 2), word, "\",\"")
            if (units) { unit = word[at[wanted[1]]]; units = 0; if (word[1] == "") next }
            name = word[at["Kernel Name"]]; sub(/\(.*/, "", name)
            if (!(name in count)) order[++names] = name
            count[name]++
            for (i = 1; i <= n; i++) if (wanted[i] in at) { v = word[at[wanted[i]]]; gsub(",", "", v); sum[name, i] += v }
        }
        END {
            for (k = 1; k <= names; k++) {
                name = order[k]
                printf "| `%s` | %d |", name, count[name]
                for (i = 1; i <= n; i++) if (wanted[i] in at) printf " %.4g%s |", sum[name, i] / count[name], i == 1 ? " " unit : ""; else printf " |"
                print ""
            }
        }'
}
if ! command -v ncu > /dev/null; then
    note "There is no ncu: no counters."
else
    tell "| kernel | launches | time | registers | warps active | memory's peak, % | L2 hits, % | FP64 pipe, % | long scoreboard |"
    tell "|---|---|---|---|---|---|---|---|---|"
    for words in "bt-mz bt_lines|bt_rhs" "sp-mz sp_lines|sp_rhs" "lu-mz lu_lower|lu_upper|lu_residual|exchange_copy"; do
        app=${words%% *}
        limited 60 ncu --clock-control none --kernel-name-base function -k "regex:${words#* }" -s 12 -c 16 --csv --page raw --metrics "$metrics" \
            "$evener" run "$app" --class "$last" --steps 4 --units 1:GPU:1 --devices "$devices" --schedule static --quiet > "$work/ncu"
        status=$?
        cat "$work/ncu" >> "$out/counters.csv"
        summary < "$work/ncu" > "$work/rows"
        if [ -s "$work/rows" ]; then
            cat "$work/rows" >> "$report"
        else
            tell "| $app: nothing counted: $(grep -hm 1 '==ERROR==' "$work/ncu" "$out/log.txt" || why $status) |"
        fi
    done
fi

section "Memory and races, class S"
if ! command -v compute-sanitizer > /dev/null; then
    note "There is no compute-sanitizer."
else
    tell "| | memcheck | racecheck | initcheck |" "|---|---|---|---|"
    for app in bt-mz sp-mz lu-mz; do
        line="| $app |"
        for tool in memcheck racecheck initcheck; do
            limited 40 compute-sanitizer --tool $tool --error-exitcode 9 "$evener" run $app --class S --steps 2 --units 1:GPU:1 --devices "$devices" --quiet \
                > "$work/sanitizer" 2>&1
            status=$?
            { echo "== $app $tool, status $status"; tail -n 40 "$work/sanitizer"; } >> "$out/sanitizer.txt"
            said=$(grep -E 'SUMMARY' "$work/sanitizer" | tail -n 1 | sed 's/^=* *//' | cut -c 1-80)
            [ -n "$said" ] || said="no result: $(grep -m 1 -E '=+ .*(rror|upport)' "$work/sanitizer" | cut -c 1-100 || why $status)"
            [ $status != 9 ] || { said="FOUND: $said"; failed=1; }
            line="$line $said |"
        done
        tell "$line"
    done
fi

# ---- bits

section "Bits, contraction off, class $check"
if [ ! -x "$bundle/off/evener" ]; then
    note "There is no off/evener in the bundle."
else
    tell "| | CPU | GPU | two devices | hybrid | |" "|---|---|---|---|---|---|"
    normal=$evener
    evener=$bundle/off/evener
    for app in bt-mz sp-mz lu-mz; do
        line="| $app |"
        first="" verdict=same
        for units in 1:CPU:1 1:GPU:1 2:GPU:1 1:CPU:1,1:GPU:1; do
            [ "$cores" -ge 2 ] || [[ $units != 2:* && $units != *,* ]] || units="$units --oversubscribe"
            # shellcheck disable=SC2086 # words
            run 30 "off $units" $app "$check" --units $units --devices "$twice"
            status=$?
            hash=$(field hash)
            [ $status = 0 ] || hash=$(why $status)
            [ -n "$first" ] || first=$hash
            if [ $status = 125 ]; then
                [ "$verdict" != same ] || verdict="not all"
            elif [ "$hash" != "$first" ]; then
                verdict=DIFFERENT
                failed=1
            fi
            line="$line $hash |"
        done
        tell "$line $verdict |"
    done
    evener=$normal
fi

# ---- together with cores

section "Hybrid, class $last, 20 steps"
tell "N cores alone, and with the GPU, which one of them leads. This machine has $cores." ""
times_head
several=
for n in 8 16; do [ "$n" -gt "$cores" ] || several="$several $n"; done
[ -n "$several" ] || [ "$cores" -lt 2 ] || several=$cores
row "GPU alone" sp-mz "$last" 1 40 --steps 20 --units 1:GPU:1 --devices "$devices" --schedule static
row "GPU alone" bt-mz "$last" 1 40 --steps 20 --units 1:GPU:1 --devices "$devices" --schedule static
for n in $several; do
    for app in bt-mz sp-mz; do
        row "$n cores" $app "$last" 1 40 --steps 20 --units "$n:CPU:1" --schedule guided:time
        row "$((n - 1)) cores and GPU" $app "$last" 1 40 --steps 20 --units "$((n - 1)):CPU:1,1:GPU:1" --devices "$devices" --schedule guided:time
    done
done
[ -n "$several" ] || note "Left out: there is one core."

section "TD-BEM, $mesh"
tell "With cg:device all of a step but its printing is done on the device." ""
tell "| layout, solver | summation, s | solver, s | effective GFLOP/s | |" "|---|---|---|---|---|"
for way in "contiguous --solver cg" "rows --solver cg" "contiguous --solver cg:device"; do
    layout=${way/--solver /}
    # shellcheck disable=SC2086 # words
    limited 60 "$evener" run td-bem --mesh "$mesh" --method plain --steps 64 --ng 16 --layout $way --units 1:GPU:1 --devices "$devices" --schedule static \
        --matrices "$work/matrices" --quiet --json - > "$work/record"
    status=$?
    if [ $status = 0 ]; then
        tell "| $layout | $(field summation_s) | $(field solve_s) | $(field gflops_effective) | |"
        echo "td-bem $layout,td-bem,$mesh,64,$(field seconds),,$(field verified),$(field hash)" >> "$out/runs.csv"
    else
        tell "| $layout | | | | $(why $status) |"
        [ $status = 125 ] || failed=1
    fi
done

# ---- for tuning, with the time that is left

section "Variants of kernels, class $last"
variants=$bundle/suite/bench/bench-variants
if [ ! -x "$variants" ]; then
    note "There is no suite/bench/bench-variants in the bundle."
else
    tell "Kernels of the same text with other constants; what each phase takes in a step, by events on the device." "" '```'
    limited 120 "$variants" --class "$last" --steps 20 --repeat 2 --devices "$devices" >> "$report"
    status=$?
    tell '```'
    [ $status = 0 ] || note "$(if [ $status = 1 ]; then echo "Bits differ, as they may with contraction."; else why $status; fi)"
    [ $status -le 1 ] || [ $status = 125 ] || failed=1
fi

section "End"
tell "$((SECONDS - begin)) s of $((60 * minutes)). $([ $failed = 0 ] && echo 'Nothing failed.' || echo 'Something FAILED, see above and log.txt.')"
cat "$report"
exit $failed
