/* Records as pictures need them, and groups of those that can be compared. */

/* Phases have names; those of TD-BEM, "stages", end in _s. */
const partsOf = (o) => Object.entries(o.stages || o.phases || {})
    .map(([name, s]) => [name.replace(/(.)_s$/, "$1"), s]);

const KINDS = [["compute", "computing"], ["exchange", "exchange"], ["copy", "copies"],
               ["migration", "moving tasks"], ["task_copy", "copying whole tasks"]];
const isQueue = (burst) => burst.kind === "copy"; /* drawn below its unit, on a line of its own */
const WORK = [["k0", "computing"], ["k1", "exchange"], ["wait", "waiting"]];
const workOf = (u) => [u.compute_s, u.exchange_s, u.idle_s];

/* Early records do not say of all units how many threads they have; but the speed of one of a
 * session is that, where all cores are of one kind. */
function sizeOf(o, u) {
    if (u.kind === "gpu") return Array.isArray(u.device) ? u.device.length : 1;
    const cores = (u.cores || []).length, kinds = ((o.machine || {}).kinds || []).length;
    return u.threads != null ? u.threads : cores || (o.session && kinds === 1 && u.speed) || "?";
}

/* "4:CPU:2,1:GPU:1"; over ranks "2:CPU:1 | 2:CPU:1". */
function unitsText(o) {
    const runs = [];
    for (const u of o.units) {
        const type = `${u.kind.toUpperCase()}:${sizeOf(o, u)}`, last = runs[runs.length - 1];
        if (last && last.type === type && last.rank === u.rank) last.n++;
        else runs.push({type, rank: u.rank, n: 1});
    }
    const text = runs.map((run, i) => (!i ? "" : run.rank !== runs[i - 1].rank ? " | " : ",")
        + `${run.n}:${run.type}`).join("");
    return text.length > 95 ? text.slice(0, 92).replace(/[^,|]*$/, "..") : text;
}

/* Loops by their names, mostly a directive's file and line, the longest first. */
function sitesOf(o, units) {
    const sites = new Map();
    for (const loop of o.loops) {
        if (typeof loop.name !== "string") continue;
        if (!sites.has(loop.name))
            sites.set(loop.name, {name: loop.name, loops: 0, instances: 0, seconds: 0,
                                  migrations: 0, moved: 0,
                                  work: Array.from({length: units}, () => [0, 0, 0])});
        const site = sites.get(loop.name);
        site.loops++;
        [site.schedule, site.tasks] = [loop.schedule, loop.tasks]; /* of the last one */
        site.instances += loop.steps;
        site.seconds += loop.seconds;
        site.migrations += loop.transfers.migrations;
        site.moved += loop.transfers.moved_bytes;
        if (loop.units.length === units) /* not before a unit was lost */
            loop.units.forEach((u, i) => workOf(u).forEach((s, k) => { site.work[i][k] += s; }));
    }
    const list = [...sites.values()].sort((a, b) => b.seconds - a.seconds);
    for (const site of list) site.imbalance = imbalanceOf(site.work.map((work) => work[0]));
    return list;
}

/* The longest over the shortest of the units; infinite where one has done nothing. */
function imbalanceOf(times) {
    return times.every((s) => !s) ? 1 : Math.max(...times) / Math.min(...times);
}

/* Changes of the tasks of a loop. After the loss of a device instances are counted anew, and go on
 * here from those before. */
function changesOf(name, of, instances) {
    let before = 0, last = 0;
    const list = (of.changes || []).map((c) => {
        if (c.instance + before < last) before = last;
        last = c.instance + before;
        return {...c, instance: last};
    });
    return list.length ? [{name, list, instances: Math.max(instances, last)}] : [];
}

function predicted(r, o) {
    const last = r.iterations[r.iterations.length - 1] || {}, owner = last.owner || [];
    const times = [last.compute_s, last.communication_s, last.step_s].map(number);
    [r.compute, r.communication, r.seconds] = times.some(isNaN) ? [NaN, NaN, NaN] : times;
    Object.assign(r, {steps: 1, imbalance: number(last.imbalance), bytes: number(last.cut_bytes),
                      messages: number(last.messages), units: o.speed.length, unitsText: o.units,
                      migrations: sum(r.iterations, (i) => number(i.migrations))});
    if (!owner.length || (o.weight || []).length !== owner.length) return;
    r.owner = owner;
    r.unit = o.speed.map(() => ({tasks: 0, weight: 0}));
    owner.forEach((u, t) => { r.unit[u].tasks++; r.unit[u].weight += o.weight[t]; });
}

function measured(r, o) {
    Object.assign(r, {steps: o.steps, seconds: o.seconds, compute: o.periods.compute_s,
                      communication: o.periods.communication_s, imbalance: number(o.imbalance),
                      ...o.transfers, units: o.units.length, unitsText: unitsText(o), unit: o.units,
                      owner: o.owner, ranks: o.ranks || [], messageList: o.messages || []});
    r.sites = sitesOf(o, r.units);
    if (r.sites.length) r.steps = NaN; /* instances of these, and no steps */
    r.changes = [changesOf("", o, o.instances), ...o.loops.map((loop, i) =>
        changesOf(loop.name || `loop ${i + 1}`, loop, loop.steps))].flat();
}

function readRecord({file, record}) {
    const some = (list) => (list || []).map((entry) => entry || {}); /* null is no loop */
    const o = {...record, session: record.loops, loops: some(record.loops)};
    const r = {file, o, app: o.app, class: o.class, noun: o.noun || (o.zones ? "zone" : "task"),
               schedule: o.schedule, plan: typeof o.units === "string", sites: [], changes: [],
               ranks: [], messageList: [], parts: partsOf(o), iterations: some(o.iterations)};
    (r.plan ? predicted : measured)(r, o);
    r.zones = r.owner && o.zones;
    r.bursts = (r.owner && o.bursts) || [];
    r.triangles = number((o.mesh || {}).triangles);
    r.processor = (o.machine || {}).processor;
    r.timed = Number.isFinite(r.compute);
    r.step = r.steps > 0 ? r.seconds / r.steps : NaN;
    r.instances = sum(r.sites, (site) => site.instances);
    /* by which records are compared */
    [r.time, r.timeNoun] = r.sites.length ? [r.seconds, "in all"] : [r.step, "a step"];
    return r;
}

/* ---- groups ---- */

/* The schedule with its first options of the kind key=value; others belong to its name. */
function prefix(schedule, options) {
    const parts = schedule.match(/^[^:,]*|[:,][^:,]*/g) || [""];
    const from = parts.findIndex((part) => part.includes("=") && options-- === 0);
    return (from < 0 ? parts : parts.slice(0, from)).join("");
}
function labelOf(schedule, all) {
    for (let options = 0;; options++) {
        const label = prefix(schedule, options);
        if (label === schedule || !all.some((s) => s !== schedule && prefix(s, options) === label))
            return label.length > 56 ? label.slice(0, 56) + "…" : label;
    }
}

function titleOf(r) {
    return r.app.slice(0, 40).toUpperCase() + (typeof r.class === "string"
        ? `, class ${r.class}${r.plan ? ", planned" : ""}`
        : r.triangles >= 0 ? `, ${count(r.triangles)} triangles` : r.plan ? ", planned" : "");
}

/* Records of one application, class and mesh, fewest units first, then fastest first. */
function groupsOf(records) {
    const groups = new Map();
    for (const r of records) {
        const kind = JSON.stringify([r.plan, r.timed, r.triangles, r.app, r.class || null]);
        if (!groups.has(kind)) groups.set(kind, {title: titleOf(r), rows: []});
        groups.get(kind).rows.push(r);
    }
    const late = (r) => (isNaN(r.time) ? Infinity : r.time);
    for (const g of groups.values()) {
        g.rows.sort((a, b) => a.units - b.units || (a.unitsText < b.unitsText ? -1
            : a.unitsText > b.unitsText) || (late(a) < late(b) ? -1 : late(a) > late(b)));
        const schedules = g.rows.map((r) => r.schedule);
        for (const r of g.rows) {
            const alike = g.rows.filter(
                (x) => x.schedule === r.schedule && x.unitsText === r.unitsText);
            r.short = labelOf(r.schedule, schedules);
            r.label = r.short + (alike.length > 1 ? ` (${alike.indexOf(r) + 1})` : "");
            r.name = `${r.label} on ${r.unitsText}`;
        }
        [g.plan, g.timed, g.sites] = [g.rows[0].plan, g.rows[0].timed,
                                      g.rows.some((r) => r.sites.length)];
    }
    return [...groups.values()];
}
