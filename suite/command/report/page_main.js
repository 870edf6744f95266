/* Models, which stand alone; pages of figures, as bench papers makes them; and the page. */

const points = (list) => list.filter((p) => p[1] > 0); /* 0: not known */
/* x logarithmic, y from 0. */
function lines(caption, along, series) {
    const tip = (s, x, y) => `${s.label}: ${short(y)} at ${short(x)} ${along}`;
    const shown = series.filter((s) => s.points.length).map((s, k) => (
        {...s, colour: k, points: s.points.map(([x, y]) => [x, y, tip(s, x, y)])}));
    const all = shown.flatMap((s) => s.points), xs = all.map((p) => p[0]);
    return shown.length > 0 && figure(caption, plot(`${caption}. ${SEE}`,
        {label: along, from: Math.min(...xs), to: Math.max(...xs), log: true},
        {label: "", from: 0, to: 1.05 * most(all, (p) => p[1])}, shown));
}

/* Processes by threads: figure 9 of van der Wijngaart and Jin (IPDPS 2004). */
function model(o) {
    const rows = o.model, cores = [...new Set(rows.map((c) => c.cores))];
    const kinds = [["predicted", (c) => c.binpack.speedup], ["with map", (c) => c.map.speedup],
                   ["equation (1)", (c) => c.speedup_eq1],
                   ["measured", (c) => c.speedup_measured || 0]];
    const of = (n) => rows.filter((c) => c.cores === n).reverse(); /* fewest threads first */
    const best = ([label, by]) => ({label, dots: label === "measured",
                                    points: points(cores.map((n) => [n, most(of(n), by)]))});
    const a_core = (n, [, by]) => points(of(n).map((c) => [c.threads, by(c) / n]));
    const said = (x) => ratio(x > 0 ? x : NaN);
    return [note(`alpha ${o.alpha.toFixed(3)}`),
        lines("Speedup over one core, of the best processes x threads", "cores", kinds.map(best)),
        lines("Speedup a core, by threads a process", "threads a process", cores.flatMap((n) => [
            {label: plural(n, "core"), points: a_core(n, kinds[0])},
            {label: `${n}, measured`, dots: true, points: a_core(n, kinds[3])}])),
        numbers(["processes x threads", "cores", ...kinds.map((k) => k[0])], rows.map((c) =>
            [`${c.processes} x ${c.threads}`, count(c.cores),
             ...kinds.map(([, by]) => said(by(c)))]))];
}

/* FT and MG: speed-ups of the variants by nodes, and where the time of a thread goes. */
function inTime(o) {
    const groups = [["compute", "computing, or waiting for the GPU"],
                    ["copies", "copies between buffers"], ["puts", "puts, and waiting for them"],
                    ["barriers", "barriers"]];
    const rows = o.in_time, nameOf = (p) => `${p.variant}, ${p.gpu ? "GPU" : "cores"}`;
    const names = [...new Set(rows.map(nameOf))], of = (p) => groups.map(([k]) => p.groups_s[k]);
    const parts = groups.map(([, word], k) => [colour(k), word]);
    const bar = (p, i) => ({label: nameOf(p), values: of(p), note: seconds(p.step_s),
        head: i && rows[i - 1].nodes === p.nodes ? undefined
            : `${plural(p.nodes, "node")}, ${p.threads} threads`});
    const series = (label) => ({label, points: points(
        rows.filter((p) => nameOf(p) === label).map((p) => [p.nodes, p.speedup]))});
    return [note("Nothing was measured."),
        lines("Speed-up over one thread, in virtual time", "nodes", names.map(series)),
        figure("A step of a thread, in the mean", key(parts),
            bars("A step of a thread", rows.map(bar), parts),
            numbers(["variant", "nodes", "threads", "step", "speed-up", ...groups.map((k) => k[1])],
                rows.map((p) => [nameOf(p), count(p.nodes), count(p.threads), seconds(p.step_s),
                                 ratio(p.speedup), ...of(p).map(seconds)])))];
}

const tableTitle = (o) => `TD-BEM: ${TABLES[o.table][0]}`;
const modelTitle = (o) => `${o.app}, class ${o.class || NONE}: `
    + (o.in_time ? "a model in virtual time" : "processes x threads");
const source = (file, o) => tag("p", {class: "commands"}, tag("code", {}, file),
    typeof o.command === "string" && o.command.length < 2000
        && [tag("br"), tag("code", {}, o.command)]);

/* Figures with their values, of `sections`: [{title, figures, head, rows}]; each figure has a
 * title, and may have a sentence `about` it. */
const drawings = {
    lines(f) {
        const x = (s, i) => (s.x ? s.x[i] : i + 1);
        return [lines(f.title, f.along, f.series.map((s) => (
                    {...s, points: points(s.y.map((y, i) => [x(s, i), y]))}))),
                numbers(["series", f.along, "value"],
                    f.series.filter((s) => s.y.length <= 32).flatMap((s) => s.y.map(
                        (y, i) => [s.label, short(x(s, i)), short(y)])))];
    },
    bars(f) {
        const parts = f.parts.map((name, k) => [colour(k), name]);
        return figure(f.title, key(parts),
            bars(f.title, f.rows.map((row) => ({...row, values: row.parts})), parts, short),
            numbers(["row", ...f.parts],
                f.rows.map((row) => [row.label, ...row.parts.map(short)])));
    },
    plans: (f, show) => [tag("h3", {}, f.title), groupsOf(f.plans.map(readRecord)).map(
        (g) => [note(g.title), show(g)])],
    timelines: (f) => drawings.plans(f, timelines),
    maps: (f) => drawings.plans(f, maps),
};
const drawn = (section) => [
    section.figures.map((f) => [drawings[f.draw](f), f.about && note(f.about)]),
    numbers(section.head, section.rows)];

/* ---- the page ---- */

function summary(groups) {
    const verified = (x) => x === true ? tag("span", {class: "good"}, "✓ yes")
        : x === false ? tag("span", {class: "bad"}, "✗ no") : NONE;
    const row = (r) => [r.label, r.unitsText, verified(r.o.verified), count(r.plan ? NaN : r.steps),
        r.plan ? NONE : short(r.seconds), seconds(r.step), count(number(r.o.mops)),
        ratio(r.imbalance), typeof r.o.hash === "string" ? tag("code", {}, r.o.hash) : NONE];
    return figure("All records", table(["schedule", "units", "verified", "steps", "seconds",
                                        "a step", "Mop/s", "imbalance", "hash"],
        groups.flatMap((g) => [g.title, ...g.rows.map(row)])));
}

/* A sentence or two: the fastest run, whether the bits agree, the machine. */
function lead(g) {
    const [first] = g.rows, timed = g.rows.filter((r) => r.step > 0);
    const best = timed.find((r) => !timed.some((x) => x.step < r.step));
    const hashes = g.rows.filter((r) => r.o.hash);
    const agree = hashes.every((r) => r.o.hash === hashes[0].o.hash
        && (r.steps === first.steps || (r.sites.length && first.sites.length))
        && r.instances === first.instances);
    const machines = [...new Set(g.rows.map((r) => r.processor).filter(Boolean))];
    const kind = g.rows.length > 1 ? "Fastest" : g.plan ? "Planned" : "One record";
    return [tag("p", {class: "lead"},
        best && `${kind}: ${best.name}, ${seconds(best.step)} a step. `,
        hashes.length > 1 && `The solutions ${agree ? "agree to the last bit"
            : "differ in their bits (other steps, or units that round differently)"}. `,
        !best && first.sites.length > 0 && `${first.name}: ${plural(first.instances, "instance")} of
            ${plural(first.sites.length, "directive")}, ${seconds(first.seconds)}. `),
    machines.length > 1 ? note("These records are from different machines.")
        : machines.length === 1 && note(`On ${machines[0]}.`)];
}

const FIGURES = [periods, speedups, transfers, sites, timelines, maps, ranks, units, parts,
                 launches, changes, iterations];
const whole = (g) => [lead(g), FIGURES.map((show) => show(g)), tag("details", {},
    tag("summary", {}, "Where the records are from"),
    g.rows.map((r) => [note(`${r.name}, schedule `, tag("code", {}, r.schedule)),
                       source(r.file, r.o)]))];

function page(entries) {
    const groups = groupsOf(entries.filter(
        ({record: o}) => !o.sections && !o.in_time && !o.model && !o.table).map(readRecord));
    const made = entries.map((entry) => entry.record).filter((o) => o.sections);
    const models = entries.filter(({record: o}) => o.in_time || o.model);
    const tables = entries.filter(({record: o}) => o.table);
    const sections = [
        ...groups.map((g) => [g.title, () => whole(g)]),
        ...models.map(({file, record: o}) => [modelTitle(o), () => [(o.in_time ? inTime : model)(o),
                                                                    source(file, o)]]),
        ...tables.map(({file, record: o}) => [tableTitle(o), () => [TABLES[o.table][1](o),
                                                                    source(file, o)]]),
        ...made.flatMap((o) => o.sections.map((s) => [s.title, () => drawn(s)]))];
    const [title, about] = made.length ? [made[0].title, made[0].lead] : ["Evener report",
        `${plural(entries.length, "record")} of ${plural(sections.length, "workload")}.`];
    return [
        tag("header", {}, tag("h1", {}, title), tag("p", {class: "lead"}, about),
            sections.length > 1 && tag("nav", {"aria-label": "Workloads"}, sections.map(
                ([words], k) => tag("a", {href: `#s${k + 1}`}, words)))),
        groups.length > 0 && summary(groups),
        sections.map(([words, content], k) =>
            tag("section", {id: `s${k + 1}`}, tag("h2", {}, words), content()))];
}

const records = JSON.parse(document.getElementById("records").textContent);
let content;
try {
    content = page(records);
} catch (error) {
    content = leftOut(`These records cannot be drawn: ${error.message}`);
}
document.getElementById("page").append(tag("div", {}, content));
