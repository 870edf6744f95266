"""Instructions that compute in one lane, as C statements about lane l."""

from module import CTYPE, NotUnderstood, SIZE, split

INFIX = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-"}
FLOAT = {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}", "fma": "__builtin_fma{f}({0}, {1}, {2})",
         "sqrt": "__builtin_sqrt{f}({0})", "rcp": "({c})1 / {0}", "neg": "-{0}", "abs": "__builtin_fabs{f}({0})",
         "min": "__builtin_fmin{f}({0}, {1})", "max": "__builtin_fmax{f}({0}, {1})"}
HALF = {"b64": "u32", "b32": "u16"}
WHOLE = {"rzi": "trunc", "rmi": "floor", "rpi": "ceil", "rni": "rint"}


def statement(i, o):
    """o: the kernel's operands"""
    if i.name == "cvta":
        return cvta(i, o)
    if i.name == "mov":
        return mov(i, o)
    if i.name == "cvt":
        return cvt(i, o)
    if i.name == "selp":
        kind = o.kind(i.operands[0]) if o.kind(i.operands[0])[0] == "f" else i.type
        a, b = (o.value(x, kind) for x in i.operands[1:3])
        return o.put(i.operands[0], kind, f"({o.predicate(i.operands[3])}) >> l & 1 ? {a} : {b}")
    if i.type[0] == "f":
        return floating(i, o)
    return integer(i, o)


def cvta(i, o):
    """Windows of generic addresses: global addresses are the same in both."""
    window = next((f"{x.upper()}_WINDOW" for x in ("shared", "local") if x in i.parts), "0")
    if "const" in i.parts or "param" in i.parts:
        raise NotUnderstood(i.text)
    return f"{o.register(i.operands[0])} = {o.value(i.operands[1], 'u64')} {'-' if 'to' in i.parts else '+'} {window};"


def mov(i, o):
    to, source = i.operands
    if to.startswith("{"):
        half = HALF[i.type]
        parts = [(j, x) for j, x in enumerate(split(to[1:-1])) if x != "_"]
        return " ".join(f"{{ {half} v_ = ({half})({o.bits(source, i.type)} >> {8 * SIZE[half] * j}); {o.assign(x, half)} }}" for j, x in parts)
    if source.startswith("{"):
        half = HALF[i.type]
        parts = " | ".join(f"(u64){o.bits(x, half)} << {8 * SIZE[half] * j}" for j, x in enumerate(split(source[1:-1])))
        whole = "u" + i.type[1:]
        return f"{{ {whole} v_ = ({whole})({parts}); {o.assign(to, whole)} }}"
    kind = "u" + i.type[1:]
    return f"{{ {CTYPE[kind]} v_ = {o.bits(source, i.type)}; {o.assign(to, kind)} }}"


def cvt(i, o):
    to, source = i.parts[-2:]
    rounding = i.parts[1] if len(i.parts) > 3 else ""
    if len(i.parts) > 4:
        raise NotUnderstood(i.text)
    value = o.value(i.operands[1], source)
    if to[0] == "f":
        if rounding in WHOLE and to == source:
            value = f"{WHOLE[rounding]}({value})"
        elif rounding not in ("", "rn"):
            raise NotUnderstood(i.text)
        return o.put(i.operands[0], to, f"({CTYPE[to]}){value}")
    if source[0] == "f":
        if rounding not in WHOLE:
            raise NotUnderstood(i.text)
        return f"{o.register(i.operands[0])} = (u{8 * SIZE[to]})saturated_{to}({WHOLE[rounding]}((double){value}));"
    return f"{o.register(i.operands[0])} = ({CTYPE[to]}){value};"


def floating(i, o):
    if i.name not in FLOAT or [x for x in i.parts[1:-1] if x != "rn"]:
        raise NotUnderstood(i.text)
    values = [o.value(x, i.type) for x in i.operands[1:]]
    return o.put(i.operands[0], i.type, FLOAT[i.name].format(*values, f="f" if i.type == "f32" else "", c=CTYPE[i.type]))


def product(i, o):
    """mul and mad: the low half, the high one, or both"""
    bits, sign = 8 * SIZE[i.type], i.type[0]
    twice, tail = f"{sign}{2 * bits}", i.operands[3:]
    if i.parts[1] == "lo":
        value = " * ".join(o.value(x, f"u{bits}") for x in i.operands[1:3])
        return value + "".join(" + " + o.value(x, f"u{bits}") for x in tail)
    value = " * ".join(f"({twice}){o.value(x, i.type)}" for x in i.operands[1:3])
    if i.parts[1] == "wide":
        return value + "".join(" + " + o.value(x, twice) for x in tail)
    return f"(u{bits})(({value}) >> {bits})" + "".join(" + " + o.value(x, f"u{bits}") for x in tail)


def shift(i, o):
    bits = 8 * SIZE[i.type]
    by = f"u32 n_ = {o.value(i.operands[2], 'u32')};"
    if i.type[0] == "s":
        value = f"{o.value(i.operands[1], i.type)} >> (n_ > {bits - 1} ? {bits - 1} : n_)"
    else:
        value = f"n_ > {bits - 1} ? 0 : {o.value(i.operands[1], f'u{bits}')} {'<<' if i.name == 'shl' else '>>'} n_"
    return f"{{ {by} {o.register(i.operands[0])} = {value}; }}"


def integer(i, o):
    bits = 8 * SIZE[i.type]
    n = [None] + [x for x in i.operands[1:]]

    def unsigned(k):
        return o.value(n[k], f"u{bits}")

    def signed(k):
        return o.value(n[k], i.type)

    def word(k):
        return o.value(n[k], "u32")

    if i.name in ("shl", "shr"):
        return shift(i, o)
    if i.name in INFIX and len(i.parts) == 2:
        value = f"{unsigned(1)} {INFIX[i.name]} {unsigned(2)}"
    elif i.name in ("mul", "mad") and i.parts[1] in ("lo", "hi", "wide") and len(i.parts) == 3:
        value = product(i, o)
    elif i.name in ("div", "rem"):
        value = f"{i.name}_{i.type}({signed(1)}, {signed(2)})"
    elif i.name == "not":
        value = "~" + unsigned(1)
    elif i.name == "neg":
        value = "0 - " + unsigned(1)
    elif i.name == "abs":
        value = f"{signed(1)} < 0 ? 0 - {unsigned(1)} : {unsigned(1)}"
    elif i.name in ("min", "max"):
        value = f"{signed(1)} {'<' if i.name == 'min' else '>'} {signed(2)} ? {signed(1)} : {signed(2)}"
    elif i.name == "bfi":
        value = f"bfi_{bits}({unsigned(1)}, {unsigned(2)}, {word(3)}, {word(4)})"
    elif i.name == "bfe":
        value = f"bfe{'_signed' * (i.type[0] == 's')}_{bits}({unsigned(1)}, {word(2)}, {word(3)})"
    elif i.name == "prmt" and i.parts[1:] == ["b32"]:
        value = f"prmt({unsigned(1)}, {unsigned(2)}, {word(3)})"
    elif i.name == "shf":
        value = f"shf({int(i.parts[1] == 'l')}, {int(i.parts[2] == 'wrap')}, {word(1)}, {word(2)}, {word(3)})"
    elif i.name == "popc":
        value = f"__builtin_popcountll({unsigned(1)})"
    elif i.name == "clz":
        value = f"({unsigned(1)} ? (u32)__builtin_clzll({unsigned(1)}) - {64 - bits} : {bits})"
    elif i.name == "dp2a" and i.parts[2:] == ["u32", "u32"]:
        k = 0 if i.parts[1] == "lo" else 16
        value = f"{unsigned(3)} + ({unsigned(1)} & 0xffff) * ({unsigned(2)} >> {k} & 255) + ({unsigned(1)} >> 16) * ({unsigned(2)} >> {k + 8} & 255)"
    else:
        raise NotUnderstood(i.text)
    return f"{o.register(i.operands[0])} = {value};"
