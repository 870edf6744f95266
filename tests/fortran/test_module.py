"""The Fortran modules say what the headers say: every function of the headers it covers is there, with as many arguments of the same kinds
and a result of the same kind; every struct has the same fields, sizes and places, which both compilers are asked for; every enumerator the
same value. Run: ctest -R fortran-module. usage: test_module.py SOURCE CC FC"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = CC = FC = ""
COVERED = ["status", "version", "clock", "program", "machine", "unit", "cluster", "place", "schedule", "loop", "change", "exchange", "distributed", "open"]
# another name, since that of C is taken; any number of arguments
RENAMED = {"EVN_BODY": "EVN_BODY_FAILED"}
# in Fortran by another name, and of subteams, whose body has a struct of C's
LEFT_OUT = {"evn_fail", "evn_batch_share", "evn_subteam_barrier"}
SCALARS = {"int": "c_int", "unsigned": "c_int", "double": "c_double", "size_t": "c_size_t", "long long": "c_long_long",
           "uint64_t": "c_int64_t", "evn_status": "c_int", "evn_access": "c_int", "evn_resolution": "c_int", "evn_burst_kind": "c_int"}


def split(text, mark=","):
    """The parts of a list, marks in parentheses and braces left alone."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "({[") - (c in ")}]")
        if c == mark and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


# ---- C ----

class Headers:
    def __init__(self, names):
        self.functions, self.structs, self.enumerators, self.pointers, self.covered = {}, {}, [], {}, set()
        for name in names:
            with open(f"{SOURCE}/include/evener/{name}.h", encoding="utf-8") as file:
                self.read(file.read(), name in COVERED)

    def read(self, text, covered):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        if covered:
            self.enumerators += ["EVN_" + word for word in re.findall(r"\bX\((\w+), \"", text)]
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
        text = re.sub(r'extern "C" \{', "", text)
        text = " ".join(re.sub(r"__attribute__\(\(.*?\)\)\)?", "", text).split())
        structs = re.findall(r"typedef struct(?: evn_\w+)? \{(.*?)\} (evn_\w+);", text)
        structs += [(body, name) for name, body in re.findall(r"(?<!typedef )struct (evn_\w+) \{(.*?)\};", text)]
        for body, name in structs:
            self.structs[name] = [f for part in split(body, ";") for f in self.field(part)]
        if covered:
            for body in re.findall(r"enum(?: evn_\w+)? \{(.*?)\}", text):
                self.enumerators += re.findall(r"EVN_[A-Z_]+(?= *[=,]| *$)", body)
        for result, name, args in re.findall(r"typedef ([\w ]+?[ *]+)\(\*(evn_\w+)\)\((.*?)\);", text):
            self.pointers[name] = (self.kind(result), [self.kind(a) for a in split(args)])
        text = re.sub(r"typedef [^;{]*?(\{.*?\})?[^;{]*;", "", text)
        for part in split(text, ";"):
            found = re.fullmatch(r"(?:.*\} )?([\w ]+?[ *]+)(evn_\w+)\((.*)\)", part)
            if found:
                args = [] if found[3] == "void" else [self.kind(a) for a in split(found[3])]
                self.functions[found[2]] = (self.kind(found[1]), args)
                if covered:
                    self.covered.add(found[2])

    def kind(self, text):
        """What is passed: a scalar's kind, ("to", kind or handle, const), a struct, or a procedure's kinds."""
        pointer = re.fullmatch(r"([\w ]+?[ *]+)\(\*\w*\)\((.*)\)", text)
        if pointer:
            return ("procedure", self.kind(pointer[1]), [self.kind(a) for a in split(pointer[2])])
        words = re.findall(r"\w+|\*|\[", text)
        stars = words.count("*")
        const = "const" in words
        base = [w for w in words if w not in ("const", "volatile", "*", "struct", "[")]
        if "long" in base:
            base = ["long long"] + [w for w in base if w != "long"]
        if base == ["void"] and not stars:
            return None
        base = base[0] if base else "..."
        if base in self.pointers:
            return ("procedure", *self.pointers[base])
        if stars > 1:
            return ("to", "pointer", False)
        if stars:
            return ("to", "volatile" if "volatile" in words else SCALARS.get(base, base), const)
        return SCALARS.get(base, base)

    def field(self, text):
        if "(*" in text:
            return [(re.search(r"\(\*(\w+)\)", text)[1], self.kind(text), 1)]
        base, fields = "", []
        for at, part in enumerate(split(text)):
            name, array = re.search(r"(\w+)(?:\[(\d+)\])?$", part).groups()
            if not at:
                base = part[:part.rindex(name)].rstrip(" *")
            star = "*" if "*" in part else ""
            fields.append((name, self.kind(f"{base} {star}"), int(array or 1)))
        return fields


# ---- Fortran ----

class Module:
    def __init__(self, file):
        self.functions, self.abstract, self.types, self.enumerators = {}, {}, {}, []
        with open(file, encoding="utf-8") as opened:
            text = re.sub(r"![^\n]*", "", opened.read())
        text = re.sub(r"&\s*\n\s*", "", text)
        lines = [s.strip() for line in text.splitlines() for s in split(line, ";")]
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            head = re.fullmatch(r"(?:(.*) )?(function|subroutine) (\w+)\((.*?)\) bind\(c(?:, name=\"(\w+)\")?\)", line)
            if line.startswith("enumerator"):
                self.enumerators += re.findall(r"EVN_[A-Z_]+", line)
            elif line == "abstract interface":
                where = self.abstract
            elif line == "interface":
                where = self.functions
            elif line.startswith("type, bind(c)"):
                name = line.split("::")[1].strip()
                self.types[name] = []
                while lines[at] != "end type":
                    self.types[name] += self.declared(lines[at])
                    at += 1
            elif head:
                kinds = {}
                while not re.match(r"end\b", lines[at]):
                    for name, kind, _ in self.declared(lines[at]) if "::" in lines[at] else ():
                        kinds[name] = kind
                    at += 1
                result = (head[1], {"value", "result"}) if head[1] else None
                where[head[5] or head[3]] = (result, [kinds.get(a) for a in split(head[4])])

    @staticmethod
    def declared(line):
        """(name, (type, attributes), elements) of each."""
        left, right = line.split("::")
        words = split(left)
        found = []
        for part in split(right):
            name, array = re.fullmatch(r"(\w+)(?:\((\*|\d+)\))?(?: = .*)?", part).groups()
            attributes = set(words[1:]) | ({"array"} if array == "*" else set())
            found.append((name, (words[0], attributes), int(array) if array and array != "*" else 1))
        return found


def says(headers, module, c, fortran):
    """Whether an argument or a result is what C has."""
    if c is None or fortran is None:
        return c is None and fortran is None
    kind, attributes = fortran
    value = "value" in attributes
    if c[0] == "procedure":
        if kind == "type(c_funptr)":
            return True
        name = re.fullmatch(r"procedure\((\w+)\)", kind)
        return bool(name) and name[1] in module.abstract and same(headers, module, c[1:], module.abstract[name[1]])
    if c[0] == "to":
        _, base, const = c
        if kind == "type(c_ptr)" and value:
            # a scalar or struct is passed as one, but by results
            return base not in SCALARS.values() and base not in module.types or "result" in attributes
        if value or f"intent({'in' if const else 'inout'})" not in attributes and base != "pointer":
            return False
        if base == "pointer":
            return kind == "type(c_ptr)" and ("array" not in attributes) == ("intent(inout)" in attributes)
        if base == "char":
            return kind == "character(kind=c_char)" and "array" in attributes and "optional" not in attributes
        return kind in (f"integer({base})", f"real({base})", f"type({base})")
    return value and kind in (f"integer({c})", f"real({c})", f"type({c})")


def same(headers, module, c, fortran):
    return (len(c[1]) == len(fortran[1]) and says(headers, module, c[0], fortran[0])
            and all(says(headers, module, a, b) for a, b in zip(c[1], fortran[1])))


class TheModule(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # structs of other headers may be bound, too
        cls.headers = Headers(COVERED + ["device"])
        cls.module = Module(f"{SOURCE}/include/evener/fortran/evener.f90")

    def test_read(self):
        """What is compared was found: this test reads the headers by itself."""
        self.assertGreater(len(self.headers.covered), 150)
        text = ""
        for name in COVERED:
            with open(f"{SOURCE}/include/evener/{name}.h", encoding="utf-8") as file:
                text += re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        declared = set(re.findall(r"^[a-z][\w *]*?\b(evn_\w+)\(", text, flags=re.M))
        self.assertEqual(declared, self.headers.covered)

    def test_functions(self):
        bound = set(self.module.functions)
        self.assertEqual(bound - set(self.headers.functions) - {"strlen", "free"}, set(), "these no header declares")
        self.assertEqual(self.headers.covered - bound, LEFT_OUT, "these are not in the module")
        for name in sorted(bound - {"strlen", "free"}):
            c, fortran = self.headers.functions[name], self.module.functions[name]
            self.assertTrue(same(self.headers, self.module, c, fortran), f"{name}: {c} in C, {fortran} in Fortran")

    def test_directives(self):
        """The module of the directives' routines, where the library has them."""
        if not os.path.exists(f"{SOURCE}/include/evener/cu.h"):
            self.skipTest("there is no evener/cu.h")
        headers, module = Headers(["cu"]), Module(f"{SOURCE}/include/evener/fortran/omp_cu.f90")
        self.assertGreater(len(module.functions), 10)
        for name, fortran in module.functions.items():
            c = headers.functions[name]
            self.assertTrue(same(headers, module, c, fortran), f"{name}: {c} in C, {fortran} in Fortran")

    def test_public_names(self):
        """Each has its own name in Fortran, whether by an interface or by a procedure of the module."""
        with open(f"{SOURCE}/include/evener/fortran/evener.f90", encoding="utf-8") as file:
            names = set(re.findall(r"\b(?:function|subroutine) (evn_\w+)\(", file.read()))
        self.assertEqual(self.headers.covered - names, LEFT_OUT - {"evn_fail"} | {"evn_fail_text"})

    def test_structs(self):
        for name, fields in self.module.types.items():
            c = self.headers.structs[name]
            self.assertEqual([(n, many) for n, _, many in c], [(n, many) for n, _, many in fields], name)
            for (field, kind, _), (_, (given, _), _) in zip(c, fields):
                wanted = "c_funptr" if kind[0] == "procedure" else "c_ptr" if kind[0] == "to" else kind
                self.assertIn(given, (f"integer({wanted})", f"real({wanted})", f"type({wanted})"), f"{name}%{field}")
        used = {a[1] for f in self.module.functions for a in self.headers.functions.get(f, (None, []))[1] if a[0] == "to"}
        self.assertEqual({s for s in used if s in self.headers.structs} - set(self.module.types), set())
        procedures = {"make": "evn_home_make", "memory": "evn_home_memory", "drop": "evn_home_drop", "arrived": "evn_home_make"}
        for field, kind, _ in self.headers.structs["evn_home"]:
            if kind[0] == "procedure":
                fortran = self.module.abstract[procedures[field]]
                c = (kind[1], kind[2])
                # *bytes is only written, by the program
                fortran = (fortran[0], [(k, {a.replace("intent(out)", "intent(inout)") for a in w}) for k, w in fortran[1]])
                self.assertTrue(same(self.headers, self.module, c, fortran), f"evn_home%{field}")

    def test_values(self):
        """Both compilers' own answers: enumerators, sizes, and where fields are."""
        enumerators = list(dict.fromkeys(self.headers.enumerators))
        enumerators = [e for e in enumerators if not e.startswith("EVN_STATUS")]
        self.assertEqual({RENAMED.get(e, e) for e in enumerators}, set(self.module.enumerators))
        c = ["#include <evener.h>", "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
        f = ["program main", "use evener", "implicit none"]
        f += [f"type({name}), target :: v_{name}" for name in self.module.types]
        for e in enumerators:
            c.append(f'printf("{e} %d\\n", (int){e});')
            f.append(f"print '(a, i0)', '{e} ', {RENAMED.get(e, e)}")
        for name, fields in self.module.types.items():
            c.append(f'printf("{name} %d\\n", (int)sizeof({name}));')
            f.append(f"print '(a, i0)', '{name} ', c_sizeof(v_{name})")
            for field, _, _ in fields:
                c.append(f'printf("{name}.{field} %d %d\\n", (int)offsetof({name}, {field}), (int)sizeof((({name} *)0)->{field}));')
                f.append(f"print '(a, i0, 1x, i0)', '{name}.{field} ', transfer(c_loc(v_{name}%{field}), 0_c_intptr_t) &\n"
                         f"    - transfer(c_loc(v_{name}), 0_c_intptr_t), size(transfer(v_{name}%{field}, ['a']))")
        with tempfile.TemporaryDirectory() as folder:
            for file, lines in (("c.c", c + ["}"]), ("f.f90", f + ["end program"])):
                with open(f"{folder}/{file}", "w", encoding="utf-8") as out:
                    out.write("\n".join(lines) + "\n")
            subprocess.run([CC, "-I", f"{SOURCE}/include", f"{folder}/c.c", "-o", f"{folder}/c"], check=True, cwd=folder)
            # without the library, of which it calls nothing: what is not used is not linked
            subprocess.run([FC, "-J", folder, f"{SOURCE}/include/evener/fortran/evener.f90", f"{folder}/f.f90",
                            "-ffunction-sections", "-Wl,--gc-sections", "-o", f"{folder}/f"], check=True, cwd=folder)
            said = [subprocess.run([f"{folder}/{p}"], check=True, capture_output=True, text=True).stdout for p in "cf"]
        self.assertGreater(said[0].count("\n"), 100)
        self.assertEqual(said[0].splitlines(), said[1].splitlines())

    def test_warnings(self):
        """A program that compiles with warnings has none from the modules."""
        for name in "evener", "omp_cu":
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([FC, "-J", folder, "-Wall", "-Wextra", "-pedantic", "-std=f2018", "-O2", "-c", "-o", f"{folder}/o",
                                       f"{SOURCE}/include/evener/fortran/{name}.f90"], cwd=folder, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


if __name__ == "__main__":
    SOURCE, CC, FC = (os.path.abspath(sys.argv[1]), *sys.argv[2:4])
    del sys.argv[1:4]
    unittest.main()
