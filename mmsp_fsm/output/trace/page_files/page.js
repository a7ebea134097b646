"use strict";
// The page of one trace. All that a stream holds reaches the document as text nodes and attributes (`make`), never as
// markup: it is model output, and hostile. The Content-Security-Policy would stop it once more.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { rows, groups, diagnostics } = data;
  const byId = (id) => document.getElementById(id);
  const HEIGHT = 26; // of a line of the list, in px: page.css says the same
  const MOST_LINES = 20; // of one event in the list; its details show more
  const MOST_ITEMS = 100; // of the message that are shown at once
  const MOST_TEXT = 20000; // characters of one item that are shown at once
  const [BEFORE, SYMBOL, ACTION, AFTER, RULE, GROUP, PIECE, DONE] = [0, 1, 2, 3, 4, 5, 6, 7];

  // ---- Words ---------------------------------------------------------------------------------------------------

  // What a browser would obey or hide is shown as an escape; line ends and tabs stay where `lines` says so.
  const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;
  const show = (text, lines) =>
    String(text).replace(HIDDEN, (one) => {
      if (lines && (one === "\n" || one === "\t")) return one;
      const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[one];
      return short || "\\u{" + one.codePointAt(0).toString(16) + "}";
    });
  const number = (value) => value.toLocaleString("en");
  const count = (value, noun) => number(value) + " " + noun + (value === 1 ? "" : "s");
  const duration = (ms) => {
    const size = Math.abs(ms);
    for (const [unit, name] of [[86400000, "d"], [3600000, "h"], [60000, "min"], [1000, "s"]])
      if (size >= unit) return +(ms / unit).toFixed(2) + " " + name;
    return ms + " ms";
  };
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  };
  const draw = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const colour = (kind) => "k" + (data.kinds.indexOf(kind) % 8);
  const symbolOf = (move) =>
    make("span", { class: "symbol " + (move[GROUP] === undefined ? "" : colour(groups[move[GROUP]].kind)) }, move[SYMBOL]);

  // ---- What is derived once ------------------------------------------------------------------------------------

  // A record without a time of its own stands where the last one did.
  let place = 0;
  let lastPlace = null;
  let furthest = null; // a silence ends what was the latest time so far: where times go back there is none
  const rowOf = new Map();
  const pieces = groups.map(() => []);
  const faulty = [];
  let longest = null;
  rows.forEach((row, index) => {
    rowOf.set(row.event, index);
    if (row.at !== null) {
      row.since = lastPlace === null ? null : row.at - lastPlace;
      lastPlace = place = row.at;
      row.silence = furthest === null ? 0 : Math.max(0, row.at - furthest);
      furthest = Math.max(row.at, furthest ?? row.at);
      if (longest === null || row.silence > rows[longest].silence) longest = index;
    }
    row.place = place;
    if (row.faults.length) faulty.push(index);
    for (const move of row.moves) if (move[GROUP] !== undefined) pieces[move[GROUP]].push([row.event, move]);
  });
  const earliest = rows.reduce((least, row) => Math.min(least, row.place), 0);
  const latest = rows.reduce((most, row) => Math.max(most, row.place), 0);
  const nearest = (event) => {
    // The row of an event; where the page left it out, the one before it.
    while (event > 0 && !rowOf.has(event)) event -= 1;
    return rowOf.get(event) || 0;
  };
  const named = (row) => (row.end ? "end" : "event " + row.event);

  // ---- The head ------------------------------------------------------------------------------------------------

  const head = () => {
    const verdict = byId("verdict");
    verdict.append(make("strong", { class: data.verdict }, data.verdict));
    verdict.append(" " + data.outcome + " after " + count(data.events, "event") + " in " + count(data.closed, "closed group"));
    if (data.error) verdict.append(" with ", make("code", {}, show(data.error)));
    const facts = [["errors", number(data.errors)], ["warnings", number(data.warnings)]];
    if (data.zero !== null) {
      facts.push(["duration", duration(latest - earliest)]);
      if (data.answer !== null && rowOf.has(data.answer) && rows[rowOf.get(data.answer)].at !== null)
        facts.push(["first answer", "after " + duration(rows[rowOf.get(data.answer)].at)]);
      if (longest !== null) facts.push(["longest gap", duration(rows[longest].silence)]);
      const start = new Date(data.zero < 1e11 && data.zero >= 0 ? data.zero * 1000 : data.zero);
      if (!Number.isNaN(start.getTime())) facts.push(["began", start.toISOString().replace("T", " ")]);
    }
    facts.push(["checked by", data.tool + ", " + data.protocol]);
    for (const [name, value] of facts) byId("facts").append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    const notes = [];
    if (data.zero === null) notes.push("No record has a time: the time line goes by events.");
    if (data.strange) notes.push(count(data.strange, "time") + " lie more than a day from the others and are left off the time line.");
    if (data.cut) notes.push("Long contents are cut in " + count(data.cut, "place") + ".");
    if (rows.length - 1 < data.events)
      notes.push("The page shows " + number(rows.length - 1) + " of " + number(data.events) + " records: the first, and those with faults.");
    const kept = diagnostics.length;
    if (data.errors + data.warnings > kept) notes.push("It shows the first " + number(kept) + " of " + number(data.errors + data.warnings) + " diagnostics.");
    byId("notes").textContent = notes.join(" ");
    byId("notes").hidden = !notes.length;
  };

  // ---- The time line -------------------------------------------------------------------------------------------

  const GUTTER = 112;
  const LANE = 24;
  let byTime = data.zero !== null && latest > earliest;
  const lanes = data.kinds.filter((kind) => groups.some((group) => group.kind === kind));
  const line = { width: 0, scale: () => 0, cursor: null };

  const drawLine = () => {
    const box = byId("line");
    const width = Math.max(box.clientWidth, 280);
    const gutter = width < 560 ? 0 : GUTTER;
    const top = 20;
    const lane = gutter ? LANE : LANE + 14; // narrow: the kind's name stands above its lane
    const height = top + Math.max(lanes.length, 1) * lane + 22;
    const [from, to] = byTime ? [earliest, latest] : [0, Math.max(rows.length - 1, 1)];
    const across = (value) => gutter + 8 + ((value - from) / (to - from || 1)) * (width - gutter - 24);
    const scale = (row) => across(byTime ? rows[row].place : row);
    Object.assign(line, { width, scale });
    const words = lanes.length + " kinds, " + groups.length + " groups over " + (byTime ? duration(to - from) : count(to, "event"));
    const svg = draw("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img", "aria-label": "Time line: " + words });
    const bottom = top + lanes.length * lane;
    drawAxis(svg, from, to, across, bottom, top);
    if (byTime) drawGaps(svg, scale, across, top, bottom);
    lanes.forEach((kind, index) => {
      const y = top + index * lane + (gutter ? 0 : 14);
      svg.append(draw("text", { class: "lane", x: gutter ? gutter - 4 : 8, y: gutter ? y + 16 : y - 2, "text-anchor": gutter ? "end" : "start" }, kind));
      drawGroups(svg, kind, scale, y);
    });
    let marks = "";
    let lastX = -9;
    for (const index of faulty) {
      const x = Math.round(scale(index));
      if (x - lastX > 2) marks += "M" + (x - 5) + " 4h10l-5 9z";
      lastX = x;
    }
    if (marks) svg.append(draw("path", { class: "fault", d: marks }));
    line.cursor = svg.appendChild(draw("path", { class: "cursor" }));
    box.replaceChildren(svg);
    moveCursor();
  };

  const drawAxis = (svg, from, to, x, bottom, top) => {
    const rough = (to - from) / Math.max(2, line.width / 130) || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const round = [1, 2, 5, 10].map((one) => one * power);
    const clock = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200].map((one) => one * 1000);
    const step = Math.max((byTime && rough > 500 ? clock : round).find((one) => one >= rough) || round[3], 1);
    for (let value = Math.ceil(from / step) * step; value <= to; value += step) {
      svg.append(draw("path", { class: "grid", d: "M" + x(value) + " " + (top - 2) + "V" + (bottom + 4) }));
      svg.append(draw("text", { class: "tick", x: x(value), y: bottom + 16, "text-anchor": x(value) < 20 ? "start" : "middle" }, byTime ? duration(value) : String(value)));
    }
  };

  const drawGaps = (svg, scale, across, top, bottom) => {
    // The longest silences, where they are long enough to be seen and to be labelled.
    const gaps = rows.map((row, index) => [row.silence || 0, index]).filter(([silence]) => silence > (latest - earliest) / 12);
    for (const [silence, index] of gaps.sort((a, b) => b[0] - a[0]).slice(0, 3)) {
      const [x, end] = [across(rows[index].place - silence), scale(index)];
      svg.append(draw("rect", { class: "gap", x, y: top - 2, width: Math.max(end - x, 1), height: bottom - top + 4 }));
      if (end - x > 70) svg.append(draw("text", { class: "tick", x: (x + end) / 2, y: top - 7, "text-anchor": "middle" }, "silent " + duration(silence)));
    }
  };

  const drawGroups = (svg, kind, scale, y) => {
    let bars = "";
    let ticks = "";
    let lost = "";
    let lastX = -1;
    const labels = [];
    groups.forEach((group, index) => {
      if (group.kind !== kind) return;
      const marks = [...pieces[index].map(([event]) => event), ...(group.end === null ? [] : [group.end])].map((event) => scale(nearest(event)));
      const [x, end] = marks.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [Infinity, -Infinity]);
      const bar = "M" + x.toFixed(1) + " " + (y + 4) + "H" + Math.max(end, x + 3).toFixed(1) + "v16H" + x.toFixed(1) + "z";
      if (group.fate === "done") bars += bar;
      else lost += bar;
      if (end - x > 150 && group.rate !== null) labels.push([(x + end) / 2, number(group.rate) + " " + group.unit + "/s"]);
      for (const [event] of pieces[index]) {
        const at = Math.round(scale(rowOf.get(event)));
        if (at !== lastX) ticks += "M" + at + ".5 " + (y + 4) + "v16"; // one for each pixel is all that can be seen
        lastX = at;
      }
    });
    if (bars) svg.append(draw("path", { class: "bar-done " + colour(kind), d: bars }));
    if (lost) svg.append(draw("path", { class: "bar-lost " + colour(kind), d: lost }));
    svg.append(draw("path", { class: "ticks " + colour(kind), d: ticks }));
    for (const [x, text] of labels) svg.append(draw("text", { class: "rate", x, y: y + 16, "text-anchor": "middle" }, text));
  };

  const moveCursor = () => line.cursor.setAttribute("d", "M" + line.scale(selected) + " 2V" + line.cursor.ownerSVGElement.height.baseVal.value);

  byId("line").addEventListener("click", (event) => {
    const x = event.clientX - byId("line").getBoundingClientRect().left;
    let best = 0;
    for (const row of visible) if (Math.abs(line.scale(row) - x) < Math.abs(line.scale(best) - x) || best === 0) best = row;
    select(best);
  });

  // ---- The list: only the events in view are in the document ------------------------------------------------------

  const list = byId("list");
  const space = byId("space");
  let visible = []; // the rows that the filters leave
  let tops = [0]; // the first line of each, and at the end the number of lines
  let selected = 0;
  let drawn = "";

  const linesOf = (row) => Math.min(row.moves.length, MOST_LINES) + (row.moves.length > MOST_LINES || row.more ? 1 : 0) + row.faults.length;

  const filter = () => {
    const only = byId("group").value;
    const faults = byId("faulty").checked;
    visible = [];
    rows.forEach((row, index) => {
      if (faults && !row.faults.length) return;
      if (only !== "" && !row.moves.some((move) => move[GROUP] === +only)) return;
      visible.push(index);
    });
    tops = [0];
    for (const index of visible) tops.push(tops[tops.length - 1] + linesOf(rows[index]));
    space.style.height = tops[tops.length - 1] * HEIGHT + "px";
    byId("count").textContent = visible.length === rows.length ? number(data.events) + " events" : number(visible.length) + " of " + number(rows.length);
    drawn = "";
    if (visible.length && !visible.includes(selected)) select(visible.find((index) => index >= selected) ?? visible[visible.length - 1]);
    else if (visible.length) reveal();
    drawList();
  };

  const positionOf = (row) => {
    let [low, high] = [0, visible.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (visible[middle] < row) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const at = (lineNumber) => {
    let [low, high] = [0, visible.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle + 1] <= lineNumber) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const drawList = () => {
    const first = at(Math.floor(list.scrollTop / HEIGHT) - 8);
    const last = Math.min(at(Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + 8) + 1, visible.length);
    const key = first + " " + last;
    if (key !== drawn) {
      drawn = key;
      const options = [];
      for (let position = first; position < last; position += 1) options.push(option(position));
      space.replaceChildren(...options);
    }
    for (const one of space.children) one.setAttribute("aria-selected", String(+one.dataset.row === selected));
    const current = byId("row-" + selected);
    if (current) list.setAttribute("aria-activedescendant", current.id);
    else list.removeAttribute("aria-activedescendant");
  };

  const option = (position) => {
    const index = visible[position];
    const row = rows[index];
    const element = make("div", {
      role: "option", id: "row-" + index, "data-row": index, "aria-selected": "false",
      "aria-posinset": position + 1, "aria-setsize": visible.length,
      class: "row" + (row.faults.length ? " faulty" : ""),
    });
    element.style.top = tops[position] * HEIGHT + "px";
    row.moves.slice(0, MOST_LINES).forEach((move, at) => element.append(moveLine(row, move, at)));
    if (row.moves.length > MOST_LINES || row.more)
      element.append(make("div", { class: "move rest" }, "and " + number(row.moves.length - MOST_LINES + (row.more || 0)) + " more items"));
    for (const fault of row.faults) {
      const one = diagnostics[fault];
      element.append(make("div", { class: "fault " + one.severity },
        make("strong", {}, one.severity + "[" + one.code + "]"), " " + show(one.message),
        one.expected.length ? make("span", { class: "due" }, " expected: " + one.expected.join(", ")) : null));
    }
    return element;
  };

  const moveLine = (row, move, at) => {
    const since = at === 0 && row.since !== null && row.since !== undefined ? (row.since < 0 ? "" : "+") + duration(row.since) : "";
    const changed = move[BEFORE] !== move[AFTER];
    return make("div", { class: "move" },
      make("span", { class: "index" }, at ? "" : row.end ? "end" : String(row.event)),
      make("span", { class: "since" + (row.since > 1000 ? " long" : "") }, since),
      symbolOf(move),
      make("span", { class: "action" }, move[ACTION]),
      make("span", { class: "after" + (changed ? " changed" : "") }, (changed ? "\u2192 " : "\u00b7 ") + move[AFTER]),
      make("span", { class: "brings" }, move[PIECE] === undefined ? show(brief(row)) : show(move[PIECE].slice(0, 160))));
  };

  const brief = (row) => (row.end ? "nothing more comes" : row.raw.slice(0, 160));

  const reveal = () => {
    const position = positionOf(selected);
    if (visible[position] !== selected) return;
    const [top, bottom] = [tops[position] * HEIGHT, tops[position + 1] * HEIGHT];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = Math.min(top, bottom - list.clientHeight);
  };

  const select = (index) => {
    selected = index;
    reveal();
    drawList();
    drawDetail();
    drawMessage();
    light();
    moveCursor();
  };

  const step = (by) => {
    if (visible.length) select(visible[Math.max(0, Math.min(positionOf(selected) + by, visible.length - 1))]);
  };

  const toFault = (by) => {
    const next = by > 0 ? faulty.find((index) => index > selected) : faulty.findLast((index) => index < selected);
    if (next === undefined) return;
    if (!visible.includes(next)) byId("group").value = "";
    if (!visible.includes(next)) filter();
    select(next);
  };

  // ---- Details of the selected event -----------------------------------------------------------------------------

  const link = (event, text) => {
    const button = make("button", { type: "button", class: "link" }, text);
    button.addEventListener("click", () => {
      byId("group").value = "";
      byId("faulty").checked = false;
      filter();
      select(nearest(event));
    });
    return button;
  };

  const drawDetail = () => {
    const row = rows[selected];
    byId("event-title").textContent = row.end ? "The end" : "Event " + row.event + (row.line ? ", line " + row.line : "");
    const facts = [];
    if (row.at !== null && selected) facts.push(duration(Math.abs(row.at)) + (row.at < 0 ? " before the first" : " after the first"));
    if (row.since !== null && row.since !== undefined) facts.push(duration(Math.abs(row.since)) + (row.since < 0 ? " before the last" : " after the last"));
    const parts = [];
    if (facts.length) parts.push(make("p", { class: "dim" }, facts.join(", ")));
    row.moves.slice(0, MOST_LINES).forEach((move) => {
      const group = move[GROUP] === undefined ? null : groups[move[GROUP]];
      parts.push(make("p", { class: "path" }, make("code", {}, move[BEFORE]), " \u2192 ", symbolOf(move),
        move[ACTION] ? " (" + move[ACTION] + ")" : "", " \u2192 ", make("code", {}, move[AFTER])));
      if (group) parts.push(make("p", { class: "dim" }, about(group, move[GROUP])));
    });
    for (const fault of row.faults) parts.push(diagnosticBox(diagnostics[fault]));
    if (row.raw) parts.push(make("h3", {}, "The record as it stands"), make("pre", { class: "raw" }, show(row.raw)));
    byId("detail").replaceChildren(...parts);
    byId("event").scrollTop = 0;
  };

  const about = (group, index) =>
    "group " + (index + 1) + ": " + group.fate + ", " + count(group.fragments, "fragment") + ", " + number(group.size) + " " + group.unit +
    (group.rate === null ? "" : ", " + number(group.rate) + " a second");

  const diagnosticBox = (one) => {
    const box = make("div", { class: "diagnostic " + one.severity },
      make("p", {}, make("strong", {}, one.severity + "[" + one.code + "]"), " " + show(one.message)));
    if (one.excerpt)
      box.append(make("pre", {}, show(one.excerpt[0]), make("mark", {}, show(one.excerpt[1])), show(one.excerpt[2])));
    const facts = make("dl", {});
    const add = (name, ...value) => facts.append(make("div", {}, make("dt", {}, name), make("dd", {}, ...value)));
    add("state", make("code", {}, one.state));
    if (one.expected.length) add("expected", ...one.expected.flatMap((symbol, at) => [at ? ", " : "", make("code", {}, symbol)]));
    if (one.pointer) add("where", make("code", {}, show(one.pointer)));
    for (const related of one.related) add("see", link(related.event, "event " + related.event), " " + show(related.message));
    add("help", one.mend);
    add("rule", one.rule);
    box.append(facts);
    return box;
  };

  // ---- The message as built so far ---------------------------------------------------------------------------------

  const drawMessage = () => {
    const event = rows[selected].event;
    const begun = groups.filter((group) => group.first <= event).length; // groups stand in the order of their first events
    const items = [];
    if (begun > MOST_ITEMS) items.push(make("p", { class: "dim" }, count(begun - MOST_ITEMS, "earlier item")));
    for (let index = Math.max(0, begun - MOST_ITEMS); index < begun; index += 1) items.push(item(index, event));
    if (!begun) items.push(make("p", { class: "dim" }, "Nothing yet."));
    byId("built").replaceChildren(...items);
    const last = byId("built").querySelector(".now");
    if (last) byId("message").scrollTop = Math.max(0, last.offsetTop - byId("message").clientHeight / 2);
  };

  const item = (index, event) => {
    const group = groups[index];
    const so = pieces[index].filter(([at]) => at <= event);
    const done = so.find(([, move]) => move[DONE]);
    const state = group.end !== null && group.end <= event ? group.fate : "open";
    const header = Object.entries(group.header).map(([name, value]) => name + " " + show(value)).join(", ");
    const box = make("article", { class: "item " + colour(group.kind) },
      make("h3", {}, group.kind, make("span", { class: "dim" }, [state === "done" ? "" : state, header].filter(Boolean).join(" \u00b7 "))));
    const text = make("div", { class: "content" });
    const now = so.length ? so[so.length - 1] : null;
    if (done) text.append(content(done[1][PIECE], ""));
    else {
      const fresh = now && now[0] === event ? now[1][PIECE] : "";
      const old = so.slice(0, fresh ? -1 : undefined).map(([, move]) => move[PIECE]).join(group.join);
      text.append(content(old, old && fresh ? group.join : ""), make("ins", { class: "now" }, show(fresh, true)));
    }
    if (done && done[0] === event) box.classList.add("now");
    box.append(text);
    return box;
  };

  const content = (text, tail) => {
    const cut = text.length - MOST_TEXT;
    return (cut > 0 ? "[\u2026 " + number(cut) + " earlier characters] " : "") + show(cut > 0 ? text.slice(cut) : text, true) + tail;
  };

  // ---- The machine ---------------------------------------------------------------------------------------------------

  const machine = byId("machine");
  const nodes = [...machine.querySelectorAll("[data-state]")];
  const edges = [...machine.querySelectorAll("[data-edge]")];
  const light = () => {
    const { moves } = rows[selected];
    const state = moves.length ? moves[moves.length - 1][AFTER] : data.initial;
    const ways = new Set(moves.map((move) => move[BEFORE] + " " + move[AFTER] + (move[RULE] ? " !" : "")));
    for (const node of nodes) node.classList.toggle("lit", node.dataset.state === state);
    for (const edge of edges) edge.classList.toggle("lit", ways.has(edge.dataset.edge + (edge.classList.contains("refused") ? " !" : "")));
    byId("state").textContent = state;
  };

  // ---- Controls --------------------------------------------------------------------------------------------------------

  const KEYS = {
    ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1),
    PageDown: () => step(Math.max(1, Math.floor(list.clientHeight / HEIGHT) - 1)),
    PageUp: () => step(-Math.max(1, Math.floor(list.clientHeight / HEIGHT) - 1)),
    Home: () => step(-Infinity), End: () => step(Infinity),
    n: () => toFault(1), p: () => toFault(-1), f: () => byId("faulty").click(),
  };
  // Single letters work while the list has the focus alone, so that they are in nobody's way (WCAG 2.1.4).
  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  list.addEventListener("click", (event) => {
    const row = event.target.closest("[data-row]");
    if (row) select(+row.dataset.row);
  });
  list.addEventListener("scroll", () => requestAnimationFrame(drawList), { passive: true });
  byId("faulty").addEventListener("change", filter);
  byId("group").addEventListener("change", filter);
  byId("before").addEventListener("click", () => toFault(-1));
  byId("after").addEventListener("click", () => toFault(1));
  for (const radio of document.getElementsByName("scale")) {
    radio.checked = (radio.value === "time") === byTime;
    radio.disabled = !byTime;
    radio.addEventListener("change", () => {
      byTime = document.querySelector("[name=scale]:checked").value === "time";
      drawLine();
    });
  }
  byId("before").disabled = byId("after").disabled = !faulty.length;
  byId("group").append(make("option", { value: "" }, "all groups"));
  groups.forEach((group, index) => byId("group").append(make("option", { value: index },
    index + 1 + " " + group.kind + ", from event " + group.first + (group.fate === "done" ? "" : ", " + group.fate))));

  head();
  drawLine();
  filter();
  select(faulty.length ? faulty[0] : 0);
  new ResizeObserver(() => {
    if (byId("line").clientWidth !== line.width) drawLine();
    drawn = "";
    drawList();
  }).observe(byId("line"));
  new ResizeObserver(() => drawList()).observe(list);
})();
