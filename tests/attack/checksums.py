"""The checksums of evener's own binary files: a damaged file whose sum is right gets behind the check of the sum."""
import struct

WORD = (1 << 64) - 1


def mend_checkpoint(random, data):
    """apps/tdbem/files/checkpoint.c: a magic of 8, two sizes, words that identify the run, the state, the sum."""
    if len(data) < 32:
        return data
    first, second = struct.unpack_from("<QQ", data, 8)
    whole = len(data) - 32
    if first > whole:
        first = min(first, whole)
    second = whole - first
    data = data[:8] + struct.pack("<QQ", first, second) + data[24:]
    total = 1469598103934665603

    def add(total, part):
        end = len(part) // 8 * 8
        for (word,) in struct.iter_unpack("<Q", part[:end]):
            total = (total ^ word) * 1099511628211 & WORD
            total ^= total >> 32
        for byte in part[end:]:
            total = (total ^ byte) * 1099511628211 & WORD
        return total

    for part in (data[8:24], data[24:24 + first], data[24 + first:-8]):
        total = add(total, part)
    return data[:-8] + struct.pack("<Q", total)


HEADER = struct.Struct("<8sII10idd4Q")  # apps/tdbem/matrices/slices_file.c


def mend_matrices(random, data):
    """A header, first and count of all row-vectors, their values, the sum; often as many values as the counts want."""
    if len(data) < HEADER.size + 8:
        return data
    header = list(HEADER.unpack_from(data))
    columns, rows = header[3], header[4]
    entries = max(0, columns) * max(0, rows)
    found = data[HEADER.size:-8]
    first, count = found[:2 * entries], found[2 * entries:3 * entries]
    rest = found[3 * entries:]
    if random.random() < 0.7:
        header[-2] = min(sum(count), 1 << 17)
        rest = (rest + bytes(8 * header[-2]))[:8 * header[-2]]
    parts = [HEADER.pack(*header), first, count]
    data = b"".join(parts) + rest + data[-8:]
    for column in range(max(0, min(columns, 100000))):
        size = 8 * sum(count[column * rows:(column + 1) * rows])
        parts.append(rest[:size])
        rest = rest[size:]
    parts.append(rest)
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
    return data[:-8] + struct.pack("<Q", total ^ total >> 31)
