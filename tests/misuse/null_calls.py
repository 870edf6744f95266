"""Writes the list of calls `null`: each public function that is about a handle with NULL in its place and zeros for all else, with the answer
that headers promise: a status, NULL, an empty text, no number, 0 or -1, and a message that says what was wanted. Closing NULL is harmless.
usage: null_calls.py INCLUDE OUT"""

import pathlib
import re
import sys

WANTED = {"batch": "a batch", "buffer": "buffer", "cluster": "a cluster", "device": "device", "distributed": "distributed tasks",
          "event": "event", "exchange": "an exchange", "kernel": "kernel", "loop": "a loop", "machine": "a machine", "place": "a place",
          "queue": "queue", "recovery": "a recovery", "schedule": "a schedule", "session": "a session",
          "shared": "the shared memory", "simulation": "a simulation", "trace": "a trace", "unit": "a unit", "units": "units"}
MINUS_ONE = set("""evn_batch_device evn_batch_next evn_batch_range evn_batch_origins evn_batch_space evn_cluster_rank evn_cluster_rank_of
    evn_exchange_needs evn_exchange_pairs
    evn_machine_core_number evn_machine_part_of evn_place_space evn_place_where evn_shared_element evn_shared_is_here evn_shared_owner
    evn_unit_core_number evn_unit_number""".split())
NO_NUMBER = {"evn_unit_taken"}
# NULL is right for them, or another argument is looked at first: they are in the lists
OTHERS = {"evn_abandon", "evn_close", "evn_close_loop", "evn_machine_memory_available",
          "evn_shared_bytes", "evn_shared_count", "evn_shared_memory", "evn_shared_pointer", "evn_shared_poll"}


def functions(text):
    """(result, name, parameters) of each declaration of a header."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    for found in re.finditer(r"^((?:const )?\w+(?: \w+)? \**)(evn_\w+)\(([^;{}]*?)\)[^;{}()]*(?:__attribute__[^;]*)?;", text, flags=re.M):
        yield found[1].strip(), found[2], [" ".join(p.split()) for p in re.split(r",(?![^(]*\))", found[3])]


def zero(parameter):
    of = re.fullmatch(r"(evn_\w+) \w+", parameter)
    return f"({of[1]}){{0}}" if of else "0"


def row(result, name, parameters):
    handle = re.fullmatch(r"(?:const )?evn_(\w+) \*\w+", parameters[0])
    if not handle or handle[1] not in WANTED or name in OTHERS:
        return None
    call = f"{name}({', '.join(['NULL'] + [zero(p) for p in parameters[1:]])})"
    says = f'"{WANTED[handle[1]]}"'
    if name == f"evn_{handle[1]}_close":
        return f"FINE({call})"
    if result == "void":
        return f"SAYS({says}, {call})"
    if result == "evn_status":
        return f"USAGE({says}, {call})"
    if result == "const char *":
        return f"EMPTY({says}, {call})"
    if name in NO_NUMBER:
        return f"NO_NUMBER({says}, {call})"
    if result.endswith("*"):
        return f"GIVES(NULL, {says}, {call})"
    if result.startswith("evn_"):
        return f"ZEROS({result}, {says}, {call})"
    return f"GIVES(({result}){-1 if name in MINUS_ONE else 0}, {says}, {call})"


headers = [h for h in sorted(pathlib.Path(sys.argv[1]).glob("evener/*.h")) if not h.name.startswith("cu") and h.name != "kernel.h"]
rows = [row(*f) for header in headers for f in functions(header.read_text(encoding="utf-8"))]
rows = [r for r in rows if r]
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write('#include "misuse/world.h"\n')
    out.writelines(f"#include <evener/{header.name}>\n" for header in headers)
    out.write('\nint calls_null(struct world *w, int row) {\n    (void)w;\n')
    out.writelines(f"    {r}\n" for r in rows)
    out.write("    CALLS_END\n}\n")
