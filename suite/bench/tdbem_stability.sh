#!/bin/sh
# Stability of td-bem in long runs: 20,000 steps on sphere, box and aircraft, double and float, what
# is left at some vertices in each fifth of the run. It must never grow: exit status 1 if it does.
#
# Usage: suite/bench/tdbem_stability.sh [build/evener [steps [aircraft.msh]]]
evener=${1:-build/evener}
steps=${2:-20000}
aircraft=$3
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0

# one NAME MESH SIGMA options..
one() {
    name=$1 mesh=$2 sigma=$3
    shift 3
    "$evener" run td-bem --mesh "$mesh" --pulse "gaussian:sigma=$sigma" --steps "$steps" --quiet \
        --matrices "$folder/$name" --vertices 0,1,2,5,11,17,23,31,37,41 --vertex-output "$folder/v.csv" \
        "$@" 2> "$folder/errors" || { cat "$folder/errors"; failed=1; return; }
    # The first tenth has the pulse. After it, eta 1/2 comes to rest at a constant; eta 0 rings ever
    # more quietly. Round-off is allowed to wander a little.
    awk -F, -v what="$name $*" '
        NR > 1 {
            part = int(5 * NR / ('"$steps"' + 2))
            if (NR > '"$steps"' / 10)
                for (c = 3; c <= NF; c++) { a = $c < 0 ? -$c : $c; if (a > most[part]) most[part] = a }
            for (c = 3; c <= NF; c++) { a = $c < 0 ? -$c : $c; if (a > all) all = a }
        }
        END {
            printf "%-58s %9.3g |", what, all
            for (p = 0; p < 5; p++) printf " %9.2e", most[p]
            grows = !(most[4] <= 1.05 * most[2] + 1e-6 * all)
            print grows ? "  GROWS" : ""
            exit grows
        }' "$folder/v.csv" || failed=1
}

echo "$steps steps: largest |a|, and largest in each fifth of the run after the pulse"
for ratio in 0.2 0.5 1.2; do
    one "sphere$ratio" sphere:1 0.4 --delta-ratio "$ratio"
    one "box$ratio" box:1,0.7,0.5,0.25 0.3 --delta-ratio "$ratio"
done
one sphere2 sphere:2 0.5
one sphere2 sphere:2 0.5 --precision float
one sphere2eta0 sphere:2 0.5 --eta 0
one box0.5 box:1,0.7,0.5,0.25 0.3 --delta-ratio 0.5 --precision float
one boxeta0 box:1,0.7,0.5,0.25 0.3 --eta 0
one boxsoft box:1,0.7,0.5,0.25 0.3 --problem soft
if [ -n "$aircraft" ]; then
    one aircraft "$aircraft" 1
    one aircraft "$aircraft" 1 --precision float
    one aircrafteta0 "$aircraft" 1 --eta 0
else
    echo "no aircraft: give its mesh as the third argument (gmsh -2 -setnumber lc 0.35 aircraft.geo)"
fi
exit $failed
