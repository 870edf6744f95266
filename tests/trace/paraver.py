"""A reader of Paraver's .prv, .pcf and .row that shares nothing with the writer, from the format's description (Barcelona Supercomputing
Center, "Paraver: tracefile description"): it refuses what the description does not have. read(FILE.prv) gives a Trace."""
import re
import types


class Wrong(Exception):
    """The files are not as the description has them."""


def need(right, what):
    if not right:
        raise Wrong(what)


def numbers(text):
    need(re.fullmatch(r"\d+(:\d+)*", text), f"not numbers: {text!r}")
    return [int(n) for n in text.split(":")]


def read_header(line):
    found = re.fullmatch(r"#Paraver \((\d\d/\d\d/\d\d) at (\d\d:\d\d)\):(\d+)_ns:(\d+)\(([\d,]+)\):(\d+):(.*)", line)
    need(found, f"header: {line!r}")
    end, nodes, cpus, applications = int(found[3]), int(found[4]), [int(n) for n in found[5].split(",")], int(found[6])
    need(nodes == len(cpus) and applications == 1, "numbers of nodes and applications")
    tasks = re.fullmatch(r"(\d+)\(([\d:,]+)\)", found[7])
    need(tasks, f"application: {found[7]!r}")
    threads = [tuple(int(n) for n in task.split(":")) for task in tasks[2].split(",")]
    need(int(tasks[1]) == len(threads) and all(len(t) == 2 and 1 <= t[1] <= nodes for t in threads), "tasks of the application")
    return types.SimpleNamespace(end=end, cpus=cpus, threads=[t[0] for t in threads], node=[t[1] for t in threads])


def read_names(name):
    states, types_, values = {}, {}, {}
    section = ""
    with open(name) as file:
        for line in file.read().split("\n"):
            if re.fullmatch(r"[A-Z_]+", line):
                section = line
            elif section == "STATES" and line:
                found = re.fullmatch(r"(\d+)\s+(\S.*)", line)
                need(found, f"state: {line!r}")
                states[int(found[1])] = found[2]
            elif section == "STATES_COLOR" and line:
                need(re.fullmatch(r"\d+\s+\{\d+,\d+,\d+\}", line), f"colour: {line!r}")
            elif section == "EVENT_TYPE" and line:
                found = re.fullmatch(r"\d+\s+(\d+)\s+(\S.*)", line)
                need(found, f"event type: {line!r}")
                last = int(found[1])
                types_[last] = found[2]
            elif section == "VALUES" and line:
                found = re.fullmatch(r"(\d+)\s+(\S.*)", line)
                need(found, f"value: {line!r}")
                values.setdefault(last, {})[int(found[1])] = found[2]
    return states, types_, values


def read_rows(name):
    levels = {}
    with open(name) as file:
        lines = file.read().split("\n")
    at = 0
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        found = re.fullmatch(r"LEVEL (CPU|NODE|TASK|THREAD) SIZE (\d+)", lines[at])
        need(found, f"row: {lines[at]!r}")
        levels[found[1]] = lines[at + 1:at + 1 + int(found[2])]
        need(all(levels[found[1]]) and len(levels[found[1]]) == int(found[2]), f"names of level {found[1]}")
        at += 1 + int(found[2])
    return levels


def read(name):
    base = name[:-len(".prv")]
    with open(name) as file:
        lines = file.read().split("\n")
    need(lines.pop() == "", "the last line has no end")
    t = read_header(lines[0])
    t.states, t.events, t.messages = [], [], []
    t.state_names, t.event_names, t.values = read_names(base + ".pcf")
    t.levels = read_rows(base + ".row")
    need(len(t.levels["THREAD"]) == sum(t.threads) and len(t.levels["TASK"]) == len(t.threads), "rows of threads and tasks")
    need(len(t.levels["CPU"]) == sum(t.cpus) and len(t.levels["NODE"]) == len(t.cpus), "rows of processors and nodes")

    def place(cpu, application, task, thread):
        need(1 <= cpu <= sum(t.cpus) and application == 1 and 1 <= task <= len(t.threads) and 1 <= thread <= t.threads[task - 1],
             f"place {cpu}:{application}:{task}:{thread}")
        first = sum(t.cpus[:t.node[task - 1] - 1])
        need(first < cpu <= first + t.cpus[t.node[task - 1] - 1], f"processor {cpu} is not on the node of task {task}")
        return task, thread

    last = 0
    for line in lines[1:]:
        n = numbers(line)
        time = n[5]
        need(time >= last, f"{line}: not in the order of time")
        last = time
        where = place(*n[1:5])
        if n[0] == 1:
            need(len(n) == 8 and n[5] <= n[6] <= t.end and n[7] in t.state_names, f"state: {line}")
            t.states.append((where, n[5], n[6], n[7]))
        elif n[0] == 2:
            need(len(n) >= 8 and len(n) % 2 == 0 and time <= t.end and all(k in t.event_names for k in n[6::2]), f"event: {line}")
            t.events.append((where, time, dict(zip(n[6::2], n[7::2]))))
        elif n[0] == 3:
            need(len(n) == 15, f"communication: {line}")
            to = place(*n[7:11])
            need(n[5] <= n[6] and n[12] <= t.end and n[5] <= n[12], f"communication: {line}")
            t.messages.append((where, to, n[5], n[12], n[13], n[14]))
        else:
            raise Wrong(f"record: {line}")
    return t
