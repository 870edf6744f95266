/* One step in time, a line a unit: figures 5 to 9 of the 2021 paper. Over ranks the lines of a rank
 * are a lane with a head of its own, and messages are arrows from lane to lane. */

const LANE = {bar: 18, queue: 7, gap: 6, head: 22, gutter: 7, arrows: 400};

/* The last step that has computing in it, and its bursts by unit, line and time. */
function lastStep(r) {
    let number = -1;
    for (const b of r.bursts)
        if (r.plan || b.kind === "compute") number = Math.max(number, b.step);
    const list = r.bursts.filter((b) => b.step === number);
    const begin = list.reduce((t, b) => Math.min(t, b.begin), Infinity);
    const end = most(list, (b) => b.end), busy = Array.from({length: r.units}, () => 0);
    list.sort((a, b) => a.unit - b.unit || isQueue(a) - isQueue(b) || a.begin - b.begin);
    for (const b of list) if (!isQueue(b)) busy[b.unit] += b.end - b.begin;
    return end > begin ? {r, number, begin, end, length: end - begin, list, busy} : null;
}

/* Where things are in the picture of a step whose width stands for so many seconds. */
function lanesOf(s, length) {
    const {r} = s, units = r.unit.slice(0, UNITS_DRAWN).map((_, u) => u);
    const scale = (100 - LANE.gutter) / length;
    const pitch = LANE.bar + LANE.gap + (s.list.some(isQueue) ? LANE.queue + 1 : 0);
    const rankOf = (u) => (r.ranks.length ? r.unit[u].rank || 0 : -1);
    const top = (u) => pitch * u + LANE.head * (rankOf(u) + 1);
    const ranks = rankOf(units.length - 1) + 1;
    return {units, scale, top, ranks, height: pitch * units.length + LANE.head * ranks,
            x: (t) => LANE.gutter + scale * (t - s.begin),
            unitsOf: (rank) => r.unit.map((_, u) => u).filter((u) => rankOf(u) === rank)};
}

/* Bursts of one kind, so near to each other that they are one box. */
function burstBox(r, lanes, list) {
    const [b] = list, kind = KINDS.findIndex(([name]) => name === b.kind), [, word] = KINDS[kind];
    const end = most(list, (x) => x.end), width = Math.max(lanes.scale * (end - b.begin), 0.05);
    const y = lanes.top(b.unit) + 2 + (isQueue(b) ? LANE.bar + 1 : 0);
    const name = b.count === 1 ? String(b.task) : plural(b.count, r.noun);
    const tip = list.length > 1 ? `${list.length} short bursts of ${word}`
        : `${b.count === 1 ? `${r.noun} ` : ""}${name}: ${word}`;
    const named = list.length === 1 && !isQueue(b) && width > 0.9 * name.length + 0.9;
    return [box(`k${kind}${width < 0.3 ? " thin" : ""}`, lanes.x(b.begin), y, width,
                isQueue(b) ? LANE.queue : LANE.bar, `${tip} ${seconds(end - b.begin)}`),
            named && words(`in mid k${kind}`, lanes.x(b.begin) + width / 2, y + 13, name)];
}

function burstBoxes(s, lanes) {
    const groups = [];
    for (const b of s.list) {
        if (b.unit >= lanes.units.length) continue;
        const group = groups[groups.length - 1], last = group && group[group.length - 1];
        if (last && last.unit === b.unit && last.kind === b.kind
            && lanes.scale * (b.begin - last.end) < 0.05 && lanes.scale * (b.end - b.begin) < 0.4
            && lanes.scale * (group[0].end - group[0].begin) < 0.4)
            group.push(b);
        else
            groups.push([b]);
    }
    return groups.map((group) => burstBox(s.r, lanes, group));
}

function laneHeads(s, lanes) {
    return s.r.ranks.slice(0, lanes.ranks).map((rank, k) => {
        const units = lanes.unitsOf(k), y = lanes.top(units[0]) - LANE.head;
        const waits = Math.max(0, s.length - sum(units, (u) => s.busy[u]) / units.length);
        return [k > 0 && line("rule", 0, y + 2, 100, y + 2), words("lane", 0, y + 17,
            `rank ${k} on ${rank.host}: waiting for ${share(waits, s.length)} of it`)];
    });
}

function arrow(s, lanes, m) {
    const edge = (rank, other) => { /* of a rank's lane, that looks to the other rank's */
        const units = lanes.unitsOf(rank).filter((u) => u < lanes.units.length);
        return 2 + (other > rank ? lanes.top(units[units.length - 1]) + LANE.bar
                                 : lanes.top(units[0]));
    };
    const moves = typeof m.task === "number", what = moves ? `${s.r.noun} ${m.task}` : m.kind;
    return line(moves ? "arrow moves" : "arrow",
        lanes.x(Math.max(m.sent, s.begin)), edge(m.from, m.to),
        lanes.x(m.received), edge(m.to, m.from),
        {"marker-end": "url(#arrow)"}, `rank ${m.from} to rank ${m.to}: ${what},
            ${bytes(m.bytes)}, there after ${seconds(Math.max(0, m.received - m.sent))}`);
}

function timeline(s, length) {
    const {r} = s, lanes = lanesOf(s, length), {height} = lanes;
    const messages = r.messageList.filter((m) => m.received >= s.begin && m.received <= s.end);
    const drawn = messages.filter((m) => m.from < lanes.ranks && m.to < lanes.ranks);
    const uncertain = number((r.o.clocks || {}).uncertainty_s);
    const tick = (v, x) => [
        line("axis", x, height, x, height + 4),
        words(x > 97 ? "tick end" : "tick mid", x, height + 17, rounded(seconds(v)))];
    const title = `One step of ${r.name}: a line a unit, bursts of computing and exchange; what is
        empty is waiting`;
    return [scrolled("plot", picture(title, height + 26,
        lanes.units.map((u) => [
            box("wait", LANE.gutter, lanes.top(u) + 2, lanes.scale * s.length, LANE.bar),
            draw("rect", {class: colour(u), x: 0, y: lanes.top(u) + 5, width: 11, height: 11}),
            words("value", 0, lanes.top(u) + 15, String(u), 16)]),
        line("axis", LANE.gutter, height, 100, height),
        ticks({from: 0, to: length}, 5).map((v) => tick(v, lanes.x(s.begin + v))),
        burstBoxes(s, lanes), drawn.slice(0, LANE.arrows).map((m) => arrow(s, lanes, m)),
        laneHeads(s, lanes))),
    firstOf(UNITS_DRAWN, r.units, "units"),
    messages.length > Math.min(drawn.length, LANE.arrows)
        && note(`Arrows of ${Math.min(drawn.length, LANE.arrows)} of ${messages.length} messages.`),
    uncertain > 0 && note("Clocks of hosts were compared; a time may be wrong by ",
                          `${seconds(uncertain)}.`)];
}

function stepRow(s, u) {
    const mine = s.list.filter((b) => b.unit === u);
    const of = (kind) => sum(mine.filter((b) => b.kind === kind), (b) => b.end - b.begin);
    return [s.r.name, String(s.number), String(u), count(mine.length),
            ...KINDS.map(([kind]) => seconds(of(kind))),
            seconds(Math.max(0, s.length - s.busy[u]))];
}

function timelines(g) {
    const steps = g.rows.map(lastStep).filter(Boolean), without = g.rows.length - steps.length;
    const longest = ({r}) => most(
        steps.filter((s) => s.r.unitsText === r.unitsText), (s) => s.length);
    const kinds = new Set(steps.flatMap((s) => s.list.map((b) => b.kind)));
    const keys = KINDS.map(([kind, word], k) => kinds.has(kind) && [`k${k}`, word]);
    const titled = (s) => tag("div", {class: "title"}, tag("h4", {}, s.r.name),
        note(`${s.r.sites.length ? "instance" : "step"} ${s.number}: ${seconds(s.length)}, `,
             `units busy for ${share(sum(s.busy), s.length * s.r.units)} of it`));
    return [steps.length > 0 && figure("One step in time, a line a unit",
        key([...keys.filter(Boolean), ["wait", "waiting"]]),
        steps.map((s) => tag("div", {class: "panel"}, titled(s), timeline(s, longest(s)))),
        note("The last step whose bursts the record holds. Numbers in boxes are ",
             `${g.rows[0].noun}s.`,
             steps.length > 1 && " Records with the same units share one scale."),
        numbers(["record", "step", "unit", "bursts", ...KINDS.map((kind) => kind[1]), "waiting"],
            steps.flatMap((s) => s.r.unit.slice(0, UNITS_DRAWN).map((_, u) => stepRow(s, u))))),
    without && !g.plan && leftOut(`No timeline of ${without} of ${g.rows.length} records: they hold
        no bursts. Records that evener run APP --json FILE writes now hold those of the last
        steps.`)];
}
