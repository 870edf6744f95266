"""Operands as C: registers, literals, special registers, addresses of what a kernel declares."""

import re

from module import CTYPE, NotUnderstood

SPECIAL = {"%laneid": "l", "%warpid": "(u32)w->number", "%lanemask_lt": "((1u << l) - 1)", "%lanemask_eq": "(1u << l)",
           "%lanemask_le": "((2u << l) - 1)", "%lanemask_gt": "~((2u << l) - 1)", "%lanemask_ge": "~((1u << l) - 1)"}
for number, axis in enumerate("xyz"):
    SPECIAL[f"%tid.{axis}"] = f"w->tid[{number}][l]"
    for name in ("ctaid", "ntid", "nctaid"):
        SPECIAL[f"%{name}.{axis}"] = f"w->{name}[{number}]"


def placed(declared):
    """Offsets of (name, alignment, bytes), and the sum."""
    at, offsets = 0, {}
    for name, alignment, size in declared:
        at = (at + alignment - 1) // alignment * alignment
        offsets[name] = at
        at += size
    return offsets, at


class Operands:
    def __init__(self, kernel, constants):
        self.kernel, self.constants = kernel, constants
        self.shared, self.shared_bytes = placed(kernel.shared)
        self.parameters, self.parameter_bytes = placed(kernel.parameters)

    def kind(self, operand):
        """A register's type; None: the operand is no register."""
        if operand.lstrip("%") in self.kernel.registers:
            return self.kernel.registers[operand.lstrip("%")][0]
        found = re.match(r"%([a-zA-Z_]+)\d+$", operand)
        return self.kernel.registers[found[1]][0] if found and found[1] in self.kernel.registers else None

    def array(self, operand):
        """A register of all lanes"""
        if operand.lstrip("%") in self.kernel.registers:
            return f"R->{operand.lstrip('%')}"
        found = re.match(r"%([a-zA-Z_]+)(\d+)$", operand)
        if found and found[1] in self.kernel.registers:
            return f"R->{found[1]}[{found[2]}]"
        raise NotUnderstood("register " + operand)

    def register(self, operand):
        """A register of lane l, to be assigned"""
        return self.array(operand) + "[l]"

    def predicate(self, operand):
        """A predicate of all lanes, as a mask"""
        return ("~" if operand.startswith("!") else "") + self.array(operand.lstrip("!"))

    def value(self, operand, kind):
        """The value in lane l, as of a PTX type. A register declared by its size alone may hold the bits of a number, and the reverse."""
        ctype = CTYPE[kind]
        if operand in SPECIAL:
            return f"(({ctype}){SPECIAL[operand]})"
        if of := self.kind(operand):
            if of[0] == "f" and kind[0] != "f":
                return f"(({ctype})bits_of_{CTYPE[of]}({self.register(operand)}))"
            if of[0] != "f" and kind[0] == "f":
                return f"{ctype}_of({self.register(operand)})"
            return f"(({ctype}){self.register(operand)})"
        if found := re.match(r"0[dD]([0-9a-fA-F]{16})$", operand):
            return f"double_of(0x{found[1]}ull)"
        if found := re.match(r"0[fF]([0-9a-fA-F]{8})$", operand):
            return f"float_of(0x{found[1]}u)"
        if re.match(r"-?(0x[0-9a-fA-F]+|\d+)U?$", operand):
            return f"(({ctype}){int(operand.rstrip('U'), 0) & (2**64 - 1)}ull)"
        if operand == self.kernel.depot:
            return f"(({ctype})0)"
        for names in (self.shared, self.parameters, self.constants):
            if operand in names:
                return f"(({ctype}){names[operand]}ull)"
        raise NotUnderstood("operand " + operand)

    def bits(self, operand, kind):
        """The value's bits, as an integer of its size"""
        unsigned = "u" + kind[1:]
        return f"bits_of_{CTYPE[kind]}({self.value(operand, kind)})" if kind[0] == "f" and not self.kind(operand) else self.value(operand, unsigned)

    def address(self, operand):
        found = re.match(r"\[([%$\w.]+)(?:\s*\+\s*(-?\d+))?\]$", operand)
        if not found:
            raise NotUnderstood("address " + operand)
        base, offset = self.value(found[1], "u64"), int(found[2] or 0)
        return f"({base} + (u64){offset}ll)" if offset else base

    def put(self, register, kind, value):
        """The statement that puts a value of a PTX type into a register."""
        if (self.kind(register)[0] == "f") == (kind[0] == "f"):
            return f"{self.register(register)} = {value};"
        return f"{{ {CTYPE[kind]} v_ = {value}; {self.assign(register, kind)} }}"

    def assign(self, register, kind):
        """The statement that puts v_, of a PTX type, into a register of any type of that size."""
        of = self.kind(register)
        if (of[0] == "f") != (kind[0] == "f"):
            return f"__builtin_memcpy(&{self.register(register)}, &v_, sizeof v_);"
        return f"{self.register(register)} = v_;"
