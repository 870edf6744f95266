"""Evener's handles in gdb: `source evener-gdb.py`, then `print loop` shows a loop, its schedule, units and counters behind its address. The printers
read the library's own structures, so the library has to be compiled with -g (`cmake --preset dev`)."""
import gdb

MOST = 32  # runs of owners, and tasks of a batch, that are shown


def owners(array, count):
    """Owners of tasks as runs, `24*0 24*1`, as evn_schedule_export() writes them."""
    if not array:
        return "none"
    runs = []
    for task in range(count):
        owner = int(array[task])
        if runs and runs[-1][1] == owner:
            runs[-1][0] += 1
        elif len(runs) == MOST:
            return " ".join(f"{n}*{unit}" for n, unit in runs) + " .."
        else:
            runs.append([1, owner])
    return " ".join(f"{n}*{unit}" for n, unit in runs)


class Handle:
    """A pointer to an open handle: a line, and below it what belongs to it."""

    def __init__(self, value):
        self.value = value
        self.of = value.dereference()

    def to_string(self):
        try:
            return f"{int(self.value):#x}: {self.line()}"
        except gdb.error:
            return f"{int(self.value):#x}: closed"

    def children(self):
        return iter(())


class Schedule(Handle):
    def line(self):
        s = self.of
        drawn = f", units draw {int(s['chunk'])} at a time" if s["chunk"] else ""
        return f"{s['text'].string()}, {int(s['problem']['tasks'])} tasks on {int(s['problem']['units'])} units, instance {int(s['instance'])}" + (
            ", settled" if s["settled"] else "") + drawn

    def children(self):
        yield "owners", owners(self.of["owner"], int(self.of["problem"]["tasks"]))


class Units(Handle):
    def line(self):
        return self.of["text"].string() + (", at work" if self.of["working"] else "")

    def children(self):
        for i in range(int(self.of["count"])):
            u = self.of["unit"][i]
            yield f"unit {i}", f"{str(u['family'])[len('UNIT_'):]}, {int(u['cores'])} cores, speed {float(u['speed']):g}"


class Loop(Handle):
    def line(self):
        return f"{int(self.of['problem']['tasks'])} tasks, {int(self.of['totals']['instances'])} instances, {int(self.of['totals']['migrations'])} migrations"

    def children(self):
        yield "schedule", self.of["schedule"]
        yield "units", self.of["units"]
        yield "owners", owners(self.of["owner"], int(self.of["problem"]["tasks"]))


class Batch(Handle):
    def line(self):
        b = self.of
        where = "cores" if int(b["device"]) < 0 else f"device {int(b['device'])}"
        return f"{int(b['count'])} tasks of unit {int(b['unit']['number'])} on {where}, {int(b['next'])} begun"

    def children(self):
        count = int(self.of["count"])
        yield "tasks", " ".join(str(int(self.of["task"][i])) for i in range(min(count, MOST))) + (" .." if count > MOST else "")


class Exchange(Handle):
    def line(self):
        x, plan = self.of, self.of["plan"]
        made = f"{int(plan['messages'])} messages, {int(plan['pairs'])} pairs of units" if plan["made"] else "no plan yet"
        return f"{int(x['faces']) - int(x['gone'])} faces of {int(x['tasks'])} tasks, {made}"


PRINTERS = {"evn_loop": Loop, "evn_schedule": Schedule, "evn_units": Units, "evn_batch": Batch, "evn_exchange": Exchange}


def lookup(value):
    """The printer of a pointer to a handle that is open, and whose structure the debugger knows; else None."""
    kind = value.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_PTR or not int(value):
        return None
    target = kind.target().strip_typedefs()
    printer = PRINTERS.get(target.tag) if target.code == gdb.TYPE_CODE_STRUCT else None
    try:
        return printer and target.fields() and printer(value)
    except gdb.error:
        return None


gdb.pretty_printers.append(lookup)
