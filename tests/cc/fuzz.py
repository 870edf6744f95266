#!/usr/bin/env python3
"""Random programs with directives against plain C, and mutated directives under sanitizers.

    tests/cc/fuzz.py COMMAND [--programs N] [--mutants N] [--seed S] [--keep FOLDER] [--cxx] [--kernels]

Programs use forms of loops, clauses, types, scopes, macros, inner loops, continue, nested parallel regions; each is compiled
plainly and by COMMAND, with each compiler and in both modes of rewriting, and has to print the same integers. Each is a function
of its own, and many of them stand in a file; what goes wrong is tried again alone. Programs that cannot be read before
preprocessing stand in other files than those that can, since one of them has the whole file preprocessed. Mutants are
programs with pieces left out, doubled and exchanged, in Fortran too: the command says something or compiles, and never crashes. With --cxx the
programs are C++: in members, templates and lambdas, with variables of type auto. With --kernels they are loops that become kernels,
on devices that are emulated, and mutants those of tests/cc/kernels. Run: ctest -R cc-fuzz
"""
import argparse
import concurrent.futures
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import common
from common import COMPILERS, HERE, INCLUDE, SOURCE, run

TYPES = ["int", "long", "long long", "short", "unsigned", "unsigned char", "size_t", "signed char"]
OPERATORS = {"+": "{v} += {x};", "^": "{v} ^= {x};", "|": "{v} |= {x};", "&": "{v} &= ~({x});", "-": "{v} -= {x};",
             "max": "if (({x}) > {v}) {v} = {x};", "min": "if (({x}) < {v}) {v} = {x};",
             "*": "{v} *= ({x}) | 1;", "&&": "{v} = {v} && ({x}) % 7;", "||": "{v} = {v} || ({x}) % 5 == 1;"}


UNITS = ["", "1:CPU:1", "3:CPU:1", "1:CPU:2,1:GPU:1", "1:GPU:2", "2:CPU:2"]
SCHEDULES = ["static:chunk=2", "dynamic", "guided:size", "binpack", "weighted:size"]


TOGETHER = 25  # programs in a file
END = ".c"     # of their names
STANDARD = [], ["-std=gnu++17"]
HEAD = """#include <stddef.h>
#include <stdio.h>
#include <string.h>
#define TWICE(x) ((x) * 2)
#define UNITS 2:CPU:1
#define EACH(v, n) for (int v = 0; v < (n); v++)
#define SHARED _Pragma("omp atomic")
static long long table[262144];
static int square(int x) { return x * x % 1009; }
#define unused @ /* words that generated text may not have */
#define type @
#define is @
#define site @
#define count @
#define error @
#define volatile @
#ifdef __cplusplus
#include <initializer_list>
namespace space {
static int one = 1;
namespace in { static long long two = 2; }
template <int low, int high> struct range { enum { from = low, to = high }; };
template <class A, class B> static int sum(A a, B b) { return (int)(a + b); }
}
#endif
"""


KERNELS = False  # programs of KernelProgram
KERNEL_HEAD = "#include <math.h>\n#include <omp_cu.h>\n"


class Program:
    """One random program: a function of it in .text()."""

    def __init__(self, number):
        self.r = random.Random(number)
        self.number = number
        self.count = 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def expression(self, names):
        r = self.r
        kind = r.randrange(8)
        if kind == 0 or not names:
            return str(r.randrange(1, 50))
        name = f"(int){r.choice(names)}"
        if kind < 3:
            return name
        if kind == 3:
            return f"TWICE({name})"
        if kind == 4:
            return f"square({name} % 100)"
        return f"({name} {r.choice('+-^|&')} {self.expression(names) if kind == 5 else r.randrange(1, 30)}) % 1000"

    def head(self, v, names):
        """A loop's head with few iterations, whether it declares v, and bounds that stay the same."""
        r = self.r
        type_ = r.choice(TYPES)
        signed = type_ not in ("unsigned", "unsigned char", "size_t")
        low, trips, step = r.randrange(-20 * signed, 20), r.choice([0, 1, 2, 3, 7, 13]), r.choice([1, 1, 2, 3])
        high = low + trips * step - (r.randrange(step) if trips else 0)
        if r.random() < 0.3:
            high = f"{high} + ({names and r.choice(names) or 0} & 0)" if type_ in ("int", "long") else f"{high} /* ; ) */"
        w = r.choice([v, v, v, f"({v})"])
        if r.random() < 0.7:
            compare = r.choice([f"{w} < {high}", f"({high}) > {w}", f"{w} <= {high}", f"({w} < ({high}))"])
            move = r.choice([f"{w} += {step}", f"{v} = {w} + {step}", f"{v} = {step} + {w}", f"{w} = {w} + ({step})",
                             f"({v} += ({step}))"] + ([f"{w}++", f"++{w}", f"({v}++)"] if step == 1 else []))
            return type_, f"{v} = {low}; {compare}; {move}"
        compare = r.choice([f"{w} > {low}", f"{low} < {w}", f"(({low}) < {w})"] + ([f"{w} >= {low}"] if low > 3 else []))
        move = r.choice([f"{w} -= {step}", f"{v} = {w} - {step}", f"{w} = {v} - ({step})"] + ([f"{w}--", f"--{w}"] if step == 1 else []))
        return type_, f"{v} = {high}; {compare}; {move}" if low > 3 else f"{v} = {high} + 4; {w} > {low} + 4; {w}--"

    def declared(self, type_, head):
        """The head with its variable's declaration, perhaps with attributes."""
        v, rest = head.split(" ", 1)
        return self.r.choice([f"{type_} {head}"] * 4 + [f"{type_} {v} __attribute__((__unused__)) {rest}",
                                                       f"__attribute__((__unused__)) {type_} {head}", f"register {type_} {head}"[9 * (END != ".c"):]])

    def aside(self):
        """A directive in a branch that is not compiled."""
        r = self.r
        wrong = r.choice(["#pragma omp teams distribute num_teams(2:CPUS:1)\nfor (struct node *p = head; p; p = p->next) visit(p);",
                          "#pragma omp teams num_teams(1:CPU:1)\nwhile (", "#pragma omp distribut\n} } (", "#pragma omp teams distribute num_teams(1:CPU:1"])
        return r.choice([["#if 0", wrong, "#endif"], ["#ifdef NONE", "#if 1", wrong, "#endif", "#endif"],
                         ["#if 1", "#elif 1", wrong, "#else", wrong, "#endif"], ["#ifndef NONE", "#else", wrong, "#endif"]])

    def bare(self, out, names):
        """A loop whose body has no braces."""
        v = self.name()
        type_, head = self.head(v, names)
        place = f"table[(int){v} & 262143]"
        body = self.r.choice(self.bodies(place, v, names))
        self.directive(out, self.clauses([], []))
        if self.r.random() < 0.2:
            out += self.aside()
        out += [f"for ({self.declared(type_, head)})", *body]

    def bodies(self, place, v, names):
        """Statements without braces that add to a place."""
        x, y = self.expression(names + [v]), self.expression(names)
        return [[f"{place} += {x};"], [f"if ({x} % 2) {place} += {y}; else if ({y} % 3) {{ {place} -= 3; }} else {place} ^= 5;"],
                [f"for (int k = 0; k < 5; k++) if (k == 3) break; else {place} += k * ({x});"],
                [f"switch ({x} % 3) {{ case 0: {place} += 1; break; default: {place} += {y}; }}"],
                [f"do {place} += 7; while ({place} % 3);"], [f"{place} += __extension__({{ int q = {x}; q > 3 ? q : 3; }});"],
                ["#if 0", "break;", "#else", f"{place} += {x};", "#endif"],
                [f"if ({x} % 2) {place} += 2;", "#ifdef NONE", "{", "#else", f"else {place} += 9;", "#endif"]] + self.more_bodies(place, x, y)

    def more_bodies(self, place, x, y):
        return [[f"{place} += ((struct {{ int a, b; }}){{{x}, 2}}).a;"], [f"{place} -= (int[]){{1, {y}, 3}}[1];"],
                [f'_Pragma("omp simd") for (int k = 0; k < 3; k++) if (k) {place} += k; else {{ {place} += {x}; }}']]

    def statement(self, names, depth):
        """Something that changes variables of the iteration alone."""
        r = self.r
        kind = r.randrange(9) if depth < 3 else 0
        if kind < 3:
            return [f"mine = ({self.expression(names + ['mine'])} + mine) % 997;"]
        if kind == 3:
            return [f"if ({self.expression(names)} % 3 == {r.randrange(3)}) {{", *self.statement(names, depth + 1), "} else",
                    *self.statement(names, 9)]
        if kind == 4:
            v = self.name()
            inner = self.statement(names + [v], depth + 1)
            stop = [f"if ({v} == 3) break;"] if r.random() < 0.5 else [f"if ({v} == 1) continue;"]
            return [f"EACH({v}, {r.randrange(1, 6)}) {{" if r.random() < 0.3 else
                    f"for (int {v} = 0; {v} < {r.randrange(1, 6)}; {v}++) {{", *stop, *inner, "}"]
        if kind == 5:
            return [f"switch ({self.expression(names)} % 3) {{", "case 0: mine += 3; break;", "default:",
                    *self.statement(names, depth + 1), "}"]
        if kind == 6:
            v = self.name()
            return [f"{{ struct {{ int a[3]; }} {v} = {{{{1, {self.expression(names)}, 3}}}};",
                    f"mine += {v}.a[{r.randrange(3)}]; }}"]
        if kind == 7:
            v = self.name()
            return [f"{{ int {v} = 0;", f"#pragma omp parallel for reduction(+: {v})",
                    f"for (int k = 0; k < 5; k++) {v} += k * {r.randrange(1, 9)};", f"mine += {v}; }}"]
        return [f"do mine += {r.randrange(1, 9)}; while (mine % 2 && mine < 900);"]

    def clauses(self, private, first):
        r = self.r
        out = []
        if private:
            out.append(f"private({', '.join(private)})")
        if first:
            out.append(f"firstprivate({', '.join(first)})")
        if r.random() < 0.6:
            out.append("dist_schedule(" + r.choice(["static", "dynamic", "dynamic, 2", "static, 3", "guided:size", "map",
                                                    "dynamic, memorize = 1 + 1", "runtime"]) + ")")
        if r.random() < 0.2:
            out.append("thread_limit(1 + 1)")
        if r.random() < 0.2:
            out.append("speed(CPU: 1, GPU: 2 * 8)")
        return out

    def units(self):
        return "num_teams(" + self.r.choice(["2:CPU:1", "1 : CPU : 1 , 1::GPU::1", "UNITS", "auto", "2:CPU:TWICE(1)"]) + ")"

    def loop(self, out, names):
        """A loop shared out, with what becomes of it."""
        r = self.r
        loops = r.choice([1, 1, 1, 2, 3])
        variables = [self.name() for _ in range(loops)]
        sums = [(self.name(), r.choice(list(OPERATORS)), r.choice(["int", "long long", "unsigned", "int"]))
                for _ in range(r.randrange(3))]
        privates, firsts = [self.name() for _ in range(r.randrange(2))], [self.name() for _ in range(r.randrange(2))]
        last = self.name() if r.random() < 0.4 else None
        items = []  # of a clause: the variable, or part of an array or of what a pointer points at
        for at, (v, op, type_) in enumerate(sums):
            items.append(r.choice([v, v, f"{v}[1 : 2]", f"{v}[: 2 + 1]"]))
            if items[at] == v:
                out.append(f"{type_} {v} = {r.randrange(1, 60)};")
                continue
            array = r.choice([v, self.name()])
            most = 2 if op in ("&&", "||") else 60  # these make 1 of any other number, also of an element that no iteration meets
            out.append(f"{type_} {array}[3] = {{1, {r.randrange(1, most)}, {r.randrange(1, most)}}};")
            if array != v:
                out.append(f"{type_} *{v} = {array};")
            sums[at] = f"{v}[1 + (mine & 1)]", op, type_
        for v in privates + firsts:
            out.append(f"int {v} = {r.randrange(40)};")
        if last:
            out.append(f"int {last} = -1;")
        heads = [self.head(v, names) for v in variables]
        outer = loops == 1 and r.random() < 0.3
        if outer:
            out.append(f"{heads[0][0]} {variables[0]};")
        clauses = self.clauses(privates, firsts)
        clauses += [f"reduction({'default, ' if r.random() < 0.2 else ''}{op}: {item})" for item, (_, op, _) in zip(items, sums)]
        if last:
            clauses.append(f"lastprivate({last})")
        if loops > 1:
            clauses.append(f"collapse({loops})")
        elif r.random() < 0.2:
            clauses.append(f"weight(3.0 + (int){variables[0]} % 3)")
        elif r.random() < 0.2:
            clauses.append(f"key({variables[0]})")
        r.shuffle(clauses)
        self.directive(out, clauses)
        for i, (type_, head) in enumerate(heads):
            out.append(f"for ({head if outer else self.declared(type_, head)})" + (" {" if i == loops - 1 else ""))
        seen = names + variables + firsts
        if privates:
            out.append(f"{privates[0]} = {self.expression(seen)};")
            seen = seen + privates[:1]
        out.append(f"int mine = {self.expression(seen)};")
        for line in self.statement(seen, 0) + self.statement(seen, 1):
            out.append(line)
        if last:
            out.append(f"{last} = mine;")
        for v, op, _ in sums:
            out.append(OPERATORS[op].format(v=v, x=f"(mine + {self.expression(variables)})"))
        index = "0"  # no two iterations write the same place
        for v in variables:
            index = f"({index}) * 64 + (int){v}"
        out.append(f"table[(({index}) & 262143)] = mine;")
        if r.random() < 0.3:
            out.append("if (mine % 2) continue;")
            out.append(f"table[(({index}) & 262143)] += 1;")
        out.append("}")
        for v, _, _ in sums:
            for element in [v] if v.isalnum() else [f"{v.split('[')[0]}[{i}]" for i in range(3)]:
                out.append(f'printf("%lld\\n", (long long){element});')
        if last:
            out.append(f'printf("%d\\n", {last});')

    def directive(self, out, clauses):
        r = self.r
        glue = r.choice([" ", ", ", " \\\n    "])
        if r.random() < 0.25:
            out.append(f"#pragma omp teams {self.units()}")
            out.append("#pragma omp distribute " + glue.join(c for c in clauses if not c.startswith("thread")))
        else:
            all_ = [self.units()] + clauses
            r.shuffle(all_)
            out.append(f"#pragma omp teams {r.choice(['distribute', 'loop'])} " + glue.join(all_))

    def text(self):
        out = [f"static void program{self.number}(void) {{", f'printf("program {self.number}\\n");', "fflush(stdout);"]
        names = []
        for _ in range(self.r.randrange(1, 4)):
            v = self.name()
            out.append(f"const int {v} = {self.r.randrange(1, 30)};")
            names.append(v)
        for _ in range(self.r.randrange(1, 5)):
            out.append("{" if self.r.random() < 0.7 else f"if ({names[0]} > 0) {{")
            if self.r.random() < 0.08:
                out += self.aside()
            (self.bare if self.r.random() < 0.3 else self.loop)(out, names)
            out.append("}")
        out += ["long long all = 0;", "for (int i = 0; i < 262144; i++) all = all * 31 + table[i];",
                'printf("%lld\\n", all);', "memset(table, 0, sizeof table);", "}", ""]
        return "\n".join(out)


class KernelProgram(Program):
    """Loops that become kernels (--kernels): of all integers, up and down, of regions, with clauses, atomic and math.h. No two
    iterations write the same place but by atomic."""

    def index(self, v, low, high):
        """A head for v from low to below high, and the same number of iterations downward."""
        r = self.r
        type_, step = r.choice(TYPES), r.choice([1, 1, 2, 3])
        move = r.choice([f"{v} += {step}", f"{v} = {v} + {step}"] + [f"{v}++"] * (step == 1))
        if r.random() < 0.6:
            return f"{type_} {v} = {low}; {v} {r.choice([f'< {high}', f'<= {high} - 1'])}; {move}"
        return f"{type_} {v} = {high} + {step}; {v} > {low} + {step}; " + move.replace("++", "--").replace("+", "-")

    def value(self, names):
        x, y = self.expression(names), self.expression(names)
        return self.r.choice([x, f"({x} > {y} ? {x} : {y})", f"(int)floor(({x}) * 0.3)", f"(int)fmod({x}, 7)", f"({x}) + 'c'", f"(short)({x} * 77)",
                              f"(int)(sizeof(short) * (unsigned char)({x}))", f"(int)(sqrt(fabs(({x}) * 1.0)) * 8)", f"square({x} % 100)", f"!({x} % 3)"])

    def item(self, place, names, own):
        r = self.r
        x, y = self.value(names), self.value(names)
        out = [f"{r.choice(['int', 'short', 'unsigned char', 'long', '_Bool'])} mine = ({x}) & 63;", f"{own} = {y} + first;"]
        out.append(r.choice([f"if (mine % 2) {place} += {own}; else {{ {place} ^= mine; }}", f"for (int k = 0; k < mine % 5; k++) {place} += k * {own};",
                             f"{place} -= {own} + mine;", f"do {place} += 3; while ({place} % 4);"]))
        k, by = r.randrange(8), r.choice(["+= 3", "^= mine", "|= 1 << mine % 20", "-= mine"])
        if r.random() < 0.5:
            out += ["#pragma omp atomic" + r.choice(["", " update", " relaxed"]), f"t[{self.first + 250000 + 8 * '+^|-'.index(by[0]) + k}] {by};"]
        return out

    def nest(self, out, names, words, clauses, at):
        r = self.r
        v, w, own = self.name(), self.name(), self.name()
        loops = r.choice([1, 1, 2, 2])
        inner = self.index(w, r.randrange(3), r.randrange(3, 14)) if loops == 2 and r.random() < 0.6 else f"int {w} = {v}; {w} < 20; {w}++"
        place = f"t[{self.first + at} + (int){v} * 64" + (f" + (int){w}]" if loops == 2 else "]")
        sums = [(self.name(), op) for op in r.sample(["+", "^", "max", "min", "|"], r.randrange(3))]
        clauses = clauses + [f"private({own})", "firstprivate(first)"] + [f"reduction({op}: {s})" for s, op in sums]
        clauses += r.sample(["schedule(static)", "nowait"] if words == "for" else ["schedule(dynamic, 2)", "if(first > 3)"], r.randrange(2))
        clauses += ["collapse(2)"] * (loops == 2)
        r.shuffle(clauses)
        out += [f"long long {own} = 5;", f"(void){own};"] + [f"long long {s} = {r.randrange(9)};" for s, _ in sums]
        out += [f"#pragma omp {words} " + " ".join(clauses), f"for ({self.index(v, r.randrange(4), r.randrange(4, 17))})"]
        out += [f"for ({inner})"] * (loops == 2) + ["{"] + self.item(place, names + [v] + [w] * (loops == 2), own)
        out += [OPERATORS[op].format(v=s, x=f"(mine + {own} % 10)") for s, op in sums] + ["}"]
        out += [f"out[{n}] += {s};" for n, (s, _) in enumerate(sums)]

    def text(self):
        r = self.r
        name = f"{self.number}"
        self.first, data = r.choice([0, 0, 1, 1000, -3]), r.choice(["registered", "loop", "block", "enter"])
        section, known = f"t[{self.first}:262144]", data == "registered"  # of the whole table
        clauses = [f"map(tofrom: {section})"] * (data == "loop" or known and self.first != 0)
        out = [f"static void kernels{name}(long long *t, long long *out) {{", "const int a = 7, b = 12;", "int first = 4;"]
        out += {"block": [f"#pragma omp target data map(tofrom: {section})"],
                "enter": [f"#pragma omp target enter data map(to: {section})"]}.get(data, []) + ["{"]
        for k in range(r.randrange(1, 4)):
            out.append("{")
            self.nest(out, ["a", "b"], r.choice(["target teams distribute parallel for", "target parallel for", "target teams loop"]), clauses, 4096 * k)
            out.append("}")
        out += ["}"] + [f"#pragma omp target exit data map(from: {section})"] * (data == "enter")
        out += ["}", f"static void program{name}(void) {{", f'printf("program {name}\\n");', "fflush(stdout);", "long long out[3] = {0};",
                *["omp_register(table, sizeof table);"] * known, "#pragma omp teams distribute num_teams(1:CPU:1)",
                f"for (int once = 0; once < 1; once++) kernels{name}(table - {self.first}, out);", *["omp_migrate(table);", "omp_unregister(table);"] * known,
                "long long all = out[0] + 7 * out[1] + 11 * out[2];", "for (int i = 0; i < 262144; i++) all = all * 31 + table[i];",
                'printf("%lld\\n", all);', "memset(table, 0, sizeof table);", "}", ""]
        return "\n".join(out)


AUTO = re.compile(r"for \(((?:unsigned |signed )?\w+(?: long)?) (v\d+) = ((?:/\* ; \) \*/|[^;/]|/(?!\*))*?)( /\* ; \) \*/)?;")


class CxxProgram(Program):
    """The same in clothes of C++."""

    def deduced(self, found):
        type_, name, value, comment = found.groups()
        cast = f"static_cast<{type_}>({value})" if " " not in type_ or self.r.random() < 0.5 else f"({type_})({value})"
        return f"for (auto {name} = {cast}{comment or ''};" if self.r.random() < 0.5 else found.group()

    def more_bodies(self, place, x, y):
        return [[f"{place} += [](int z) {{ if (z > 3) return z; return 0; }}({x});"],
                [f"{place} ^= [&]() mutable noexcept -> int {{ for (;;) break; return {x}; }}() + [q = 3] {{ return q; }}();"],
                [f"if constexpr (sizeof(int) > 1) {place} += {x}; else {place} += 1;"],
                [f"try {{ if ({x} % 2) throw 3; {place} += 1; }} catch (int z) {{ {place} += z; }} catch (...) {{ {place} = 0; }}"],
                [f"for (int z : {{1, 2, {y}}}) if (z == 2) break; else {place} += z;"],
                [f"{place} -= decltype(0){{{x}}} + space::sum<int, int>({y}, 1'0);"],
                [f"for (auto &q : {{1, {x}}}) [[maybe_unused]] {self.name()}: if (q > 1) {{ {place} += q; }} else {{ {place} -= 1; }}"],
                [f'if (const char *q = R"x(;}})x"; q[0] == \';\') {{ {place} += {x}; }} else {place} = 1;']]

    def loop(self, out, names):
        """With names of namespaces and templates in clauses and heads."""
        super().loop(out, names)
        if self.r.random() < 0.4:
            v, op = self.name(), self.r.choice(["+", "^", "max"])
            out.append("space::one = 5;\nspace::in::two = 7;")
            self.directive(out, [f"reduction({op}: space::one, ::space::in::two)", "dist_schedule(dynamic, space::range<1, 2>::to)"])
            out += [f"for (int {v} = space::range<1, 20>::from; {v} < space::sum<int, long>({self.r.randrange(1, 12)}, 2); {v}++) {{",
                    OPERATORS[op].format(v="space::one", x=self.expression(names + [v])), OPERATORS[op].format(v="space::in::two", x=v), "}",
                    'printf("%d %lld\\n", space::one, space::in::two);']

    def text(self):
        lines = AUTO.sub(self.deduced, super().text()).split("\n")
        body, name = lines[1:-2], f"program{self.number}"
        kind = self.r.randrange(4)
        if kind == 0:
            return "\n".join([f"template <class T> struct of{self.number} {{ T rest; void run() {{", *body, "} };",
                              f"static void {name}() {{ of{self.number}<int>().run(); }}", ""])
        if kind == 1:
            return "\n".join([f"static const auto {name} = [] {{", *body, "};", ""])
        if kind == 2:
            return "\n".join([f"template <int n> static void {name}_() {{", *body, "}", f"static void {name}() {{ {name}_<3>(); }}", ""])
        return "\n".join(lines)


def environment(compiler):
    """With this compiler behind the command, of either language."""
    return {"EVENER_CC": compiler, "EVENER_CXX": {"gcc": "g++", "clang": "clang++"}.get(compiler, compiler)}


def write(name, texts):
    """A file with these programs; texts: of each, by number."""
    with open(name, "w") as file:
        file.write(KERNEL_HEAD * KERNELS + HEAD + "".join(texts.values()) + "int main(void) {\n")
        file.write("".join(f"program{number}();\n" for number in texts) + "return 0;\n}\n")


def sections(text):
    """What each program has printed, by number."""
    parts = re.split(r"^program (\d+)\n", text, flags=re.MULTILINE)
    return dict(zip(map(int, parts[1::2]), parts[2::2]))


def is_read_as_it_is(command, folder, number, text):
    """Whether a program can be rewritten without preprocessing, for which there is no compiler here."""
    name = os.path.join(folder, f"a{number}{END}")
    write(name, {number: text})
    result = run([command, "--source", name], env=environment("false"))
    os.unlink(name)
    return result.returncode == 0


def build(command, name, output, compiler, mode):
    """What is wrong with the file, in words of the compiler, or ''."""
    made = run([command, *mode, *STANDARD[END != ".c"], "-fwrapv", "-ffp-contract=off", "-w", name, "-o", output, "-lm"], env=environment(compiler))
    return f"status {made.returncode}: {made.stderr}" if made.returncode else ""


def wrong(command, folder, texts, way, expected):
    """The programs that differ from what is expected, with what was said of each, and those that nothing is known of: what
    ended before them, or was not compiled."""
    compiler, mode, number = way
    name = os.path.join(folder, f"p{min(texts)}")
    output = f"{name}-{compiler}{''.join(mode)}"
    said = build(command, name + END, output, compiler, mode)
    if said:
        return ({min(texts): said}, []) if len(texts) == 1 else ({}, list(texts))
    bad, unknown = {}, set()
    for turn in (0, 3):
        units, schedule = UNITS[(number + turn) % len(UNITS)], SCHEDULES[(number + turn) % len(SCHEDULES)]
        result = run([output], env={"EVENER_UNITS": units, "EVENER_SCHEDULE": schedule})
        got = sections(result.stdout)
        words = f"units {units or 'of its own'}, {schedule}: "
        bad.update({n: f"{words}expected\n{expected[n]}got\n{got[n]}" for n in got if got[n] != expected[n]})
        if result.returncode:
            last = list(got)[-1] if got else min(texts)
            bad[last] = f"{words}status {result.returncode}, {bad.get(last, '')}{result.stderr}"
        unknown.update(n for n in texts if n not in got)
    os.unlink(output)
    return bad, sorted(unknown - set(bad))


def compare(command, folder, texts, modes):
    """Of each program that is not the same everywhere, what differs."""
    name = os.path.join(folder, f"p{min(texts)}")
    write(name + END, texts)
    plain = run([environment(COMPILERS[0])["EVENER_CC" if END == ".c" else "EVENER_CXX"], *STANDARD[END != ".c"], "-fwrapv", "-ffp-contract=off", "-w", "-I", INCLUDE, name + END, "-o", name, "-lm"])
    if plain.returncode:
        return {min(texts): "the plain compiler: " + plain.stderr}
    expected = sections(run([name]).stdout)
    differences = {}
    for compiler in COMPILERS:
        for mode in modes:
            way = (compiler, mode, min(texts) // TOGETHER + len(mode))
            bad, unknown = wrong(command, folder, texts, way, expected)
            for n in unknown:  # each alone
                write(os.path.join(folder, f"p{n}{END}"), {n: texts[n]})
                bad.update(wrong(command, folder, {n: texts[n]}, way, expected)[0])
            write(name + END, texts)
            for n, what in bad.items():
                differences.setdefault(n, f"{' '.join([compiler, *mode])}: {what}")
    return differences


def programs(command, folder, count, seed, keep):
    texts = {number: (KernelProgram if KERNELS else Program if END == ".c" else CxxProgram)(number).text() for number in range(seed, seed + count)}
    differences = {}
    with concurrent.futures.ThreadPoolExecutor(min(8, len(os.sched_getaffinity(0)))) as pool:
        readable = dict.fromkeys(texts, False) if KERNELS else dict(zip(texts, pool.map(lambda n: is_read_as_it_is(command, folder, n, texts[n]), texts)))
        jobs = []
        # the others are preprocessed in either mode
        for kind, modes in ((True, ([], ["--preprocessed"])), (False, (["--kernels"] if KERNELS else [],))):
            numbers = [n for n in texts if readable[n] is kind]
            for at in range(0, len(numbers), TOGETHER):
                some = {n: texts[n] for n in numbers[at:at + TOGETHER]}
                jobs.append(pool.submit(compare, command, folder, some, modes))
        for job in jobs:
            differences.update(job.result())
    for number, what in sorted(differences.items()):
        print(f"program {number}: {what}", flush=True)
        if keep:
            write(os.path.join(keep, f"p{number}{END}"), {number: texts[number]})
    print(f"{count} programs, {sum(readable.values())} of them read as they are, {len(differences)} wrong", flush=True)
    return len(differences)


def mutate(r, text):
    """A few pieces of the text left out, doubled, exchanged."""
    pieces = ["(", ")", "{", "}", ":", ",", ";", "for", "#", "\\\n", "CPU", "GPU", "collapse(2)", "reduction(", "distribute",
              "teams", '"', "'", "/*", "*/", "//", "num_teams(1:CPU:1)", "\0"[:0], "#if 1\n", "#endif\n", "?", "=", "++", "break;",
              "OMP_CU(", "dist_schedule(", "weight(", "\xe4", "#pragma omp teams num_teams(1:CPU:1)\n", "0", "declare variant(f)"]
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(text))
        n = r.choice([1, 1, 2, 5, 20])
        kind = r.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + n:]
        elif kind == 1:
            text = text[:at] + text[at:at + n] * 2 + text[at + n:]
        elif kind == 2:
            text = text[:at] + r.choice(pieces) + text[at:]
        else:
            other = r.randrange(len(text))
            text = text[:at] + text[other:other + n] + text[at + n:]
        text = text or " "
    return text


def checked_command(folder):
    """The rewriter with sanitizers."""
    checked = os.path.join(folder, "evener-cc")
    words = [f'-DEVENER_CC_{k}="{v}"' for k, v in (("COMPILER", COMPILERS[0]), ("CXX", "c++"), ("INCLUDE", INCLUDE), ("LIBDIR", "lib"), ("LIBS", ""))]
    subprocess.run([COMPILERS[0], "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O0", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover", *words, "-I", os.path.join(SOURCE, "cc"),
                    *glob.glob(os.path.join(SOURCE, "cc", "**", "*.c"), recursive=True), "-o", checked], check=True)
    return checked


def mutants(folder, count, seed):
    """The rewriter with sanitizers on mutants of the programs of the tests, in each language: how many broke it."""
    checked, crashes, accepted, r = checked_command(folder), 0, 0, random.Random(seed)
    parts, names = (["kernels/wrong"], ["kernels/*.c"]) if KERNELS else (["wrong", "wrong_fortran"], ["forms/*", "cxx/*.cpp"])
    texts = [("m" + os.path.splitext(name)[1], text) for part in parts for name, text, *_ in common.wrong(part)]
    for name in sorted(path for some in names for path in glob.glob(os.path.join(HERE, some))):
        with open(name) as file:
            texts.append(("m" + os.path.splitext(name)[1], file.read()))
    for number in range(count):
        name, text = r.choice(texts)
        text = mutate(r, text)
        path = os.path.join(folder, name)
        with open(path, "w", encoding="latin-1", errors="replace") as file:
            file.write(text)
        # preprocessed text is read as it is: the compiler's part is left out, for the sake of speed
        result = run([checked, *["--kernels=parallel"] * KERNELS, "--source", path], env=environment("cat" if number % 8 else COMPILERS[0]))
        accepted += result.returncode == 0
        if "Sanitizer" in result.stderr or "runtime error" in result.stderr or result.returncode not in (0, 1):
            crashes += 1
            print(f"mutant {number}:\n{text}\n{result.stderr}")
    print(f"{count} mutants, {accepted} accepted, {crashes} crashes")
    return crashes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=0)
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--cxx", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    words = parser.parse_args()
    global END, KERNELS
    KERNELS = words.kernels
    END = ".cpp" if words.cxx else ".c"
    with tempfile.TemporaryDirectory() as folder:
        wrong = programs(common.COMMAND, folder, words.programs, words.seed, words.keep) if words.programs else 0
        wrong += mutants(folder, words.mutants, words.seed) if words.mutants else 0
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
