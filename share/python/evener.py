"""Records of Evener for notebooks: evener.load("run.json") of EVENER_RECORD, evener run --json or evener plan --json.

    import evener
    r = evener.load("run.json")
    r.units                 a row a unit: kind, tasks, weight, compute_s, exchange_s, idle_s, ..
    r.tasks                 a row a task: owner, task_s, weight, task_bytes, loop
    r.links                 a row for two tasks that exchange: task, other, bytes
    r.bursts                a row for what a unit did, of the last instances: unit, kind, begin, end, task, count, step
    r.iterations            of a plan, a row an iteration
    r["schedule"], r.keys() the record itself

Tables are frames of pandas where it is installed, else lists of dictionaries. Times are in seconds, sizes in bytes (docs/report.md)."""
import json
import os

try:
    import pandas
except ImportError:
    pandas = None


def _table(rows):
    return rows if pandas is None else pandas.DataFrame(rows)


class Record(dict):
    """A record, with tables of what it has; those that it has not are empty."""

    @property
    def units(self):
        """Text where the record is a plan: then its units by speed."""
        units = self.get("units", [])
        if isinstance(units, str):
            return _table([{"id": u, "speed": s} for u, s in enumerate(self.get("speed", []))])
        return _table([{k: v for k, v in u.items() if k != "cores"} | {"cores": len(u.get("cores", []))} for u in units])

    @property
    def tasks(self):
        columns = {key: self[key] for key in ("owner", "task_s", "weight", "task_bytes") if isinstance(self.get(key), list)}
        if "iterations" in self and self["iterations"]:
            columns["owner"] = self["iterations"][-1]["owner"]
        rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
        for loop in self.get("loops", []):
            if len(loop["units"]) != len(self["units"]):  # before a unit was lost: its tasks are not in the lists
                continue
            for row in rows[loop["first"]:loop["first"] + loop["tasks"]]:
                row["loop"] = loop.get("name", loop["first"])
        return _table(rows)

    @property
    def links(self):
        return _table([dict(zip(("task", "other", "bytes"), link)) for link in self.get("links") or []])

    @property
    def bursts(self):
        return _table(self.get("bursts", []))

    @property
    def iterations(self):
        return _table([{k: v for k, v in i.items() if not isinstance(v, list)} for i in self.get("iterations", [])])


def load(record):
    """The record in a file, of a path or an open one. ValueError: it is none."""
    if isinstance(record, (str, os.PathLike)):
        with open(record, encoding="utf-8") as file:
            return load(file)
    name = getattr(record, "name", "record")
    try:
        found = json.load(record)
    except json.JSONDecodeError as e:
        raise ValueError(f"{name}: no JSON: {e}") from None
    if not isinstance(found, dict) or "evener" not in found:
        raise ValueError(f'{name}: there is no "evener" in it; expected the record of EVENER_RECORD or --json')
    return Record(found)
