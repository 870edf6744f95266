"""The flow of a kernel: basic blocks, where diverged lanes meet again, and how many instructions of which kind a block has."""

MIX = ["all", "fma64", "add64", "mul64", "other64", "f32", "integer", "control", "move", "global", "shared", "convert"]


def ends_block(i):
    return i.name in ("bra", "ret", "exit") or is_barrier(i) or does_acquire(i)


def is_barrier(i):
    return i.name in ("bar", "barrier") and i.parts[1] != "warp"


def does_acquire(i):
    return bool({"acquire", "acq_rel"} & set(i.parts)) and i.name not in ("fence", "membar")


class Blocks:
    def __init__(self, kernel):
        instructions, labels = kernel.instructions, kernel.labels
        starts = {0} | set(labels.values()) | {n + 1 for n, i in enumerate(instructions) if ends_block(i)}
        self.start = sorted(x for x in starts if x < len(instructions))
        self.count = len(self.start)
        self.end = self.start[1:] + [len(instructions)]
        number = {s: b for b, s in enumerate(self.start)}
        self.next = []  # blocks that may follow; the exit is block `count`
        for b in range(self.count):
            last = instructions[self.end[b] - 1]
            if last.name == "bra":
                to = number.get(labels[last.operands[0]], self.count)
                self.next.append([to] + [b + 1] * bool(last.predicate))
            elif last.name in ("ret", "exit"):
                self.next.append([self.count] + [b + 1] * bool(last.predicate))
            else:
                self.next.append([b + 1])
        self.join = self.joins()

    def joins(self):
        """The immediate post-dominator of each block: where lanes that part there meet at the latest. Sets are bit masks."""
        n = self.count
        everything = (1 << (n + 1)) - 1
        after = [everything] * n + [1 << n]  # blocks that all paths from here to the exit pass
        has_changed = True
        while has_changed:
            has_changed = False
            for b in range(n - 1, -1, -1):
                common = everything
                for to in self.next[b]:
                    common &= after[to]
                common |= 1 << b
                has_changed |= common != after[b]
                after[b] = common
        size = [bin(x).count("1") for x in after]
        # the nearest is the one that most others come after
        return [max((x for x in range(n + 1) if after[b] >> x & 1 and x != b), key=lambda x: size[x], default=n) for b in range(n)]


def kind(i):
    """An index into MIX"""
    if ends_block(i) and i.name not in ("ld", "st", "atom", "red"):
        return 7
    if i.name in ("ld", "st", "atom", "red"):
        return 10 if "shared" in i.parts else 8 if {"param", "const", "local"} & set(i.parts) else 9
    if i.name == "cvt":
        return 11
    if i.type == "f64":
        return {"fma": 1, "add": 2, "sub": 2, "mul": 3, "mov": 8, "selp": 8}.get(i.name, 4)
    if i.type == "f32":
        return 8 if i.name in ("mov", "selp") else 5
    return 8 if i.name in ("mov", "cvta", "prefetch", "shfl", "vote", "activemask") else 6
