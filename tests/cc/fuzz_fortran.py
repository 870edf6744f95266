#!/usr/bin/env python3
"""Random programs with directives in Fortran against plain gfortran, and mutated ones under sanitizers.

    tests/cc/fuzz_fortran.py COMMAND [--programs N] [--mutants N] [--seed S] [--keep FOLDER]

Programs use both forms, kinds of loop variables, labels and names, cycle, inner loops with exit, continued lines, clauses, nested
parallel loops, variables called as functions of Fortran, lastprivate of allocatable and polymorphic variables, pointers and texts, words
that go on in the next line, and in fixed form blanks in words, none between them, tabs and text behind column 72; each has to print the
same as without directives. Run: ctest -R cc-fortran-fuzz; without gfortran it is skipped.
"""
import glob
import os
import random
import shutil
import sys
import common
from common import HERE, run
from fuzz import SCHEDULES, UNITS, checked_command, main, try_mutants

OPERATORS = {"+": "{v} = {v} + {x}", "*": "{v} = {v} * (1 - 2 * modulo({x}, 2_8))",
             "max": "{v} = max({v}, {x})", "min": "{v} = min({v}, {x})", "ior": "{v} = ior({v}, {x})",
             "iand": "{v} = iand({v}, not(modulo({x}, 64_8)))", "ieor": "{v} = ieor({v}, {x})", "-": "{v} = {v} - {x}"}

# names of functions that no program here calls
FUNCTIONS = """abs achar acos all any associated bit_size btest ceiling char count cshift digits dim dot_product dprod epsilon exp exponent
    floor fraction huge iachar ibclr ibset ichar index ishft kind lbound log logical matmul maxloc maxval merge minloc minval mod move_alloc
    nint null pack popcnt precision present product radix range rank real same_type_as scale scan set_exponent shape sign sin spacing
    spread sqrt storage_size tan tiny transfer transpose trim ubound unpack verify""".split()
TYPES = ["type base", "integer(8) :: n = 0", "integer(8), allocatable :: list(:)", "end type", "type, extends(base) :: child",
         "integer(8) :: more = 7", "end type"]
# a variable in lastprivate: its declaration, what it is before, what an iteration does with it (m), what is printed
KEPT = [("integer(8), allocatable :: {v}(:)", ["{v} = [1, 2, 3]"],
         ["if (allocated({v})) deallocate ({v})", "allocate ({v}(int(modulo({m}, 5_8)):5))", "{v} = {m}"], "{v}"),
        ("integer(8), allocatable :: {v}(:)", ["{v} = [1]"], ["{v} = [{m}, {m} + 1]"], "{v}"),
        ("character(:), allocatable :: {v}", ["{v} = 'none'"], ["{v} = repeat('ab', int(modulo({m}, 7_8)))"], "{v}"),
        ("character(9) :: {v}", ["{v} = 'none'"], ["write ({v}, '(i9)') {m}"], "{v}"),
        ("type(base) :: {v}", ["{v}%list = [4]"], ["{v}%n = {m}", "{v}%list = [{m}, 2_8]"], "{v}%n, {v}%list"),
        ("class(base), allocatable :: {v}", ["allocate ({v})"],
         ["if (allocated({v})) deallocate ({v})", "if (modulo({m}, 2_8) == 0) allocate (child :: {v})",
          "if (.not. allocated({v})) allocate ({v})", "{v}%n = {m}"], "{v}%n"),
        ("integer(8), pointer :: {v}(:)", ["{v} => table"], ["{v} => table(int(modulo({m}, 60_8)):70)"], "size({v})"),
        ("integer(8) :: {v}(2, 2)", ["{v} = 3"], ["{v} = {m}"], "{v}")]


class Program:
    """One random program: its lines in free form, labels as numbers before them."""

    def __init__(self, r):
        self.r, self.count, self.label, self.out, self.declared = r, 0, 0, [], []
        self.functions = list(FUNCTIONS)

    def name(self, kind):
        self.count += 1
        name = self.new_name()
        self.declared.append(f"integer({kind}) :: {name}")
        return name

    def new_name(self):
        if self.count < 3 or self.r.random() < 0.8 or not self.functions:
            return f"v{self.count}"
        return self.functions.pop(self.r.randrange(len(self.functions)))

    def kept(self):
        """Variables in lastprivate: their names, and lines for the body and behind the loop."""
        names, body, printed = [], [], []
        for declared, before, within, shown in self.r.sample(KEPT, self.r.choice([0, 0, 1, 2])):
            self.count += 1
            v = self.new_name()
            self.declared.append(declared.format(v=v))
            self.out += [line.format(v=v) for line in before]
            names.append(v)
            body += [(line, v) for line in within]
            printed.append(f"print *, {shown.format(v=v)}")
        return names, body, printed

    def case(self, text):
        return self.r.choice([text, text, text.upper(), text.title()])

    def expression(self, names):
        kind = self.r.randrange(5)
        if kind == 0 or not names:
            return f"{self.r.randrange(1, 50)}_8"
        name = f"int({self.r.choice(names)}, 8)"
        if kind < 3:
            return name
        return f"modulo({name} {self.r.choice('+-*')} {self.r.randrange(1, 30)}, {self.r.randrange(2, 90)})"

    def head(self, v):
        """The control of a loop with few iterations."""
        r = self.r
        low, trips, step = r.randrange(0, 20), r.choice([0, 1, 2, 5, 13]), r.choice([1, 1, 2, 3])
        high = low + trips * step - 1
        if r.random() < 0.3:
            return f"{v} = {high}, {low}, -{step}"
        return f"{v} = {low}, {high}" + (f", {step}" if step > 1 or r.random() < 0.3 else "")

    def do(self, v, body, ours=False):
        """A loop with an end of any form; `body` is given what a cycle of it may be written as."""
        r = self.r
        kind = r.randrange(3)
        if kind == 0:
            self.label += 10
            label = self.label
            self.out.append(f"{self.case('do')} {label} {self.head(v)}")
            body([f"go to {label}", "cycle"])
            self.out.append(f"{label} continue")
        elif kind == 1:
            self.count += 1
            name = f"l{self.count}"
            self.out.append(f"{name}: {self.case('do')} {self.head(v)}")
            body([f"cycle {name}", "cycle"])
            self.out.append(f"end do {name}")
        else:
            self.out.append(f"do {self.head(v)}")
            body(["cycle"])
            self.out.append(r.choice(["end do", "enddo", "END DO"]))

    def statements(self, names, mine, depth):
        r = self.r
        kind = r.randrange(6) if depth < 3 else 0
        if kind < 2:
            self.out.append(f"{mine} = modulo({mine} + {self.expression(names + [mine])}, 997_8)")
        elif kind == 2:
            self.out.append(f"if (modulo({self.expression(names)}, 3_8) == {r.randrange(3)}) then")
            self.statements(names, mine, depth + 1)
            self.out += ["else; " if r.random() < 0.1 else "else", f"{mine} = {mine} + 1", "end if"]
        elif kind == 3:
            v = self.name(4)

            def body(_):
                if r.random() < 0.5:
                    self.out.append(f"if ({v} == 3) exit")
                self.statements(names + [v], mine, depth + 1)
            self.do(v, body)
        elif kind == 4:
            v = self.name(4)
            self.out += ["!$omp parallel do reduction(+: " + mine + ")", f"do {v} = 1, 5",
                         f"{mine} = {mine} + {v}", "end do"]
        else:
            self.out.append(f"if (modulo({mine}, 2_8) == 0) {mine} = {mine} + {r.randrange(9)}; {mine} = {mine} + 1")

    def loop(self, names):
        r = self.r
        loops = r.choice([1, 1, 1, 2])
        variables = [self.name(r.choice([4, 4, 8, 2])) for _ in range(loops)]
        sums = [(self.name(8), r.choice(list(OPERATORS))) for _ in range(r.randrange(3))]
        mine, last = self.name(8), self.name(8) if r.random() < 0.4 else None
        self.out += [f"{v} = {r.randrange(1, 9)}" for v, _ in sums] + ([f"{last} = -1"] if last else [])
        kept, within, printed = self.kept()
        clauses = [f"private({mine})", *(f"lastprivate({v})" for v in kept), r.choice(["num_teams(2:CPU:1)", "num_teams(1 : cpu : 1 , 1::GPU::1)", "num_teams(auto)"])]
        if r.random() < 0.7:
            clauses.append("dist_schedule(" + r.choice(["static", "dynamic", "Dynamic, 2", "static, 3", "guided:size", "runtime"]) + ")")
        clauses += [f"reduction({self.case(op)}: {v})" for v, op in sums] + ([f"lastprivate({last})"] if last else [])
        if loops > 1:
            clauses.append("collapse(2)")
        elif r.random() < 0.3:
            clauses.append(f"weight(1.0 + modulo({variables[0]}, 3_{r.choice([4])}))" if "(4)" in self.kind(variables[0]) else "weight(2)")
        elif r.random() < 0.2:
            clauses.append(f"key(7 - int({variables[0]}, 8))")
        r.shuffle(clauses)
        self.out.append("!$omp " + self.case("teams distribute ") + r.choice([" ", ", "]).join(clauses))

        def innermost(cycles):
            self.out.append(f"{mine} = {self.expression(names + variables)}")
            self.statements(names + variables, mine, 0)
            self.out.extend(line.format(v=v, m=mine) for line, v in within)
            self.statements(names + variables, mine, 1)
            if last:
                self.out.append(f"{last} = {mine}")
            self.out.append(f"table({' + 64 * '.join(f'int({v}, 8)' for v in variables)}) = {mine}")
            self.out += [OPERATORS[op].format(v=v, x=f"modulo({mine} + {self.expression(variables)}, 997_8)") for v, op in sums]
            if r.random() < 0.5:
                self.out.append(f"if (modulo({mine}, 2_8) == 1) {r.choice(cycles)}")
                self.out.append(f"table({' + 64 * '.join(f'int({v}, 8)' for v in variables)}) = {mine} + 1")

        if loops == 1:
            self.do(variables[0], innermost)
        else:
            self.do(variables[0], lambda _: self.do(variables[1], innermost))
        if r.random() < 0.5:
            self.out.append("!$omp end teams distribute")
        self.out.append("print *, " + ", ".join(["1"] + [v for v, _ in sums] + ([last] if last else [])))
        self.out += printed

    def kind(self, name):
        return next(d for d in self.declared if d.endswith(" :: " + name))

    def text(self, fixed):
        names = [self.name(4) for _ in range(2)]
        self.out += [f"{n} = {self.r.randrange(30)}" for n in names]
        for _ in range(self.r.randrange(1, 5)):
            self.loop(names)
        lines = ["program p", "implicit none", *TYPES, "integer(8), target :: table(-99:9999) = 0", *self.declared, *self.out,
                 "print *, sum(table * [(modulo(v1 + 7, 31), v1 = 1, 10099)])", "end program"]
        return "".join(self.fixed(line) if fixed else self.free(line) for line in lines)

    def free(self, line):
        directive = line.startswith("!$omp")
        words = line.split(" ")
        if self.r.random() < 0.1 and len(line) > 20:
            return self.broken(line, directive)
        if len(words) < 4 or self.r.random() < 0.7:
            return line + self.r.choice(["", "  ! a comment & more"] if not directive and len(line) < 80 else [""]) + "\n"
        at = self.r.randrange(3, len(words))
        more = "!$omp" + self.r.choice([" ", "& "]) if directive else self.r.choice(["    ", "  & "])
        return " ".join(words[:at]) + " & ! 'more'\n" + self.r.choice(["", "\n", "! between\n"]) + more + " ".join(words[at:]) + "\n"

    def broken(self, line, directive):
        """Goes on in the next line wherever it likes, within a word too, but not in a text."""
        begin = line.index(" ") + 1 if directive else 1
        places = [k for k in range(begin + 1, len(line) - 1) if line[:k].count("'") % 2 == 0 and "&" not in line[k - 1:k + 1]]
        if not places:
            return line + "\n"
        at = self.r.choice(places)
        more = self.r.choice(["!$omp &", "!$OMP&", "  !$omp  &"]) if directive else self.r.choice(["&", "   &"])
        return line[:at] + "&\n" + self.r.choice(["", "\n", "  ! between\n"]) + more + line[at:] + "\n"

    def blanks(self, text):
        """Other blanks in a line of fixed form, which mean nothing outside of texts."""
        if self.r.random() < 0.5:
            return text
        parts, kind = text.split("'"), self.r.randrange(3)
        for k in range(0, len(parts), 2):
            part = parts[k] if kind == 2 else parts[k].replace(" ", "")
            parts[k] = part if kind == 0 else "".join(c + (" " if self.r.random() < 0.1 else "") for c in part)
        return "'".join(parts)

    def fixed(self, line):
        r = self.r
        directive = line.startswith("!$omp")
        text = line[5:].strip() if directive else line
        label = ""
        if text[0].isdigit():
            label, text = text.split(" ", 1)
        text = self.blanks(text)
        first = r.choice(["!$omp ", "c$omp ", "*$OMP0"]) if directive else r.choice([f"{label:<5s} "] * 4 + [f"{label}\t"])
        more = r.choice(["!$omp&", "c$omp+"]) if directive else r.choice(["     &"] * 4 + ["\t1"])
        pieces, full = [], r.random() < 0.3  # full: lines of 66 columns, wherever that ends a word
        if full:
            while text:
                piece, text = text[:66], text[66:]
                if text and piece.rstrip().endswith(";"):
                    return self.fixed(line)
                pieces.append(piece + ("" if text else " " * (66 - len(piece)) + "junk") if r.random() < 0.5 else piece)
            return first + ("\n" + more).join(pieces) + "\n"
        words = text.split(" ")
        while words:
            piece = words.pop(0)
            while words and len(piece) + len(words[0]) < 60:
                piece += " " + words.pop(0)
            while len(piece) > 60:
                pieces.append(piece[:60])
                piece = piece[60:]
            pieces.append(piece)
        if any(piece.rstrip().endswith(";") for piece in pieces[:-1]):  # no line goes on behind a semicolon
            return self.fixed(line)
        more += "" if max(map(len, pieces)) == 60 else " "
        return first + ("\n" + more).join(pieces) + "\n" + r.choice(["", "", "c     a comment\n", "\n"])


def compare(command, folder, number):
    """'' or what differs."""
    r = random.Random(number)
    fixed = r.random() < 0.5
    base = os.path.join(folder, f"p{number}")
    name = base + (".f" if fixed else ".f90")
    with open(name, "w") as file:
        file.write(Program(r).text(fixed))
    plain = run(["gfortran", "-w", name, "-o", base + "_plain"])
    if plain.returncode:
        return "gfortran: " + plain.stderr
    expected = run([base + "_plain"]).stdout
    made = run([command, "-w", name, "-o", base])
    if made.returncode:
        return made.stderr
    for units in (UNITS[number % len(UNITS)], "3:CPU:1"):
        got = run([base], env={"EVENER_UNITS": units, "EVENER_SCHEDULE": SCHEDULES[number % len(SCHEDULES)]})
        if got.stdout != expected or got.returncode:
            return f"{units}: expected\n{expected}got\n{got.stdout}{got.stderr}"
    return ""


def programs(command, folder, count, seed, keep):
    wrong = 0
    for number in range(seed, seed + count):
        difference = compare(command, folder, number)
        if difference:
            wrong += 1
            print(f"program {number}: {difference}", flush=True)
            for name in glob.glob(os.path.join(folder, f"p{number}.f*")) if keep else []:
                shutil.copy(name, keep)
    print(f"{count} programs, {wrong} wrong")
    return wrong


def mutants(folder, count, seed):
    texts = [("m" + os.path.splitext(name)[1], text) for name, text, *_ in common.wrong("wrong_fortran")]
    for name in sorted(glob.glob(os.path.join(HERE, "forms", "*.[fF]*"))):
        with open(name) as file:
            texts.append(("m.f" if name.endswith(".f") else "m.f90", file.read()))
    return try_mutants(checked_command(folder), folder, texts, count, seed)


if __name__ == "__main__":
    if not shutil.which("gfortran"):
        print("no gfortran")
        sys.exit(77)
    main(programs, mutants)
