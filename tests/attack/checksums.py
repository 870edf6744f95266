"""The checksums of evener's own binary files: a damaged file whose sum is right gets behind the check of the sum."""
import struct

WORD = (1 << 64) - 1


def folded(data):
    """Of words, each mixed in and folded."""
    total = 1469598103934665603
    for (word,) in struct.iter_unpack("<Q", data[:len(data) // 8 * 8]):
        total = (total ^ word) * 1099511628211 & WORD
        total ^= total >> 32
    return total


def mend_state(random, data):
    """suite/apps/common/checkpoint/state_file.c: eight numbers of 8 bytes, two texts, three numbers of each part, zeros, the header's sum; the parts.
    Lengths are right again, mostly, and all sums."""
    if len(data) < 4096:
        return data
    data = bytearray(data[:len(data) // 4096 * 4096])
    if random.random() < 0.9:
        struct.pack_into("<2Q", data, 8, 4096, len(data))
    header, _, identity, schedule, _, parts = struct.unpack_from("<6Q", data, 8)
    table = 64 + (identity + 7) // 8 * 8 + (schedule + 7) // 8 * 8
    if not 4096 <= header <= len(data):
        return bytes(data)
    for part in range(min(parts, 1 << 10)):
        if table + 24 * (part + 1) > header:
            break
        begin, size = struct.unpack_from("<2Q", data, table + 24 * part)
        end = begin + (size + 4095) // 4096 * 4096
        struct.pack_into("<Q", data, table + 24 * part + 16, folded(bytes(data[begin:end])))
    struct.pack_into("<Q", data, header - 8, folded(bytes(data[:header - 8])))
    return bytes(data)


HEADER = struct.Struct("<8sII6idd2Q")  # suite/apps/tdbem/matrices/slices_file.c


def lanes(parts):
    """The sum of parts one after another, each with words that are counted from its own beginning."""
    lane, length = [1, 2, 3, 4], 0
    for part in parts:
        words = len(part) // 8
        for number, (word,) in enumerate(struct.iter_unpack("<Q", part[:8 * words])):
            value = (lane[number & 3] ^ word) * 0x9E3779B97F4A7C15 & WORD
            lane[number & 3] = value ^ value >> 32
        for number in range(8 * words, len(part)):
            value = (lane[number & 3] ^ part[number] + 256) * 0x9E3779B97F4A7C15 & WORD
            lane[number & 3] = value ^ value >> 32
        length += len(part)
    total = length
    for value in lane:
        total = (total ^ value) * 0xFF51AFD7ED558CCD & WORD
    return struct.pack("<Q", total ^ total >> 31)


def mend_matrices(random, data):
    """A header; of each column first (2 bytes) and count (1 byte) of all rows; values; a sum of each column's, and of all else.
    Often as many values as the counts want."""
    if len(data) < HEADER.size + 8:
        return data
    columns, rows = (max(0, min(number, 1 << 14)) for number in HEADER.unpack_from(data)[3:5])
    at, parts, sizes = HEADER.size, [data[:HEADER.size]], []
    for _ in range(columns):
        first, count = data[at:at + 2 * rows], data[at + 2 * rows:at + 3 * rows]
        at += 3 * rows
        parts += [first, count]
        sizes.append(8 * sum(count))
        if at >= len(data):
            break
    rest = data[at:-8 * (columns + 1)]
    if random.random() < 0.7:
        size = min(sum(sizes), 1 << 20)
        rest = (rest + bytes(size))[:size]
    values, sums = rest, b""
    for size in sizes:
        sums += lanes([values[:size]])
        values = values[size:]
    return b"".join(parts) + rest + sums + lanes([*parts, sums])
