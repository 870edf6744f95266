"""Mutations: bytes that were a file, or a word, and are so no more. Each takes a generator of random numbers and bytes."""
import json
import re
import struct

NUMBERS = [b"0", b"-0", b"-1", b"1", b"2", b"3", b"127", b"255", b"256", b"32767", b"65535", b"65536", b"2147483647",
           b"2147483648", b"-2147483648", b"4294967295", b"4294967296", b"9223372036854775807", b"9223372036854775808",
           b"-9223372036854775808", b"99999999999999999999999999", b"1e308", b"-1e308", b"1e309", b"1e-308", b"5e-324",
           b"1e101", b"1e30", b"1e-30", b"nan", b"-nan", b"inf", b"-inf", b"NaN", b"Infinity", b"0x1p1023", b"1,5", b"0.1",
           b"1e", b"1.", b".5", b"1_0", b"+7", b"00", b"1" * 400]
WORDS = [b"", b"\0", b"\xff", b"\xc3(", b"\x1b[31m", b"\x7f", b"\r", b"%s%n", b"-", b"\xe2\x80\xae", b"\"", b"\\", b"null",
         b"[]", b"{}", b"true", b"A" * 3000]
INTEGERS = [0, 1, -1, 2, 3, 4, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, -0x80000000, 0x55555555, 1 << 20, 1000000]
DOUBLES = [0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, 1e-308, 1e30, 1e-30]


def place(random, data):
    return random.randrange(len(data) + 1)


def block(random, data):
    """A part of the data, short ones more often than long ones."""
    if not data:
        return 0, 0
    start = random.randrange(len(data))
    return start, min(len(data), start + 1 + int(len(data) ** random.random()))


def flip_bits(random, data):
    data = bytearray(data)
    for _ in range(1 + int(8 ** random.random()) if data else 0):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def set_bytes(random, data):
    start, end = block(random, data)
    return data[:start] + bytes([random.choice((0, 255, random.randrange(256)))]) * (end - start) + data[end:]


def truncate(random, data):
    return data[:place(random, data)]


def delete(random, data):
    start, end = block(random, data)
    return data[:start] + data[end:]


def duplicate(random, data):
    start, end = block(random, data)
    return data[:end] + data[start:end] * random.choice((1, 1, 2, 10, 100)) + data[end:]


def insert(random, data):
    at = place(random, data)
    return data[:at] + random.choice(WORDS + NUMBERS) + data[at:]


def text_numbers(random, data):
    """Numbers of a text by extremes, neighbours or each other: one of them, or several."""
    found = list(re.finditer(rb"[-+]?\d[\d.]*([eE][-+]?\d+)?", data))
    for one in sorted(random.sample(found, min(len(found), 1 + int(4 ** random.random()))), key=lambda m: -m.start()):
        other, how = one.group(), random.random()
        if how < 0.4:
            other = random.choice(NUMBERS)
        elif how < 0.7 or not other.lstrip(b"+-").isdigit() or len(other) > 300:
            other = random.choice(found).group()
        else:
            old = int(other)
            other = str(random.choice((old + 1, old - 1, 2 * old, -old, 10 * old, old + 100))).encode()
        data = data[:one.start()] + other + data[one.end():]
    return data


def binary_numbers(random, data):
    """A field of 2, 4 or 8 bytes, at its own alignment, by an extreme or by a neighbour of what it was."""
    kind = random.choice(("h", "i", "i", "q", "f", "d"))
    size = struct.calcsize(kind)
    if len(data) < size:
        return data
    at = random.randrange(0, len(data) - size + 1, random.choice((size, 4 if size > 4 else size, 1)))
    if kind in "fd":
        value = random.choice(DOUBLES)
        field = struct.pack("<d", value) if kind == "d" else struct.pack("<f", max(-3e38, min(3e38, value)))
    else:
        old = struct.unpack_from("<" + kind, data, at)[0]
        value = random.choice((*INTEGERS, old + 1, old - 1, old * 2, old + 16, random.getrandbits(8 * size)))
        field = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return data[:at] + field + data[at + size:]


def lines(random, data):
    """Lines permuted, or words of one line."""
    parts = data.split(b"\n")
    if len(parts) > 2 and random.random() < 0.7:
        start = random.randrange(len(parts))
        end = min(len(parts), start + 2 + random.randrange(8))
        some = parts[start:end]
        random.shuffle(some)
        parts[start:end] = some
    else:
        at = random.randrange(len(parts))
        words = parts[at].split(b" ")
        random.shuffle(words)
        parts[at] = b" ".join(words)
    return b"\n".join(parts)


def nest(random, data):
    """A value of a JSON text, many levels down; or the whole."""
    depth = random.choice((1, 2, 50, 900, 1100, 100000))
    first, last = random.choice(((b"[", b"]"), (b'{"a":', b"}")))
    found = [m for m in re.finditer(rb'-?\d+(\.\d+)?|"[^"]*"(?!\s*:)|null|true|false', data)]
    start, end = (0, len(data)) if not found or random.random() < 0.2 else random.choice(found).span()
    return data[:start] + first * depth + data[start:end] + last * random.choice((depth, depth, 0)) + data[end:]


def json_tree(random, data):
    """A whole JSON text with another meaning: values exchanged, dropped, doubled, of another kind."""
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return data

    def somewhere(value):
        """(what holds it, its key) of any value; all keys of an object alike, however much is under them."""
        found = None
        while isinstance(value, (dict, list)) and value and (not found or random.random() < 0.8):
            key = random.choice(list(value)) if isinstance(value, dict) else random.randrange(len(value))
            found, value = (value, key), value[key]
        return found

    for _ in range(1 + int(3 ** random.random() - 0.5)):
        places = somewhere(root), somewhere(root)
        if not all(places):
            break
        (holder, key), (other, there) = places
        how = random.randrange(5)
        if how == 0:
            holder[key] = random.choice((None, True, "", [], {}, 0, -1, 1e308, 1e-308, 2**31, 2**53, 0.5, "x" * 500, "\x1b[2J\x07",
                                         "\u202e<b>", [[]], {"": 0}, ["\ud800"]))
        elif how == 1:
            del holder[key]
        elif how == 2 and isinstance(holder, list):
            holder.extend([holder[key]] * random.choice((1, 3, 200)))
        elif how == 3 and isinstance(holder, dict):
            holder[random.choice(("", "a", "\0", key + " "))] = holder[key]
        else:
            try:  # a copy: what holds itself has no text
                holder[key] = json.loads(json.dumps(other[there]))
            except RecursionError:
                pass
    return json.dumps(root).encode()


ANY = (flip_bits, set_bytes, truncate, delete, duplicate, insert)
TEXT = ANY + 5 * (text_numbers,) + (lines,)
BINARY = ANY + 6 * (binary_numbers,)
JSON = TEXT + (nest,) + 12 * (json_tree,)


def splice(random, one, other):
    """The start of one and the end of another."""
    return one[:place(random, one)] + other[place(random, other):]


def mutate(random, seeds, mutations):
    data = random.choice(seeds)
    if len(seeds) > 1 and random.random() < 0.1:
        data = splice(random, data, random.choice(seeds))
    for _ in range(1 + int(3 ** random.random() - 0.7)):
        data = random.choice(mutations)(random, data)[:1 << 20]
    return data
