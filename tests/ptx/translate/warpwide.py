"""Instructions that concern the lanes of a warp together: predicates, memory, atomic operations, shuffles and votes.

Each function gives a C statement; m is the mask of lanes that execute it."""

from module import CTYPE, NotUnderstood, SIZE, split
from scalar import INFIX

ORDERED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
UNORDERED = {"ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
SCOPES = {"cta", "gpu", "sys"}
ATOMIC = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"}
MEMORY = ("ld", "st", "ldu")


def is_warpwide(i):
    return i.type == "pred" or i.name in MEMORY + ("setp", "prefetch", "atom", "red", "shfl", "vote", "activemask", "membar", "fence", "redux") \
        or i.parts[:2] == ["bar", "warp"]


def statement(i, o, m, sites):
    if i.name == "setp":
        return setp(i, o, m)
    if i.name in MEMORY:
        return memory(i, o, m, sites)
    if i.name in ("atom", "red"):
        return atomic(i, o, m, sites)
    if i.name == "prefetch":
        return f"{{ u64 A[LANES]; LANE({m}) A[l] = {o.address(i.operands[0])}; ex->prefetch(w, {m}, A, &S[{sites.add(i, 1, 1, 1, '0')}]); }}"
    if i.name in ("membar", "fence"):
        return ";"
    if i.name == "shfl":
        return shuffle(i, o, m)
    if i.name == "activemask":
        return f"LANE({m}) {o.register(i.operands[0])} = {m};"
    if i.name in ("vote", "redux", "bar"):
        return together(i, o, m)
    return predicates(i, o, m)


def merged(o, m, to, value):
    """Predicates of lanes that do not execute it stay."""
    return f"{o.predicate(to)} = ({o.predicate(to)} & ~{m}) | (({value}) & {m});"


def predicates(i, o, m):
    to, *sources = i.operands
    if i.name == "mov":
        value = o.predicate(sources[0]) if sources[0].startswith(("%", "!")) else "~0u" if int(sources[0]) & 1 else "0u"
    elif i.name == "not":
        value = "~" + o.predicate(sources[0])
    elif i.name in INFIX:
        value = f"{o.predicate(sources[0])} {INFIX[i.name]} {o.predicate(sources[1])}"
    else:
        raise NotUnderstood(i.text)
    return merged(o, m, to, value)


def compared(i, o, how):
    x, y = (o.value(a, i.type) for a in i.operands[1:3])
    if i.type[0] != "f":
        return f"{x} {ORDERED[how]} {y}"
    special = {"ne": f"({x} < {y} || {x} > {y})", "neu": f"!({x} == {y})", "equ": f"!({x} < {y} || {x} > {y})",
               "nan": f"({x} != {x} || {y} != {y})", "num": f"!({x} != {x} || {y} != {y})"}
    if how in special:
        return special[how]
    return f"!({x} {UNORDERED[how]} {y})" if how in UNORDERED else f"({x} {ORDERED[how]} {y})"


def setp(i, o, m):
    if len(i.parts) > 4 or "|" in i.operands[0] or len(i.operands) != len(i.parts):
        raise NotUnderstood(i.text)
    value = "t_"
    if len(i.parts) == 4:
        value = f"t_ {INFIX[i.parts[2]]} ({o.predicate(i.operands[3])})"
    return f"{{ u32 t_ = 0; LANE({m}) t_ |= (u32)({compared(i, o, i.parts[1])}) << l; {merged(o, m, i.operands[0], value)} }}"


class Sites:
    """The kernel's instructions that access memory, for checks and counters"""

    def __init__(self):
        self.all = []

    def add(self, i, size, count, register_bytes, flags):
        self.all.append((i.line, size, count, register_bytes, flags, i.text))
        return len(self.all) - 1


def memory(i, o, m, sites):
    count = 4 if "v4" in i.parts else 2 if "v2" in i.parts else 1
    is_load = i.name != "st"
    registers, where = i.operands if is_load else i.operands[::-1]
    registers = split(registers[1:-1]) if registers.startswith("{") else [registers]
    space = next((x for x in i.parts[1:] if x in ("global", "shared", "local", "param", "const")), "generic")
    known = {i.name, space, "nc", "acquire", "release", "volatile", "v2", "v4", i.type, "relaxed", "weak"} | SCOPES
    if set(i.parts) - known or len(registers) != count:
        raise NotUnderstood(i.text)
    if space in ("param", "const", "local"):
        return private(i, o, m, space, is_load, where, registers)
    flags = ["IS_NC"] * ("nc" in i.parts) + ["IS_ACQUIRE"] * ("acquire" in i.parts) + ["IS_RELEASE"] * ("release" in i.parts) + \
        ["IS_VOLATILE"] * ("volatile" in i.parts or "relaxed" in i.parts) + ["IS_SIGNED"] * (i.type[0] == "s")
    literals, pointers, width = "", [], SIZE[i.type]
    for j, register in enumerate(registers):
        if register == "_":
            pointers.append("0")
        elif o.kind(register):
            pointers.append("(void *)" + o.array(register))
            width = SIZE[o.kind(register)]
        else:
            literals += f"{CTYPE[i.type]} c{j}[LANES]; for (int l = 0; l < LANES; l++) c{j}[l] = {o.value(register, i.type)}; "
            pointers.append(f"(void *)c{j}")
    site = sites.add(i, SIZE[i.type], count, width, " | ".join(flags) or "0")
    function = ("load" if is_load else "store") + {"global": "", "shared": "_shared", "generic": "_generic"}[space]
    return (f"{{ u64 A[LANES]; {literals}void *const p_[] = {{{', '.join(pointers)}}}; LANE({m}) A[l] = {o.address(where)}; "
            f"ex->{function}(w, {m}, A, &S[{site}], p_); }}")


def private(i, o, m, space, is_load, where, registers):
    """Memory that needs no check: parameters, constants, what an item has for itself"""
    base = {"param": "w->parameters + ", "const": "constants + ", "local": "w->local + (u64)l * (u64)w->local_bytes + "}[space]
    out = ""
    for j, register in enumerate(registers):
        place = f"{base}{o.address(where)} + {j * SIZE[i.type]}"
        if is_load and register != "_":
            out += f"LANE({m}) {{ {CTYPE[i.type]} v_; __builtin_memcpy(&v_, {place}, {SIZE[i.type]}); {o.assign(register, i.type)} }} "
        elif not is_load:
            out += f"LANE({m}) {{ u64 v_ = {o.bits(register, i.type)}; __builtin_memcpy({place}, &v_, {SIZE[i.type]}); }} "
    return out


def atomic(i, o, m, sites):
    space = next((x for x in i.parts[1:] if x in ("global", "shared")), "generic")
    how = next((x for x in i.parts[1:] if x in ATOMIC), None)
    rest = set(i.parts[1:]) - {space, how, i.type, "relaxed", "acquire", "release", "acq_rel"} - SCOPES
    kind = {"b": "U"}.get(i.type[0], i.type[0].upper()) + i.type[1:]
    if not how or rest or SIZE[i.type] < 4 or space == "generic":
        raise NotUnderstood(i.text)
    to, (where, a, *b) = (i.operands[0], i.operands[1:]) if i.name == "atom" else ("_", i.operands)
    flags = "IS_ATOMIC" + " | IS_ACQUIRE" * bool({"acquire", "acq_rel"} & set(i.parts)) + " | IS_RELEASE" * bool({"release", "acq_rel"} & set(i.parts))
    site = sites.add(i, SIZE[i.type], 1, SIZE[i.type], flags)
    unsigned = "u" + i.type[1:]
    out = f"{{ u64 A[LANES], a_[LANES], b_[LANES], t_[LANES]; LANE({m}) {{ A[l] = {o.address(where)}; a_[l] = {o.bits(a, i.type)}; "
    out += f"b_[l] = {o.bits(b[0], i.type) if b else '0'}; }} "
    out += f"ex->atomic(w, {m}, A, &S[{site}], {int(space == 'shared')}, ATOMIC_{how.upper()}, TYPE_{kind}, a_, b_, t_); "
    if to != "_":
        out += f"LANE({m}) {{ {unsigned} v_ = ({unsigned})t_[l]; {o.assign(to, unsigned)} }} "
    return out + "}"


def members(i, o, m, operand):
    return f"LANE({m}) k_[l] = {o.value(operand, 'u32')};"


def shuffle(i, o, m):
    if i.parts[1] != "sync" or i.type != "b32" or len(i.operands) != 5:
        raise NotUnderstood(i.text)
    to, found = (i.operands[0].split("|") + [None])[:2]
    a, b, c, mask = i.operands[1:]
    out = f"{{ u32 a_[LANES], b_[LANES], c_[LANES], k_[LANES], t_[LANES]; {members(i, o, m, mask)} "
    out += f"LANE({m}) {{ a_[l] = {o.bits(a, 'b32')}; b_[l] = {o.value(b, 'u32')}; c_[l] = {o.value(c, 'u32')}; }} "
    out += f"const u32 in_ = ex->shuffle(w, {m}, {i.line}, SHUFFLE_{i.parts[2].upper()}, a_, b_, c_, k_, t_); (void)in_; "
    if to != "_":
        out += f"LANE({m}) {{ u32 v_ = t_[l]; {o.assign(to, 'u32')} }} "
    if found:
        out += merged(o, m, found, "in_")
    return out + " }"


def together(i, o, m):
    """vote.sync, redux.sync, bar.warp.sync: lanes that a mask names"""
    if "sync" not in i.parts:
        raise NotUnderstood(i.text)
    out = f"{{ u32 k_[LANES]; {members(i, o, m, i.operands[-1])} ex->meet(w, {m}, {i.line}, \"{'.'.join(i.parts)}\", k_); "
    if i.name == "vote":
        yes = f"(({o.predicate(i.operands[1])}) & {m})"
        if i.parts[2] == "ballot":
            return out + f"LANE({m}) {o.register(i.operands[0])} = {yes}; }}"
        value = {"all": f"{yes} == ({m})", "any": f"{yes} != 0", "uni": f"({yes} == 0 || {yes} == ({m}))"}[i.parts[2]]
        return out + merged(o, m, i.operands[0], f"({value}) ? ~0u : 0u") + " }"
    if i.name == "redux":
        how = {"add": "+", "and": "&", "or": "|", "xor": "^"}.get(i.parts[2])
        if not how:
            raise NotUnderstood(i.text)
        return out + (f"u32 x_[LANES]; LANE({m}) x_[l] = {o.value(i.operands[1], 'u32')}; const u32 r_ = redux_u32({m}, '{how}', x_); "
                      f"LANE({m}) {o.register(i.operands[0])} = r_; }}")
    return out + "w->syncs++; }"
