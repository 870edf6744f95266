"""The text of a PTX module as constants and kernels: declarations, labels and instructions, no meaning yet."""

import re

CTYPE = {"b8": "u8", "u8": "u8", "s8": "s8", "b16": "u16", "u16": "u16", "s16": "s16", "b32": "u32", "u32": "u32", "s32": "s32",
         "b64": "u64", "u64": "u64", "s64": "s64", "f32": "float", "f64": "double"}
SIZE = {kind: int(kind[1:]) // 8 for kind in CTYPE}


class NotUnderstood(Exception):
    """PTX beyond the subset; the message is the text in question."""


class Instruction:
    def __init__(self, line, negated, predicate, operation, operands, text):
        self.line, self.text = line, text
        self.negated, self.predicate = negated, predicate  # @!%p3: True, "%p3"
        self.parts = operation.split(".")                  # ld.global.f64: ["ld", "global", "f64"]
        self.name, self.type = self.parts[0], self.parts[-1]
        self.operands = operands


class Kernel:
    def __init__(self, name):
        self.name = name
        self.parameters = []       # (name, alignment, bytes)
        self.registers = {}        # prefix: (type, how many; 0: one without a number)
        self.shared = []           # (name, alignment, bytes)
        self.depot, self.local_bytes = None, 0
        self.instructions, self.labels = [], {}
        self.most_items = 1024


class Module:
    def __init__(self):
        self.constants = []  # (name, alignment, bytes, values)
        self.shared = []     # of the file: of all its kernels
        self.kernels = []


def split(text):
    """Operands, separated by commas outside of brackets."""
    found, depth, now = [], 0, ""
    for c in text:
        depth += (c in "{[") - (c in "}]")
        if c == "," and not depth:
            found.append(now.strip())
            now = ""
        else:
            now += c
    return found + [now.strip()] if now.strip() else found


CONST = re.compile(r"(?:\.(?:visible|weak|extern)\s+)?\.const\s+\.align\s+(\d+)\s+\.b8\s+(\S+?)\[(\d+)\]\s*(?:=\s*\{(.*)\})?;")
SHARED = re.compile(r"(?:\.(?:visible|weak|extern)\s+)?\.shared\s+\.align\s+(\d+)\s+\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?;")
PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+(?:\.ptr\s+(?:\.(?:global|const|shared|local)\s+)?(?:\.align\s+\d+\s+)?)?"
                       r"(\w+)(?:\[(\d+)\])?")
REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+%?(\w+)(?:<(\d+)>)?;")
LOCAL = re.compile(r"\.local\s+\.align\s+(\d+)\s+\.b8\s+(\w+)\[(\d+)\];")
INSTRUCTION = re.compile(r"(?:@(!?)(%?\w+)\s+)?([\w.:]+)\s*(.*);$")


def shared(found):
    return found[3], int(found[1]), SIZE[found[2]] * int(found[4] or 1)


def parse(text):
    module, kernel, place = Module(), None, "file"
    for number, line in enumerate(re.sub(r"//[^\n]*", "", text).split("\n"), 1):
        line = line.strip()
        for inner in [line] if place != "body" or not line.startswith("{") else split_scope(line, number):
            if not inner:
                continue
            place, kernel = parse_line(module, kernel, place, number, inner)
    for kernel in module.kernels:
        kernel.shared = module.shared + kernel.shared
    return module


def split_scope(line, number):
    """A scope on one line, as of assembly in C. The names of its registers are its own, so they get the line's number."""
    own = re.findall(r"\.reg\s+\.\w+\s+(\w+)\s*;", line)
    for name in own:
        line = re.sub(rf"(?<![\w.%$]){name}(?!\w)", f"{name}_of_line_{number}", line)
    return [part.strip() + ";" for part in line.strip("{} ").split(";") if part.strip()]


def parse_line(module, kernel, place, number, line):
    """-> where the next line is, and in which kernel"""
    if place == "file":
        if found := CONST.match(line):
            values = [int(x) for x in (found[4] or "").split(",") if x]
            module.constants.append((found[2], int(found[1]), int(found[3]), values))
        elif found := SHARED.match(line):
            module.shared.append(shared(found))
        elif ".entry" in line:
            kernel = Kernel(re.search(r"\.entry\s+([\w$]+)", line)[1])
            module.kernels.append(kernel)
            parse_parameters(kernel, line)
            return ("bounds" if ")" in line else "parameters"), kernel
        elif not line.startswith((".version", ".target", ".address_size")):
            raise NotUnderstood(f"line {number}: {line}")
    elif place == "parameters":
        parse_parameters(kernel, line)
        return ("bounds" if line.endswith(")") else place), kernel
    elif place == "bounds":
        if line.startswith((".maxntid", ".reqntid")):
            kernel.most_items = 1
            for n in re.findall(r"\d+", line):
                kernel.most_items *= int(n)
        elif line == "{":
            return "body", kernel
        elif not line.startswith(".minnctapersm"):
            raise NotUnderstood(f"line {number}: {line}")
    elif line == "}":
        return "file", None
    else:
        parse_body(kernel, number, line)
    return place, kernel


def parse_parameters(kernel, line):
    for found in PARAMETER.finditer(line):
        kernel.parameters.append((found[3], int(found[1] or SIZE[found[2]]), SIZE[found[2]] * int(found[4] or 1)))


def parse_body(kernel, number, line):
    if found := REGISTERS.match(line):
        # for sm_100 and later all registers are declared by their size alone
        kind = {"fd": "f64", "f": "f32"}.get(found[2], found[1])
        kernel.registers[found[2]] = (kind, int(found[3] or 0))
    elif found := SHARED.match(line):
        kernel.shared.append(shared(found))
    elif found := LOCAL.match(line):
        kernel.depot, kernel.local_bytes = found[2], int(found[3])
    elif re.match(r"\$?\w+:$", line):
        kernel.labels[line[:-1]] = len(kernel.instructions)
    elif found := INSTRUCTION.match(line):
        if not line.startswith(".pragma"):
            kernel.instructions.append(Instruction(number, bool(found[1]), found[2], found[3], split(found[4]), line))
    elif not line.startswith(".pragma"):
        raise NotUnderstood(f"line {number}: {line}")
