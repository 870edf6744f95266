/* Tables of td-bem: directivity, spectra and signals. */

const SERIES = COLOURS, DRAWN = 800; /* points of a line, about one a pixel */
const columnOf = (o, name) => o.values[o.columns.indexOf(name)];
const named = (o, expression) => o.columns.map((name, k) => [expression.exec(name), o.values[k]])
    .filter(([found]) => found).map(([found, values]) => ({label: found[1], values}));
const finite = (p) => Number.isFinite(p[0]) && Number.isFinite(p[1]) && p[0] !== null && p[1] !== null;
const firstSeries = (all, noun) => firstOf(SERIES, all.length, noun);

/* Lines over a linear axis, which has no gaps; 0 is in the picture. */
function curves(caption, along, up, x, all, noun) {
    const every = Math.ceil(x.length / DRAWN), tips = x.length <= 64;
    const series = all.slice(0, SERIES).map((s, k) => ({label: s.label, colour: k,
        points: x.map((v, i) => [v, s.values[i]]).filter((p, i) => i % every === 0 && finite(p))
            .map(([a, b]) => [a, b, tips && `${s.label}: ${short(b)} at ${short(a)} ${along}`])}))
        .filter((s) => s.points.length);
    const heights = series.flatMap((s) => s.points.map((p) => p[1]));
    if (!heights.length) return leftOut(`${caption}: there is no number in it.`);
    const low = Math.min(0, ...heights), high = Math.max(0, ...heights);
    const step = tickStep(high - low || 1, 4), last = x[x.length - 1];
    const unit = tickStep(last - x[0], 8), marks = [];
    for (let v = Math.ceil(x[0] / unit); v * unit <= last + 1e-9 * unit; v++) marks.push(v * unit);
    return figure(caption, plot(caption,
        {label: along, from: x[0], to: last, ticks: marks, say: short},
        {label: up, from: step * Math.floor(low / step), to: step * Math.ceil(high / step) || 1},
        series),
        firstSeries(all, noun));
}

/* Far fields around the wave's direction, which is to the right: one plane above, one below. */
function directivity(o) {
    const [w, plane, theta, abs] = ["w", "plane", "theta", "abs"].map((name) => columnOf(o, name));
    const all = [...new Set(w)], shown = all.slice(0, SERIES), R = 130;
    const high = most(abs.filter((_, i) => shown.includes(w[i])));
    if (!(high > 0)) return leftOut("No picture of the far field: there is no number in it.");
    const step = tickStep(high, 4), top = step * Math.ceil(high / step), put = (v) => v.toFixed(2);
    const rings = [];
    for (let v = step; v <= top * (1 + 1e-9); v += step) rings.push(v);
    const place = (i) => {
        const angle = theta[i] * Math.PI / 180, r = R * abs[i] / top;
        return `${put(r * Math.cos(angle))} ${put((plane[i] ? 1 : -1) * r * Math.sin(angle))}`;
    };
    const outline = (f) => [0, 1].map((side) => w.map((v, i) => i)
        .filter((i) => w[i] === f && plane[i] === side && abs[i] !== null)
        .map((i, k) => `${k ? "L" : "M"}${place(i)}`).join("")).join("");
    const title = "Far field by the angle to the wave's direction, which is to the right";
    return figure(title, key(shown.map((f, k) => [colour(k), `w = ${short(f)}`])),
        tag("div", {class: "polar"}, draw("svg",
            {role: "img", viewBox: `${-R - 40} ${-R - 14} ${2 * R + 80} ${2 * R + 28}`,
             width: "100%", "aria-label": `${title}. ${SEE}`},
            rings.map((v) => draw("circle", {class: "ring", cx: 0, cy: 0, r: put(R * v / top)})),
            draw("path", {class: "axis", d: `M${-R} 0H${R}M0 ${-R}V${R}`}),
            [[R + 6, 4, "0°", "tick"], [-R - 6, 4, "180°", "tick end"], [4, -R - 3, "90°, plane 0", "tick"],
             [4, R + 11, "90°, plane 1", "tick"]].map(([x, y, text, class_]) =>
                draw("text", {class: class_, x, y}, text)),
            rings.map((v) => draw("text", {class: "tick", x: put(R * v / top * Math.SQRT1_2 + 2),
                                           y: put(-R * v / top * Math.SQRT1_2 - 2)}, short(v))),
            shown.map((f, k) => draw("path", {class: `curve s${k}`, d: outline(f)},
                                     tipped(`w = ${short(f)}`))))),
        note("|F| of p ~ F exp(ikr)/r, over the incident wave's amplitude; a length."),
        firstSeries(all, "frequencies"),
        numbers(["w", "plane", "angle", "|F|"], w.map((v, i) => [v, i]).filter(([v]) => shown.includes(v))
            .map(([v, i]) => [short(v), String(plane[i]), short(theta[i]), short(abs[i])])));
}

function spectra(o) {
    const w = columnOf(o, "w"), size = (a, b) => a.map((x, i) => (x === null ? null : Math.hypot(x, b[i])));
    const im = named(o, /^im_total_(\d+)$/);
    const all = named(o, /^re_total_(\d+)$/).slice(0, im.length).map((s, k) => (
        {label: `probe ${s.label}`, values: size(s.values, im[k].values)}));
    return [curves("Transfer functions: total pressure over the incident wave's", "angular frequency",
                   "absolute value", w, all, "probes"),
            numbers(["w", ...all.map((s) => s.label)],
                    w.map((v, i) => [short(v), ...all.map((s) => short(s.values[i] === null ? NaN : s.values[i]))]))];
}

const signals = (caption, up, expression, noun) => (o) => curves(caption, "time", up, columnOf(o, "t"),
    named(o, expression).map((s) => ({...s, label: `${noun} ${s.label}`})), `${noun}s`);
const TABLES = {
    "far-field": ["far field", directivity],
    "transfer-function": ["transfer functions", spectra],
    "impulse-response": ["impulse responses", signals("Impulse responses, total pressure",
        "a sample", /^total_(\d+)$/, "probe")],
    "probe-output": ["pressures at probes", signals("Total pressure over time", "pressure",
        /^p_total_(\d+)$/, "probe")],
    "vertex-output": ["the solution at vertices", signals("The solution over time", "a",
        /^a(\d+)$/, "vertex")],
};
