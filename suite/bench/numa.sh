#!/bin/sh
# Where units' memory lies on two NUMA nodes, figure 10 of van der Wijngaart and Jin (IPDPS 2004) as far as a machine that has one can show it: QEMU boots
# a kernel with two nodes of two emulated cores, in which runs of bt-mz are looked at. Places are real there, times are not.
#
#     suite/bench/numa.sh KERNEL [EVENER]     KERNEL: a vmlinuz with NUMA, as of Debian's package linux-image-amd64; EVENER: build/evener of all
#                                             levels, since QEMU has no AVX-512. Needs qemu-system-x86 and busybox-static.
#
# Exit status 1 if pages do not lie where their units run.
set -eu
kernel=${1:?the kernel, as vmlinuz-6.1.0-57-amd64} evener=${2:-build/evener}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/root
mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/bin"
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$evener" "$root/bin/evener"
ldd "$evener" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done
cat > "$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir /dev/shm
mount -t tmpfs none /dev/shm
evener info | grep -E "^cores|cores [0-9]"

# pages of private memory on either node while units run
pages() {
    evener run bt-mz --class A --steps 100000 --schedule static --units "$1" --quiet 2> /dev/null &
    run=$!
    last=-1 now=0 tries=0
    while [ "$now" -lt 3000 ] || [ "$now" != "$last" ]; do
        [ $((tries += 1)) -lt 40 ] || break
        sleep 3
        last=$now
        now=$(awk '/anon=/ { for (i = 2; i <= NF; i++) if ($i ~ /^N[01]=/) n += substr($i, 4) } END { print n + 0 }' /proc/$run/numa_maps)
    done
    awk -v units="$1" '/anon=/ { for (i = 2; i <= NF; i++) if ($i ~ /^N[01]=/) n[substr($i, 2, 1)] += substr($i, 4) }
                       END { printf "pages %s %d %d\n", units, n[0], n[1] }' /proc/$run/numa_maps
    kill $run
    wait $run
}
pages 2:CPU:2
pages 1:CPU:2
evener bench pinning bt-mz --class S --steps 2 --rounds 1 --quiet --json /tmp/p.json
grep numa_nodes /tmp/p.json
poweroff -f
END
chmod +x "$root/init"
(cd "$root" && find . | busybox cpio -o -H newc 2> /dev/null | gzip -1 > "$folder/initrd")
qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 4 -m 1G -numa node,nodeid=0,cpus=0-1,memdev=a -numa node,nodeid=1,cpus=2-3,memdev=b \
    -object memory-backend-ram,id=a,size=512M -object memory-backend-ram,id=b,size=512M -kernel "$kernel" -initrd "$folder/initrd" \
    -append "console=ttyS0 quiet panic=-1" -nographic -nodefaults -no-reboot -serial stdio | tee "$folder/log"
tr -d '\r' < "$folder/log" | awk '/^pages 2:/ { both = $3 > 0.3 * ($3 + $4) && $4 > 0.3 * ($3 + $4) } /^pages 1:/ { one = $4 < 0.1 * ($3 + $4) || $3 < 0.1 * ($3 + $4) }
    /numa_nodes.*2/ { two = 1 } END { exit !(both && one && two) }'
