/* The figures of a group of records, each from the records that have its data; [] or a sentence
 * without any. Papers: González and Morancho, "Multi-GPU Parallelization of the NAS Multi-Zone
 * Parallel Benchmarks" (2021); Bramas, Coulaud and Sylvand, "Time-domain BEM for the wave equation
 * on distributed-heterogeneous architectures" (2015). */

const UNITS_DRAWN = 64;
const headOf = (r) => `${plural(r.units, "unit")}, ${r.unitsText}`;
/* Bars of records under headings, where the units change. */
const underHeads = (rows) => rows.map((row, i) => ({label: row.r.label, ...row,
    head: i && rows[i - 1].r.unitsText === row.r.unitsText ? undefined : headOf(row.r)}));
const columns = (...parts) => tag("div", {class: "columns"}, parts);
const panel = (title, ...content) => tag("div", {}, tag("h4", {}, title), content);

/* Computing and communication by schedule and number of units: figure 11 of the 2021 paper. */
function periods(g) {
    if (g.sites || !g.timed) return [];
    const parts = [["k0", "computing"], ["k1", "communication"], ["rest", "the rest"]];
    const of = new Map(g.rows.map((r) => {
        const steps = r.steps > 0 ? r.steps : Infinity; /* no steps, no time */
        const [a, b, all] = [r.compute, r.communication, r.seconds].map((s) => s / steps);
        return [r, [a, b, all - a - b > 1e-6 * a ? all - a - b : 0]];
    }));
    const all = (r) => sum(of.get(r));
    const best = (r) => Math.min(
        ...g.rows.filter((x) => x.unitsText === r.unitsText).map(all));
    return figure("Time of a step: computing and communication", key(parts),
        bars("Time of a step by schedule and number of units", underHeads(g.rows.map((r) => (
            {r, values: of.get(r), note: `${seconds(all(r))} · ${ratio(all(r) / best(r))}`}))),
            parts),
        note("The factor is over the fastest on the same units. The rest is what lies in neither ",
             "period, as what a schedule takes to decide."),
        numbers(["schedule", "units", "computing, a step", "communication", "the rest", "all of it",
                 "communication's share"],
            g.rows.map((r) => [r.label, r.unitsText, ...of.get(r).map(seconds), seconds(all(r)),
                               share(of.get(r)[1], all(r))])));
}

/* Over the record with fewest units, a line a schedule: figure 12 of the 2021 paper. */
function speedups(g) {
    if (!g.timed) return [];
    const timed = g.rows.filter((r) => r.time > 0), few = g.rows[0].units;
    const base = timed.find((r) => r.units === few && !timed.some(
        (x) => x.units === few && x.time < r.time));
    const many = g.rows[g.rows.length - 1].units;
    const why = !base ? "none of the records has a time"
        : g.rows.some((r) => r.instances !== base.instances)
            ? "these records have other numbers of instances"
            : many === few ? "all records have the same number of units" : null;
    if (why)
        return leftOut(`No picture of speedups: ${why}. Add
            records of the same application and class with other units.`);
    const speedup = (r) => base.time / r.time, lines = new Map();
    for (const r of timed) { /* the fastest of each number of units */
        const mine = lines.get(r.schedule) || lines.set(r.schedule, new Map()).get(r.schedule);
        if (!mine.has(r.units) || r.time < mine.get(r.units).time) mine.set(r.units, r);
    }
    const log = many > 8 * few, low = Math.min(...timed.map(speedup));
    const series = [...lines.values()].map((mine, k) => ({
        label: [...mine.values()][0].short, colour: k,
        points: [...mine.values()].map((r) => [r.units, speedup(r),
            `${r.name}: ${ratio(speedup(r))}, ${seconds(r.time)} ${r.timeNoun}`])}));
    const caption = `Speedup over ${base.name}, ${seconds(base.time)} ${base.timeNoun}`;
    return figure(caption, plot(`${caption}. One line a schedule. ${SEE}`,
        {label: "units", from: few, to: many, log, ticks: [...new Set(timed.map((r) => r.units))]},
        {label: "speedup", from: log ? 2 ** Math.floor(Math.log2(Math.min(1, low))) : 0,
         to: 1.02 * Math.max(many / few, most(timed, speedup)), log},
        series, {ideal: [[few, 1], [many, many / few]]}),
    numbers(["schedule", "units", base.timeNoun, "speedup", "over the ideal"],
        g.rows.map((r) => [r.label, r.unitsText, seconds(r.time), ratio(speedup(r)),
                           share(speedup(r) * few, r.units)])));
}

/* Figure 10 of the 2021 paper. */
function transfers(g) {
    if (g.sites || !g.timed) return [];
    const rows = g.rows.filter((r) => r.units > 1);
    const step = (r, x) => (r.steps > 0 ? x / r.steps : 0);
    if (!rows.length)
        return leftOut(`No picture of transfers: nothing crosses between units where there is one.
            Add records of several units.`);
    const counts = [["Bytes a step", "bytes, a step", (r) => step(r, r.bytes), bytes],
                    ["Messages a step", "messages, a step", (r) => step(r, r.messages), count],
                    ["Migrations in the whole run", "migrations, whole run",
                     (r) => r.migrations, count]];
    return figure("Transfers between units",
        columns(counts.map(([title, word, of, say]) => panel(title, bars(title,
            underHeads(rows.map((r) => ({r, values: [of(r)], note: say(of(r))}))),
            [["plain", word]], say)))),
        numbers(["schedule", "units", ...counts.map((c) => c[1])],
            g.rows.map((r) => [r.label, r.unitsText,
                               ...counts.map(([, , of, say]) => say(of(r)))])));
}

/* Directives, or names that a program has given its loops. */
function sites(g) {
    if (!g.sites) return [];
    const all = g.rows.flatMap((r) => r.sites.map((site) => ({r, ...site})));
    const section = (s) => tag("section", {}, tag("h3", {}, s.name),
        note(g.rows.length > 1 && `${s.r.name}: `, `${plural(s.instances, "instance")} of `,
             `${count(s.tasks)} tasks (${s.schedule}), ${seconds(s.seconds)}, imbalance `,
             `${ratio(s.imbalance)}, ${plural(s.migrations, "migration")}, ${bytes(s.moved)} moved`,
             s.loops > 1 && `, in ${s.loops} loops`),
        bars(`Units at ${s.name}`, s.work.slice(0, UNITS_DRAWN).map((values, u) => ({
            label: `unit ${u}`, mark: colour(u), values, note: seconds(values[0])})), WORK),
        firstOf(UNITS_DRAWN, s.r.units, "units"));
    return figure("Directives: instances, balance and data that moved", key(WORK), all.map(section),
        numbers(["directive", "record", "schedule", "instances", "tasks", "time", "imbalance",
                 "migrations", "moved"],
            all.map((s) => [s.name, s.r.name, s.schedule, count(s.instances), count(s.tasks),
                            seconds(s.seconds), ratio(s.imbalance), count(s.migrations),
                            bytes(s.moved)])));
}

/* The mesh seen from above: figure 4 of the 2021 paper. */
function map(r) {
    const WIDE = 300, {x, y} = r.zones, nx = x.length, ny = y.length, owner = r.owner;
    /* a mesh longer than three times its width is squeezed, so that its zones can be seen */
    const high = Math.min(Math.max((WIDE * sum(y)) / sum(x), WIDE / 3), WIDE * 1.5);
    const edges = (widths, length) => {
        const list = [0], scale = length / sum(widths);
        for (const w of widths) list.push(list[list.length - 1] + scale * w);
        return list;
    };
    const ex = edges(x, WIDE), ey = edges(y, high), zones = [], names = [];
    let thin = "", thick = "";
    const put = (v) => v.toFixed(2);
    for (let i = 1; i < nx; i++) thin += `M${put(ex[i])} 0V${put(high)}`;
    for (let j = 1; j < ny; j++) thin += `M0 ${put(high - ey[j])}H${WIDE}`;
    const seen = new Uint8Array(nx * ny);
    /* the largest zone of the area around one that its unit owns */
    function largest(z) {
        const stack = [z];
        let best = z, area = 0;
        for (seen[z] = 1; stack.length;) {
            const here = stack.pop(), i = here % nx, j = (here - i) / nx;
            if (x[i] * y[j] > area) [best, area] = [here, x[i] * y[j]];
            for (const next of [i && here - 1, i < nx - 1 && here + 1, j && here - nx,
                                j < ny - 1 && here + nx])
                if (Number.isInteger(next) && !seen[next] && owner[next] === owner[z]) {
                    seen[next] = 1;
                    stack.push(next);
                }
        }
        return best;
    }
    for (let j = 0; j < ny; j++)
        for (let i = 0, n; i < nx; i += n) { /* zones of one unit side by side are one box */
            const z = i + j * nx, unit = owner[z];
            for (n = 1; i + n < nx && owner[z + n] === unit;) n++;
            const place = {x: put(ex[i]), y: put(high - ey[j + 1]), width: put(ex[i + n] - ex[i]),
                           height: put(ey[j + 1] - ey[j])};
            const hatch = Math.floor(unit / COLOURS) % HATCHES;
            zones.push(draw("rect", {class: `zone ${colour(unit)}`, ...place},
                            tipped(`unit ${unit}`)),
                       hatch > 0 && draw("rect", {class: `hatch${hatch}`, ...place}));
        }
    for (let z = 0; z < nx * ny; z++) {
        const i = z % nx, j = (z - i) / nx;
        const corner = `M${put(ex[i])} ${put(high - ey[j])}`;
        if (i && owner[z] !== owner[z - 1]) thick += `${corner}V${put(high - ey[j + 1])}`;
        if (j && owner[z] !== owner[z - nx]) thick += `${corner}H${put(ex[i + 1])}`;
        if (seen[z]) continue;
        const at = largest(z), a = at % nx, b = (at - a) / nx, text = String(owner[z]);
        if (ex[a + 1] - ex[a] >= 8.5 * text.length + 3 && ey[b + 1] - ey[b] >= 14)
            names.push(draw("text", {class: "unit mid", x: put((ex[a] + ex[a + 1]) / 2),
                                     y: put(high - (ey[b] + ey[b + 1]) / 2 + 4.5)}, text));
    }
    const title = `Zones by unit, ${r.name}: the mesh, x to the right and y upwards`;
    return draw("svg", {role: "img", viewBox: `0 0 ${WIDE} ${put(high)}`, width: "100%",
                        "aria-label": title},
        zones, draw("path", {class: "zone-edge", d: thin}),
        draw("path", {class: "unit-edge", d: thick}), names);
}
function maps(g) {
    const rows = g.rows.filter((r) => r.zones), zoned = g.rows.some((r) => r.noun === "zone");
    const without = g.rows.length - rows.length, several = rows.filter((r) => r.units > 1);
    const fine = (r) => Math.max(r.zones.x.length, r.zones.y.length) > 40;
    return [rows.length && figure(
        g.plan ? "Zones by unit in the last iteration" : "Zones by unit at the end of the run",
        unitsKey(most(rows, (r) => r.units)),
        tag("div", {class: "maps"}, (several.length ? several : rows).map((r) =>
            tag("div", {class: fine(r) ? "fine" : undefined}, tag("h4", {}, r.name), map(r),
                note(`${r.zones.x.length} × ${r.zones.y.length} zones`,
                     Number.isFinite(r.imbalance) && `, imbalance ${ratio(r.imbalance)}`)))),
        numbers(["record", "unit", "zones", "points", "share of the points"],
            rows.flatMap((r) => {
                const all = sum(r.unit, (u) => u.weight);
                return r.unit.map((u, i) => [r.name, String(i), count(u.tasks), count(u.weight),
                                             share(u.weight, all)]);
            }))),
    without && zoned && !g.plan && leftOut(`No map of zones of ${without} of ${g.rows.length}
        records: they do not say how wide zones are. Records that evener run APP --json FILE writes
        now do.`)];
}

function ranks(g) {
    const rows = g.rows.filter((r) => r.ranks.length);
    if (!rows.length) return [];
    const unitsOf = (r, rank) => r.unit.filter((u) => (u.rank || 0) === rank);
    const mean = (units) => WORK.map((_, k) => sum(units, (u) => workOf(u)[k]) / units.length);
    const drawn = (r) => r.ranks.slice(0, UNITS_DRAWN);
    return figure("Ranks: what the units of each did in the whole run", key(WORK),
        columns(rows.map((r) => panel(r.name, bars(`Work of the ranks, ${r.name}`,
            drawn(r).map((rank, i) => {
                const values = mean(unitsOf(r, i));
                return {label: `rank ${i} on ${rank.host}`, values,
                        note: `waiting ${seconds(values[2])}`};
            }), WORK), firstOf(UNITS_DRAWN, r.ranks.length, "ranks")))),
        note("Of each rank the mean of its units."),
        numbers(["record", "rank", "host", "units", "waiting", "messages sent", "bytes",
                 "tasks that left", "their bytes"],
            rows.flatMap((r) => drawn(r).map((rank, i) => [r.name, String(i), rank.host,
                count(unitsOf(r, i).length), seconds(sum(unitsOf(r, i), (u) => u.idle_s)),
                count(rank.messages), bytes(rank.bytes), count(rank.moved_tasks),
                bytes(rank.moved_bytes)]))));
}

function units(g) {
    if (g.plan) return [];
    const TAKEN = 0.05; /* from this share on it is said that others had the cores */
    const taken = (r) => r.unit.slice(0, UNITS_DRAWN).map((u, i) => u.taken >= TAKEN
        && `${share(u.taken, 1)} of the core time of unit ${i}`).filter(Boolean).join(", ");
    const label = (u, i) => `${i} ${u.kind.toUpperCase()}`;
    return figure("Balance: what each unit did in the whole run", key(WORK),
        columns(g.rows.map((r) => panel(r.name, bars(`Work of the units, ${r.name}`,
            r.unit.slice(0, UNITS_DRAWN).map((u, i) => ({label: label(u, i), mark: colour(i),
                values: workOf(u), note: seconds(u.compute_s)})), WORK),
            firstOf(UNITS_DRAWN, r.units, "units"),
            taken(r) && note(`Taken by other threads: ${taken(r)}.`)))),
        numbers(["record", "unit", "kind", "tasks", "weight", ...WORK.map((w) => w[1]),
                 "taken by others"],
            g.rows.flatMap((r) => r.unit.slice(0, UNITS_DRAWN).map((u, i) => [r.name, String(i),
                u.kind.toUpperCase(), count(u.tasks), count(u.weight), ...workOf(u).map(seconds),
                share(number(u.taken), 1)]))));
}

/* Phases of NPB-MZ; stages of TD-BEM, figure 14 of the 2015 paper. */
function parts(g) {
    const rows = g.rows.filter((r) => r.parts.length);
    if (!rows.length) return [];
    const names = [...new Set(rows.flatMap((r) => r.parts.map((p) => p[0])))];
    const of = (r) => names.map((name) => sum(r.parts.filter((p) => p[0] === name), (p) => p[1]));
    const classes = names.map((name, k) => [colour(k), name]);
    return figure(rows[0].o.stages ? "Time by stage, whole run"
                                   : "Time by phase, summed over units, whole run",
        key(classes), bars("Time by stage or phase", underHeads(rows.map((r) => ({
            r, values: of(r), note: seconds(sum(of(r)))}))), classes, seconds, true),
        numbers(["schedule", "units", ...names],
            rows.map((r) => [r.label, r.unitsText, ...of(r).map(seconds)])));
}

/* Times of launches on devices, of runs that have timed them; the last colour is that of all phases
 * that have none of their own. */
function launches(g) {
    const NAMES = COLOURS * HATCHES;
    const rows = g.rows.flatMap((r) => (r.o.devices || []).map((device, d) => ({
        r, d, phases: Object.entries(device.phases || {})}))).filter((row) => row.phases.length);
    if (!rows.length) return [];
    const all = [...new Set(rows.flatMap((row) => row.phases.map((p) => p[0])))];
    const names = all.length > NAMES ? [...all.slice(0, NAMES - 1), "others"] : all;
    const of = (row) => names.map((name, k) => sum(row.phases, ([mine, p]) =>
        mine === name || (name === "others" && all.indexOf(mine) >= k) ? p.seconds : 0));
    const classes = names.map((name, k) => [colour(k), name]);
    return figure("Time of launches on devices by phase, whole run", key(classes),
        bars("Time of launches by phase", underHeads(rows.map((row) => (
            {r: row.r, label: `${row.r.label}, device ${row.d}`, values: of(row),
             note: seconds(sum(of(row)))}))),
            classes, seconds, true),
        numbers(["schedule", "units", "device", "phase", "time", "launches", "a launch"],
            rows.flatMap(({r, d, phases}) => phases.map(([name, p]) => [r.label, r.unitsText,
                String(d), name, seconds(p.seconds), count(p.launches),
                seconds(p.seconds / p.launches)]))));
}

/* Tasks that come and go, and how even the units were before each change. */
function changesIn(r, {name, list, instances}) {
    const told = list.length <= 300; /* more dots would hide each other */
    const total = (of) => count(sum(list, (c) => c[of]));
    const after = (c) => `after ${c.instance} instances: `;
    const tip = (c) => told && `${after(c)}${plural(c.tasks, r.noun)}, ${c.born} born,
        ${c.gone} gone, ${c.moved} moved (${bytes(c.moved_bytes)}), ${c.faces_added} faces added,
        ${c.faces_gone} gone, ${seconds(c.seconds)}`;
    let now = list[0].kept + list[0].gone; /* the number holds until the next change */
    const steps = [[0, now]];
    for (const c of list) steps.push([c.instance, now], [c.instance, now = c.tasks, tip(c)]);
    steps.push([instances, now]);
    const even = list.filter((c) => typeof c.imbalance === "number").map(
        (c) => [c.instance, c.imbalance, told && `${after(c)}imbalance ${ratio(c.imbalance)}`]);
    const x = {label: "instances of the loop", from: 0, to: instances};
    const tasks = {label: r.noun + "s", from: 0, to: 1.05 * Math.max(most(steps, (s) => s[1]), 1)};
    const uneven = {label: "longest over shortest unit", from: 1,
                    to: Math.max(1.05, 1.05 * most(even, (e) => e[1]) - 0.05)};
    const small = (title, y, colour, points) =>
        plot(title, x, y, [{colour, points}], {height: 210, names: false});
    return figure(`Tasks that come and go: ${name && name + ", "}${r.name}`,
        note(`${plural(list.length, "change")}: ${total("born")} ${r.noun}s born, `,
             `${total("gone")} gone, ${total("moved")} moved, in `,
             `${seconds(sum(list, (c) => c.seconds))}.`),
        columns(panel(`Number of ${r.noun}s`, small("Tasks over instances", tasks, 0, steps)),
                even.length > 0 && panel("Imbalance in the instance before each change",
                                         small("Imbalance over instances", uneven, 5, even))),
        numbers(["instances before", "tasks", "kept", "born", "gone", "moved", "bytes moved",
                 "faces added", "faces gone", "time", "imbalance before"],
            list.map((c) => [...[c.instance, c.tasks, c.kept, c.born, c.gone, c.moved].map(count),
                bytes(c.moved_bytes), count(c.faces_added), count(c.faces_gone),
                seconds(c.seconds), ratio(number(c.imbalance))])));
}
const changes = (g) => g.rows.map((r) => r.changes.map((c) => changesIn(r, c)));

/* Columns that are cut in the shares of tasks that units have. */
function shares(tasks, x) {
    const HIGH = 166, [LEFT, RIGHT] = SMALL; /* as in plot() */
    const wide = (RIGHT - LEFT) / tasks.length;
    const column = (list, i) => {
        let y = HIGH;
        return list.map((n, u) => {
            const h = (140 * n) / sum(list), tip = `iteration ${i + 1}, unit ${u}: `;
            y -= h || 0;
            return h > 0 && box(colour(u), LEFT + wide * (i + 0.04), y, wide * 0.92, h,
                                tip + plural(n, "task"));
        });
    };
    return picture("Tasks of each unit by iteration", 210,
        tasks.map((list, i) => list && column(list, i)),
        words("tick end", LEFT, HIGH, "0", -8), words("tick end", LEFT, 36, "all", -8),
        line("axis", LEFT, HIGH, RIGHT, HIGH),
        x.ticks.map((v) => words("tick mid", LEFT + wide * (v - 0.5), HIGH + 19, count(v))),
        words("tick mid", (LEFT + RIGHT) / 2, HIGH + 38, x.label));
}

/* How an assignment settles; for intervals, figure 15 of the 2015 paper. */
function iterationsIn(r) {
    const DRAWN = 100, LINES = 32, shown = r.iterations.slice(0, DRAWN), n = shown.length;
    const zeros = Array.from({length: r.units}, () => 0);
    const counted = (owner) => {
        const list = [...zeros];
        for (const u of owner) list[u]++;
        return list;
    };
    const tasks = shown.map((it) => (it.owner ? counted(it.owner) : it.tasks));
    const loads = shown.map((it) => it.times || it.unit_compute_s || it.load);
    const weight = shown.some((it) => it.load && !it.times && !it.unit_compute_s);
    const caption = `Tasks and load by iteration: ${r.name}`, say = weight ? count : seconds;
    if (r.units > LINES || !tasks.concat(loads).some(Boolean))
        return figure(caption, leftOut(`No picture of the iterations: there are ${r.units} units,
            and more than ${LINES} lines cannot be told apart.`));
    const all = n <= 24 ? shown.map((_, i) => i + 1) : ticks({from: 0, to: n}, 10).slice(1);
    const x = {label: "iteration", from: 0.5, to: n + 0.5, ticks: all};
    const y = {label: "", from: 0, to: most(loads, (load) => most(load || [])) || 1, say};
    const ofUnit = (u) => ({colour: u, points: loads.map((load, i) => load && [
        i + 1, load[u], `iteration ${i + 1}, unit ${u}: ${say(load[u])}`]).filter(Boolean)});
    const over = (load) => (load ? (most(load) * load.length) / sum(load) : NaN);
    const row = (i, u) => [String(i + 1), String(u), count(tasks[i] ? tasks[i][u] : NaN),
                           say(loads[i] ? loads[i][u] : NaN), ratio(u ? NaN : over(loads[i]))];
    return figure(caption, unitsKey(r.units), columns(
        tasks.some(Boolean) && panel("Share of the tasks", shares(tasks, x)),
        loads.some(Boolean) && panel(weight ? "Load in weight" : "Time in computing",
            plot("Load of each unit by iteration", x, y, zeros.map((_, u) => ofUnit(u)),
                 {height: 210, names: false}))),
        firstOf(DRAWN, r.iterations.length, "iterations"),
        numbers(["iteration", "unit", "tasks", "load", "largest over mean"],
            shown.flatMap((_, i) => zeros.map((_, u) => row(i, u)))));
}
const iterations = (g) => g.rows.filter((r) => r.iterations.length).map(iterationsIn);
