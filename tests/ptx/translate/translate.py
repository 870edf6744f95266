#!/usr/bin/env python3
"""Translates PTX, the subset that compilers make of the project's kernels, into C that runs a warp at a time (lanes.h, kernel.h).

    translate.py IN.ptx OUT.c [LOG]       LOG: of ptxas -v, for how many registers each kernel takes

Each kernel becomes a function that runs one warp until its end, a barrier or an acquire. Lanes that diverge are on a stack of masks and meet
again at the immediate post-dominator. PTX that is not understood is an error: it names the instruction."""

import re
import sys

import flow
import scalar
import warpwide
from module import CTYPE, NotUnderstood, parse
from operands import Operands, placed


class Translation:
    def __init__(self, kernel, constants, registers):
        self.kernel, self.taken = kernel, registers
        self.operands = Operands(kernel, constants)
        self.sites = warpwide.Sites()
        self.blocks = flow.Blocks(kernel)

    def condition(self, i):
        return ("~" if i.negated else "") + self.operands.predicate(i.predicate)

    def ending(self, b, i):
        """The last instruction of a block, where it decides what comes then; None: it does not"""
        after = self.blocks.next[b][0]
        if i.name == "bra":
            return f"BRANCH({self.condition(i)}, {after}, {b + 1}, {self.blocks.join[b]}, {b});" if i.predicate else f"e->at = {after};"
        if i.name in ("ret", "exit"):
            if i.predicate:
                return f"w->live &= ~(m & {self.condition(i)}); e->at = {b + 1};"
            return "w->live &= ~m; if (--w->depth < 0) return TURN_END;"
        if flow.is_barrier(i):
            if "sync" not in i.parts or i.operands != ["0"] or i.predicate:
                raise NotUnderstood(i.text)
            return f"e->at = {b + 1}; ex->barrier(w, m, {i.line}); return TURN_BARRIER;"
        return None

    def block(self, b):
        out, together = [f"        case {b}: {{ RUNS({b});"], []
        end = None

        def flush():  # statements about one lane share a loop over lanes
            if together:
                out.append("            LANE(m) { " + "\n                ".join(together) + " }")
                together.clear()

        for i in self.kernel.instructions[self.blocks.start[b]:self.blocks.end[b]]:
            end = self.ending(b, i)
            if end:
                break
            mask = f"(m & {self.condition(i)})" if i.predicate else "m"
            if not warpwide.is_warpwide(i):
                statement = scalar.statement(i, self.operands)
                if not i.predicate:
                    together.append(statement)
                    continue
                flush()
                out.append(f"            LANE({mask}) {{ {statement} }}")
            else:
                flush()
                out.append("            " + warpwide.statement(i, self.operands, mask, self.sites))
            if flow.does_acquire(i):
                end = f"e->at = {b + 1}; return TURN_YIELD;"
        flush()
        return out + ["            " + (end or f"e->at = {b + 1};"), "        } break;"]

    def register_file(self):
        for name, (kind, count) in self.kernel.registers.items():
            array = f"[{count}]" if count else ""
            yield f"    u32 {name}{array};" if kind == "pred" else f"    {CTYPE[kind]} {name}{array}[LANES];"

    def text(self):
        """The C text, and the kernel's row of the table"""
        name, b, o = self.kernel.name, self.blocks, self.operands
        body = [line for number in range(b.count) for line in self.block(number)]
        mix = [[0] * len(flow.MIX) for _ in range(b.count)]
        for number in range(b.count):
            for i in self.kernel.instructions[b.start[number]:b.end[number]]:
                mix[number][0] += 1
                mix[number][flow.kind(i)] += 1
        out = [f"struct registers_{name} {{", *self.register_file(), "};", f"static const struct site S_{name}[] = {{"]
        out += [f"    {{{n}, {', '.join(str(x) for x in site[:5])}}}," for n, site in enumerate(self.sites.all)]
        out += ["    {0}};", f"static const char *const text_{name}[] = {{"]
        out += ['    "' + site[5].replace("\t", " ") + '",' for site in self.sites.all]
        out += ["    0};", f"static int run_{name}(struct warp *w) {{",
                f"    struct registers_{name} *R = (struct registers_{name} *)w->registers; const struct site *S = S_{name}; (void)S; (void)R;",
                "    for (;;) {", "        struct entry *e = &w->stack[w->depth];", "        const u32 m = e->mask & w->live;",
                "        if (e->at == e->join || !m) { if (--w->depth < 0) return TURN_END; continue; }", "        switch (e->at) {", *body,
                "        default: return TURN_END;", "        }\n    }\n}"]
        rows = ", ".join("{" + ",".join(map(str, row)) + "}" for row in mix)
        offsets = [(o.parameters[p[0]], p[2]) for p in self.kernel.parameters]
        out += [f"static const int mix_{name}[][MIX] = {{{rows}}};"]
        out += [f"static const int {what}_{name}[] = {{{''.join(f'{x[n]}, ' for x in offsets)}0}};" for n, what in enumerate(("at", "size"))]
        acquires = int(any(flow.does_acquire(i) for i in self.kernel.instructions))
        fences = int(any(i.name in ("membar", "fence") and "cta" not in i.parts for i in self.kernel.instructions))
        row = (f'    {{"{name}", run_{name}, sizeof(struct registers_{name}), {self.kernel.local_bytes}, {o.shared_bytes}, {self.kernel.most_items}, '
               f"{len(offsets)}, {b.count}, {self.taken}, {acquires}, {len(self.sites.all)}, {fences}, {o.parameter_bytes}, "
               f"at_{name}, size_{name}, mix_{name}, text_{name}}},")
        return out, row


def registers_taken(log):
    """Of each kernel, as ptxas says"""
    taken, name = {}, None
    for line in open(log):
        if found := re.search(r"Compiling entry function '(\w+)'", line):
            name = found[1]
        elif (found := re.search(r"Used (\d+) registers", line)) and name:
            taken[name] = int(found[1])
    return taken


def translate(text, taken):
    module = parse(text)
    offsets, total = placed([c[:3] for c in module.constants])
    data = [0] * (total + 8)
    for name, _, _, values in module.constants:
        data[offsets[name]:offsets[name] + len(values)] = values
    out = ['#include "lanes.h"', f"static const u8 constants[] __attribute__((aligned(64), unused)) = {{{','.join(map(str, data))}}};"]
    rows = []
    for kernel in module.kernels:
        lines, row = Translation(kernel, offsets, taken.get(kernel.name, 64)).text()
        out += lines
        rows.append(row)
    out += ["const struct kernel_info ptx_kernels[] = {", *rows, "    {0}};", "void ptx_begin(const struct executor *e) { ex = e; }"]
    return "\n".join(out) + "\n"


def main():
    text = open(sys.argv[1]).read().rstrip("\0")
    out = translate(text, registers_taken(sys.argv[3]) if len(sys.argv) > 3 else {})
    with open(sys.argv[2], "w") as file:
        file.write(out)


if __name__ == "__main__":
    try:
        main()
    except NotUnderstood as error:
        sys.exit(f"translate.py: not understood: {error}")
