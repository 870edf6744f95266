"use strict";
/* Elements, numbers as readers want them, bars, plots and tables. Whatever a record says becomes
 * text or the value of an attribute, never markup. */

const clean = (text) =>
    String(text).replace(/\s*\n\s*/g, " ").replace(/[\0-\x08\x0b-\x1f\x7f]/g, "\ufffd");

function make(space, name, attributes, children) {
    const element = document.createElementNS("http://www.w3.org/" + space, name);
    for (const [key, value] of Object.entries(attributes || {}))
        if (value !== undefined) element.setAttribute(key, clean(value));
    for (const child of children.flat(Infinity))
        if (child) element.append(typeof child === "object" ? child : clean(child));
    return element;
}
const tag = (name, attributes, ...children) => make("1999/xhtml", name, attributes, children);
const draw = (name, attributes, ...children) => make("2000/svg", name, attributes, children);

/* ---- numbers ---- */

const NONE = "–";
const number = (x) => (typeof x === "number" ? x : NaN);
const sum = (list, of = (x) => x) => list.reduce((all, x) => all + of(x), 0);
const most = (list, of = (x) => x) => list.reduce((max, x) => (of(x) > max ? of(x) : max), 0);
const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/* Three significant digits and a unit: 1.23, 12.3, 123. */
function scaled(x, units) {
    let u = 0;
    while (u + 1 < units.length && x >= 999.5 * units[u][0]) u++;
    const y = x / units[u][0];
    return `${y.toFixed(y < 9.995 ? 2 : y < 99.95 ? 1 : 0)}\u00a0${units[u][1]}`;
}
function count(x) {
    if (!Number.isFinite(x)) return NONE;
    if (x >= 1e12) return x.toPrecision(3);
    const digits = x.toFixed(x < 9.95 && x !== Math.floor(x) ? 1 : 0);
    return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}
function seconds(x) {
    if (!Number.isFinite(x)) return NONE;
    if (x === 0 || x >= 1e5) return count(x) + "\u00a0s";
    return scaled(x, [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]]);
}
function bytes(x) {
    if (!Number.isFinite(x)) return NONE;
    if (x < 999.5) return x.toFixed(0) + "\u00a0B";
    return scaled(x, [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]]);
}
function ratio(x) {
    return !Number.isFinite(x) ? NONE : (x < 99.95 ? x.toFixed(2) : short(x)) + "×";
}
function share(part, of) {
    const x = (100 * part) / of;
    return !Number.isFinite(x) ? NONE : x.toFixed(x > 0 && x < 9.95 ? 1 : 0) + "\u00a0%";
}
const short = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(4))) : NONE);

/* ---- figures ---- */

const COLOURS = 8, HATCHES = 3;
const colour = (i) => `c${i % COLOURS} h${Math.floor(i / COLOURS) % HATCHES}`;
const swatch = (class_) => tag("i", {class: "swatch " + class_});
const key = (pairs) =>
    tag("ul", {class: "key"}, pairs.map(([class_, word]) => tag("li", {}, swatch(class_), word)));
const unitsKey = (units) =>
    units > COLOURS * HATCHES
        ? note(`Colours repeat after ${COLOURS * HATCHES} units; numbers tell.`)
        : key(Array.from({length: units}, (_, u) => [colour(u), `unit ${u}`]));
const note = (...words) => tag("p", {class: "note"}, words);
const leftOut = (words) => tag("p", {class: "left-out"}, words);
const firstOf = (n, all, noun) => n < all && note(`The first ${n} of ${count(all)} ${noun}.`);
const figure = (caption, ...content) =>
    tag("figure", {}, tag("figcaption", {}, caption), content);

const SEE = "The numbers are in the table below.";

const ROWS = 2000;
/* A table; texts among the rows are headings of those below. Numbers are on the right. */
function table(head, rows) {
    const numeric = /^(–|[\d.,]+(e[+-]?\d+)?(\u00a0\S+|×)?)$/;
    const left = head.map((_, k) => !k || rows.some(
        (row) => typeof row !== "string" && !numeric.test(row[k])));
    const cell = (value, k) => k
        ? tag("td", {class: left[k] ? "left" : undefined}, value)
        : tag("th", {scope: "row"}, value);
    const title = (words) =>
        tag("tr", {class: "group"}, tag("th", {colspan: head.length, scope: "rowgroup"}, words));
    return tag("div", {class: "wide"}, tag("table", {},
        tag("thead", {}, tag("tr", {}, head.map((word, k) =>
            tag("th", {scope: "col", class: left[k] ? "left" : undefined}, word)))),
        tag("tbody", {}, rows.slice(0, ROWS).map((row) =>
            typeof row === "string" ? title(row) : tag("tr", {}, row.map(cell))))),
        firstOf(ROWS, rows.length, "rows"));
}
const numbers = (head, rows) =>
    tag("details", {}, tag("summary", {}, "The numbers"), table(head, rows));

/* Bars from zero, one below another, the longest as wide as there is room. rows: {head, label,
 * mark: class of a swatch, values, note}; parts: [class, word] of each value. */
function bars(title, rows, parts, say = seconds, inside = false) {
    const max = most(rows, (row) => sum(row.values));
    const part = (row, value, k) => value > 0 && tag("i", {
        class: parts[k][0], style: `width:${((100 * value) / max).toFixed(3)}%`,
        title: `${row.label}: ${parts[k][1]} ${say(value)}`.trim()},
        inside && tag("span", {}, parts[k][1]));
    return tag("div", {class: "bars", role: "img",
                       "aria-label": `${title}. ${SEE}`},
        rows.map((row) => [
            row.head && tag("b", {class: "head"}, row.head),
            tag("span", {class: "label"}, row.mark && swatch(row.mark), row.label),
            tag("span", {class: "track"}, row.values.map((value, k) => part(row, value, k))),
            tag("span", {class: "value"}, row.note || "")]));
}

/* A picture as wide as its place: x in per cent, so that text keeps its size; y in pixels. */
const picture = (title, height, ...content) => draw("svg",
    {role: "img", "aria-label": title, width: "100%", height: height.toFixed(0)}, content);
/* Narrow screens show a part of it. */
const scrolled = (class_, content) =>
    tag("div", {class: "wide"}, tag("div", {class: class_}, content));
const at = (x) => x.toFixed(3) + "%";
const tipped = (tip) => tip && draw("title", {}, tip);
const line = (class_, x0, y0, x1, y1, more, tip) => draw("line", {
    class: class_, x1: at(x0), y1: y0.toFixed(1), x2: at(x1), y2: y1.toFixed(1), ...more},
    tipped(tip));
const words = (class_, x, y, text, dx) =>
    draw("text", {class: class_, x: at(x), y: y.toFixed(1), dx}, text);
function box(class_, x, y, width, height, tip) {
    const place = {x: at(x), y: y.toFixed(1), width: at(width), height: height.toFixed(1)};
    const hatch = / h([12])/.exec(class_);
    return [draw("rect", {class: class_, ...place}, tipped(tip)),
            hatch && draw("rect", {class: "hatch" + hatch[1], ...place})];
}

/* The scale of an axis: 1, 2 or 5 times a power of ten. */
function tickStep(span, about) {
    if (!(span > 0)) return 1;
    const raw = span / about, decade = 10 ** Math.floor(Math.log10(raw)), of = raw / decade;
    return decade * (of <= 1 ? 1 : of <= 2 ? 2 : of <= 5 ? 5 : 10);
}
const rounded = (text) => text.replace(/\.0+(?=\u00a0)/, "");
function ticks({from, to, log}, about) {
    const step = log ? 2 : tickStep(to - from, about), list = [];
    for (let i = 0; i < 60; i++) {
        const v = log ? from * step ** i : from + step * i;
        if (v > to * (1 + 1e-9)) break;
        list.push(v);
    }
    return list;
}

const SMALL = [12, 96]; /* where axes begin and end in pictures that stand side by side */
/* Lines and dots. x, y: {label, from, to, log, ticks, say}; series: {label, colour: number, dots,
 * points: [[x, y, tip], ..]}; without names they have no labels. */
function plot(title, x, y, series, {height = 320, names = true, ideal} = {}) {
    const [LEFT, RIGHT] = names ? [7, 82] : SMALL, TOP = 26, BOTTOM = height - 44, APART = 16;
    const along = ({from, to, log}, v) => !(to > from) ? 0.5
        : log ? Math.log(v / from) / Math.log(to / from) : (v - from) / (to - from);
    const px = (v) => LEFT + (RIGHT - LEFT) * along(x, v);
    const py = (v) => BOTTOM - (BOTTOM - TOP) * along(y, v);
    const ends = series.map((s) => ({words: s.label, points: s.points}));
    if (ideal) ends.push({words: "ideal", points: ideal});
    for (const end of ends) {
        [end.x, end.y] = end.points[end.points.length - 1];
        end.at = py(end.y);
    }
    ends.sort((a, b) => a.at - b.at);
    ends.forEach((end, k) => { if (k) end.at = Math.max(end.at, ends[k - 1].at + APART); });
    for (let k = ends.length - 1, low = BOTTOM; k >= 0 && ends[k].at > low; k--, low -= APART)
        ends[k].at = low;
    let free = -Infinity;
    const apart = (v) => px(v) >= free && (free = px(v) + 4);
    return scrolled(names ? "plot" : "small", picture(title, height,
        words("tick", 0, 12, y.label),
        ticks(y, 5).map((v) => [
            line("grid", LEFT, py(v), RIGHT, py(v)),
            words("tick end", LEFT, py(v) + 4, rounded((y.say || short)(v)), -8)]),
        (x.ticks || ticks(x, 5)).filter(apart).map((v) => [
            line("axis", px(v), BOTTOM, px(v), BOTTOM + 5),
            words("tick mid", px(v), BOTTOM + 19, (x.say || count)(v))]),
        line("axis", LEFT, BOTTOM, RIGHT, BOTTOM),
        words("tick mid", (LEFT + RIGHT) / 2, BOTTOM + 38, x.label),
        ideal && line("ideal", px(ideal[0][0]), py(ideal[0][1]), px(ideal[1][0]), py(ideal[1][1])),
        names && ends.map((end) => [
            line("leader", px(end.x), py(end.y), RIGHT + 1.2, end.at),
            words("", RIGHT + 1.6, end.at + 4, end.words)]),
        series.map((s) => s.dots ? [] : s.points.slice(1).map((to, i) =>
            line("s" + (s.colour % COLOURS), px(s.points[i][0]), py(s.points[i][1]),
                 px(to[0]), py(to[1])))),
        series.map((s) => s.points.filter((p) => p[2]).map(([a, b, tip]) => draw("circle", {
            class: `c${s.colour % COLOURS} dot`, cx: at(px(a)), cy: py(b).toFixed(1),
            r: s.dots ? 6 : 4}, tipped(tip))))));
}
