// Search as you type. Each request has a number; an answer with an older
// number is dropped.

import { get, stream } from "./api.js";
import { app } from "./frame.js";
import { article, drawLines, pathArticle, toMatch } from "./hits.js";
import { btn, code, foldKeys, h, icon, ms, n, notice, plural, realPath, safe } from "./dom.js";
import { Peek } from "./peek.js";
import { Rail } from "./rail.js";

const modes = [["text", "Text"], ["regex", "Regex"], ["words", "Words"], ["paths", "Files"], ["symbols", "Symbols"], ["uses", "Uses"]];
// What the address says; the defaults are left out of it.
const blank = { q: "", mode: "text", case: "", word: "", glob: "", type: "", hidden: "", ignored: "", at: "" };
let state = { ...blank };
let box, els, peek, rail;
let number = 0, running = null, keyed = 0;
let answer = null; // of the last request: its files, its receipt
let watcher = null;

function addressOf(st) {
  const p = new URLSearchParams();
  for (const [k, v] of Object.entries(st)) if (v !== blank[k]) p.set(k, v);
  const text = p.toString().replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
  return "/search" + (text ? "?" + text : "");
}

// A name after an @ is one of a definition, in every mode.
const atName = (st) => (/^@[\p{L}_]/u.test(st.q) ? { ...st, q: st.q.slice(1), mode: "symbols" } : st);
const modeNow = () => atName(state).mode;
const question = (given) => { const st = atName(given); return { q: st.q, mode: st.mode === "text" ? "" : st.mode, case: st.case, word: st.word, glob: st.glob, type: st.type, hidden: st.hidden, ignored: st.ignored }; };
const same = (a, b) => JSON.stringify(question(a)) === JSON.stringify(question(b));

function set(change, { push = false } = {}) {
  const next = { ...state, ...change };
  app.go(addressOf(next), { push });
}

// ---- the box

function bindBox(q, caseButton, wordButton) {
  box = { q, caseButton, wordButton };
  q.addEventListener("input", () => {
    keyed = performance.now();
    if (document.documentElement.dataset.view !== "search") {
      app.go(addressOf({ ...blank, q: q.value }));
      q.focus();
      return;
    }
    set({ q: q.value, at: "" });
  });
  caseButton.addEventListener("click", () => set({ case: state.case ? "" : "1" }));
  wordButton.addEventListener("click", () => set({ word: state.word ? "" : "1" }));
}

// ---- asking

async function ask({ offset = 0 } = {}) {
  if (offset) drawFiles(answer, Infinity); // what still waits to be drawn is part of the answer that goes on
  const mine = ++number;
  running?.abort();
  running = new AbortController();
  clearTimeout(colouring);
  clearTimeout(counting);
  toColour.clear();
  queue = [];
  clearTimeout(drawing);
  clearTimeout(settling);
  drawing = 0;
  const started = keyed || performance.now();
  keyed = 0;
  if (!state.q) { showStart(); return; }
  const got = offset ? answer : { files: [], done: null, shown: 0, error: null, hits: 0 };
  let fresh = !offset; // the old results are still on the page
  const replace = () => { if (fresh) { fresh = false; clearHits(); rail.begin(); } };
  // Old results stay until the first new ones arrive, at most 150 ms. What says
  // that a search runs comes then too: an animation is a frame at each key.
  const patience = setTimeout(() => {
    if (mine !== number) return;
    app.busy(true);
    els.main.setAttribute("aria-busy", "true");
    if (fresh) { replace(); bones(true); els.status.replaceChildren(h("span", { class: "tag acc" }, "searching")); }
  }, 150);
  let painted = offset > 0;
  const asked = performance.now();
  try {
    await stream("/api/search", { ...question(state), offset: offset || "" }, running.signal, (list) => {
      if (mine !== number) return;
      const arrived = performance.now();
      const files = [];
      for (const one of list) {
        if (one.file) files.push(one.file);
        else if (one.done) got.done = one.done;
        else if (one.error) got.error = one.error;
      }
      if (files.length) {
        replace();
        answer = got;
        append(got, files);
        if (!painted) { painted = true; measure(started, { asked: asked - started, arrived: arrived - started, drawn: performance.now() - started }); }
        if (!got.done && !(arrived - got.said < 100)) { got.said = arrived; status(got, true); }
      }
    });
  } catch (e) {
    if (e.name === "AbortError") return;
    got.error = { message: e.message, hint: e.hint, unanswered: e.status === 0 };
    app.whenBack(e, () => { if (mine === number) ask(); });
  } finally {
    clearTimeout(patience);
    if (mine === number) { app.busy(false); els.main.removeAttribute("aria-busy"); }
  }
  if (mine !== number) return;
  replace();
  answer = got;
  bones(false);
  if (got.error) showError(got.error); else finish(got);
}

// measure notes when the first hit of a key press was painted, and in detail when
// it was asked for, came, and was drawn.
function measure(started, detail) {
  requestAnimationFrame(() => {
    const c = new MessageChannel();
    c.port1.onmessage = () => {
      performance.measure("key-to-hit", { start: started, end: performance.now(), detail });
      if (performance.getEntriesByName("key-to-hit").length > 1000) performance.clearMeasures("key-to-hit");
    };
    c.port2.postMessage(0);
  });
}

// ---- showing

function enter(main) {
  main.className = "search";
  const hits = h("div", { class: "hits", role: "region", "aria-label": "Results" });
  rail = new Rail({ set, address: (change) => addressOf({ ...state, ...change }), search: () => state });
  els = { main, hits, list: h("div", { class: "list-of-hits" }), tail: h("div", { class: "tail" }) };
  hits.append(els.list, els.tail);
  peek = new Peek({ onClose: closeFile, onLine: (path, line) => app.note(addressOf({ ...state, at: `${path}:${line}` })) });
  main.append(rail.el, hits, peek.el);
  watcher = new IntersectionObserver(colourVisible, { rootMargin: "200px" });
  app.keys(["/", "search"], ["j k", "move"], ["enter", "open"], ["o", "editor"], ["y", "copy"], ["f", "filters"], ["?", "all keys"]);
  hits.addEventListener("click", (e) => {
    const a = e.target.closest("a.hit, a.pathhit");
    if (!a || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    select(a, { open: true });
    if (!e.detail) peek.focus(); // by a key
  });
  answer = null;
  state = { ...blank, q: "\0" }; // whatever the address says is new
}

function leave() {
  running?.abort();
  number++;
  watcher?.disconnect();
  peek?.stop();
  app.busy(false);
  box.caseButton.setAttribute("aria-pressed", "false");
  box.wordButton.setAttribute("aria-pressed", "false");
}

function update(url) {
  const next = { ...blank };
  for (const k of Object.keys(blank)) if (url.searchParams.has(k)) next[k] = url.searchParams.get(k);
  if (!modes.some(([m]) => m === next.mode)) next.mode = "text";
  const before = state;
  state = next;
  search.last = url.search;
  if (box.q.value !== state.q) box.q.value = state.q;
  box.caseButton.setAttribute("aria-pressed", String(!!state.case));
  box.wordButton.setAttribute("aria-pressed", String(!!state.word));
  app.title(state.q);
  if (!same(before, state) || before.q === "\0") {
    if (!els.status) bar();
    ask(); // first: the answer is on its way while the rest is drawn
    // Of a key press, only addresses in the bar are other ones; drawing it anew
    // would have the answer wait for a layout.
    if (before.q !== "\0" && same({ ...before, q: "" }, { ...state, q: "" })) addresses(); else { bar(); rail.fill(); }
  }
  showFile();
  if (document.activeElement === document.body && !state.at && app.wide) box.q.focus();
}

function bar() {
  const chips = [];
  const chip = (label, change) => chips.push(h("button", { class: "chip", type: "button", "aria-label": `Remove filter ${label}`, onclick: () => set(change) }, label, icon("x")));
  if (state.glob) chip(state.glob, { glob: "" });
  if (state.type) chip(state.type.split(",").join(", "), { type: "" });
  if (state.hidden) chip("hidden", { hidden: "" });
  if (state.ignored) chip("ignored", { ignored: "" });
  els.status = h("div", { class: "status", role: "status" });
  els.modes = modes.filter(([m]) => m !== "uses" || state.mode === m).map(([m, label]) => h("a", { href: addressOf({ ...state, mode: m, at: "" }), "data-mode": m, "aria-current": state.mode === m ? "true" : undefined }, label));
  app.bar("search-bar", h("div", { class: "seg", role: "group", "aria-label": "Search mode" }, els.modes),
  chips, h("span", { class: "grow" }), els.status);
}

function addresses() {
  for (const a of els.modes) a.href = addressOf({ ...state, mode: a.dataset.mode, at: "" });
}

function clearHits() {
  els.list.replaceChildren();
  els.tail.replaceChildren();
  els.selected = null;
  watcher.disconnect();
  els.hits.classList.remove("plain");
  scrollTo(0, 0);
}

function bones(on) {
  if (!on) { els.tail.replaceChildren(); return; }
  els.tail.replaceChildren(h("div", { class: "wait", role: "status" }, "Searching"),
    h("div", { class: "bones", "aria-hidden": "true" }, h("div", { class: "bone a" }), h("div", { class: "bone b" }), h("div", { class: "bone c1" })));
}

// The first lines are painted at once: 12 lines take 6 ms less to lay out and
// paint than 36. Two frames later the window is filled. The others, and what
// stands around them, follow in parts once no key was pressed for a moment: the
// next key and its answer don't wait for what nobody sees yet.
const firstLines = 12, windowLines = 48, partLines = 100, soon = 32, quiet = 80;
const fileHits = 50; // the server gives no more of one file
let queue = [], drawing = 0, settling = 0;

function append(got, files) {
  for (const f of files) {
    if (counted()) f.lines?.forEach((l) => toMatch(l, innerWidth * (app.wide ? (state.at ? 0.4 : 0.8) : 1)));
    const hits = f.place ? 0 : modeNow() === "words" ? 1 : f.lines?.filter((l) => l.h).length ?? 1, last = got.files.at(-1);
    f.hits = hits + (last?.path === f.path ? last.hits : 0); // a page may end in the middle of a file
    if (f.hits >= fileHits) f.more = true;
    got.files.push(f);
    got.hits += hits;
    queue.push({ f, el: null, ol: null, at: 0 });
  }
  if (got.drawn === undefined) got.drawn = 0;
  if (got.drawn < firstLines) drawFiles(got, firstLines - got.drawn);
  else drawLater(got);
}

// drawFiles draws at most so many lines of the files that wait; a file may end in
// a later part.
function drawFiles(got, most) {
  const part = document.createDocumentFragment();
  const first = !got.drawn;
  let lines = 0;
  while (queue.length && lines < most) {
    const one = queue[0], { f } = one;
    if (!one.el) {
      one.el = f.place || modeNow() === "paths" ? pathArticle(f, at(f, f.place ?? 1)) : article(one, modeNow() === "words"); // a definition is a file with one line
      part.append(one.el);
      if (!f.place) rail.count(f);
      lines += 2;
    }
    if (one.ol) lines += drawLines(one, Math.max(1, most - lines), at);
    if (one.ol && one.at < f.lines.length) continue;
    if (one.ol) watcher.observe(one.el); // to be coloured, all of it
    queue.shift();
  }
  got.drawn += lines;
  els.list.append(part);
  if (first && state.at) markAt();
  if (queue.length) drawLater(got);
}

function drawLater(got) {
  if (drawing) return;
  const mine = number, more = windowLines - got.drawn;
  const draw = () => {
    if (mine !== number) return;
    drawing = 0;
    if (more <= 0) got.quiet = true;
    drawFiles(got, more > 0 ? more : partLines);
    if (!queue.length) { rail.facets(); if (got.done && state.at) markAt(); }
  };
  drawing = setTimeout(() => requestAnimationFrame(() => {
    const c = new MessageChannel(); // after that frame is painted
    c.port1.onmessage = draw;
    c.port2.postMessage(0);
  }), more > 0 ? soon : got.quiet ? 0 : quiet);
}

const at = (f, line) => addressOf({ ...state, at: `${f.path}:${line}` });

// colourVisible asks for the colours of files that are in sight.
// They wait until nobody types: colouring is the slowest thing the server does.
let colouring = 0;
const toColour = new Set();
function colourVisible(entries) {
  for (const e of entries) {
    if (!e.isIntersecting) continue;
    watcher.unobserve(e.target);
    toColour.add(e.target);
  }
  clearTimeout(colouring);
  colouring = setTimeout(async () => {
    const mine = number;
    for (const el of toColour) {
      toColour.delete(el);
      if (mine === number && el.isConnected) await colour(el, mine);
      if (mine !== number) return;
    }
  }, 120);
}

async function colour(el, mine) {
  const { file } = el;
  const spans = [];
  for (const l of file.lines ?? []) {
    if (l.l || l.r) continue; // a cut line doesn't line up
    const k = spans.length - 1;
    if (k >= 0 && spans[k][1] === l.n - 1) spans[k][1] = l.n; else spans.push([l.n, l.n]);
  }
  if (!spans.length) return;
  let res;
  try {
    res = await get("/api/colours", { path: file.path, lines: spans.map(([a, b]) => `${a}-${b}`).join(",") }, running?.signal);
  } catch { return; }
  if (mine !== number || !res.lines) return;
  for (const l of file.lines) {
    const c = res.lines[l.n];
    // The file may have changed since it was searched.
    if (!c || c.reduce((sum, x) => sum + (typeof x === "number" ? x : 0), 0) !== l.t.length) continue;
    el.querySelector(`[data-line="${l.n}"] .src`)?.replaceChildren(...code(l.t, c, l.s));
  }
}

const unitOf = (d) => ({ passages: "passage", files: "file", definitions: "definition", uses: "use" })[d?.unit] ?? "matching line";

function status(got, underWay) {
  const unit = unitOf(got.done);
  const nodes = [];
  if (underWay) {
    nodes.push(h("span", { class: "tag acc" }, "searching"), h("b", null, n(got.hits)), " in ", h("b", null, n(got.files.length)), ` ${got.files.length === 1 ? "file" : "files"} so far`);
  } else {
    const d = got.done;
    if (d.replaced) nodes.push(h("span", { class: "tag warn", title: "Another folder stands at the workspace's path than before; this is of the new one." }, "folder replaced"), " ");
    if (d.stopped) nodes.push(h("span", { class: "tag warn" }, icon("cut"), "cut"), "first ", h("b", null, n(got.hits)), " of ", d.lines > got.hits ? [d.exact ? "" : "at least ", h("b", null, n(d.lines))] : "more", ` ${unit}s`);
    else if (unit === "file") nodes.push(h("b", null, n(d.files)), d.files === 1 ? " file" : " files");
    else nodes.push(h("b", null, n(d.lines)), ` ${d.lines === 1 ? unit : unit + "s"} in `, h("b", null, n(d.files)), d.files === 1 ? " file" : " files");
    nodes.push(" · ", h("span", { title: `first match after ${ms(d.first_ms)}; ${d.plan === "scan" ? "files were read" : "from the index"}` }, ms(d.ms)), d.stopped ? "" : d.missed ? ` · ${plural(d.missed, "file")} not searched` : " · complete");
  }
  els.status.replaceChildren(...nodes.flat());
}

function finish(got) {
  // A page before this one may have cut a file.
  if (!got.done.stopped && got.files.some((f) => f.more)) Object.assign(got.done, { stopped: "file", exact: false });
  status(got, false);
  if (!got.files.length) { rail.receipt(got.done); showZero(got); if (state.type || state.glob) countOthers(); return; }
  settling = setTimeout(() => {
    rail.receipt(got.done);
    if (got.done.stopped) { showCut(got); countLater(); }
    if (state.type || state.glob) countOthers();
    if (state.at) markAt();
  }, quiet);
}

function showCut(got) {
  const d = got.done;
  const more = Math.max(0, d.lines - got.hits);
  const unit = unitOf(d);
  const why = d.stopped === "time" ? "The search took too long and was ended." : d.stopped === "file" ? `Of one file at most ${fileHits} matching lines are shown; open it to see the others.` : null;
  els.tail.replaceChildren(notice("warn", "cut",
    h("p", null, h("b", null, "This answer is cut."), ` It shows ${plural(got.hits, unit)} in ${plural(got.files.length, "file")}. ${more ? `${d.exact ? "" : "At least "}${plural(more, `more ${unit}`)} ${more === 1 ? "is" : "are"} not shown.` : "There are more."}`),
    h("p", { class: "sub sm" }, why ?? (d.unit === "lines" ? "Matches are shown in path order, so a later file can hold a better one." : "The best come first.")),
    h("div", { class: "btns" },
      modeNow() === "words" || d.unit === "definitions" || d.stopped === "file" ? null : btn("Show more", { cls: "small", key: "m", onclick: more_ }),
      d.unit === "lines" && !d.exact ? btn("Count exactly", { cls: "small", onclick: () => count({ exact: "1" }) }) : null)));
}

function more_() {
  if (!answer?.done?.stopped || answer.done.stopped === "file" || modeNow() === "words" || answer.done.unit === "definitions") return false;
  ask({ offset: answer.hits });
}

// counted says whether the server counts what such a search finds.
const counted = () => ["text", "regex"].includes(modeNow());

// countOthers counts what a filter by type or folder hides, so that its facets can be
// told and chosen.
function countOthers() {
  if (!counted()) return;
  const mine = number;
  for (const [key, facet] of [["type", "types"], ["glob", "folders"]]) {
    if (!state[key]) continue;
    stream("/api/search", { ...question(state), [key]: "", count: "1" }, running?.signal, ([one]) => {
      if (mine === number && one.done) rail.countAll({ [facet]: one.done[facet], stopped: one.done.stopped });
    }).then(() => { if (mine === number) rail.facets(); }, () => {}); // the counts of before stay
  }
}

// countLater counts what is not shown once nobody types.
let counting = 0;
function countLater() {
  if (!counted()) return;
  clearTimeout(counting);
  counting = setTimeout(() => count({ count: "1" }), 250);
}

async function count(how) {
  const mine = number;
  try {
    await stream("/api/search", { ...question(state), ...how }, running?.signal, ([one]) => {
      if (mine !== number || !one.done || !answer?.done) return;
      const d = Object.assign(answer.done, { lines: one.done.lines, files: one.done.files, exact: !one.done.stopped });
      if (d.exact) { // every file was searched for it
        Object.assign(d, { considered: one.done.considered, skipped: one.done.skipped, missed: one.done.missed, examples: one.done.examples });
        if (d.stopped === "file" && d.lines === answer.hits) d.stopped = ""; // none is missing
      }
      drawFiles(answer, Infinity); // what is drawn later would be counted again
      rail.countAll(one.done);
      status(answer, false);
      rail.receipt(d);
      if (d.stopped) showCut(answer); else els.tail.replaceChildren();
    });
  } catch (e) { if (e.name !== "AbortError") app.fail(e); }
}

function showError(err) {
  els.status.replaceChildren(h("span", { class: "tag bad" }, "not searched"));
  const hint = (err.hint || "").trim(), pattern = modeNow() === "regex" && !err.unanswered;
  els.tail.replaceChildren(notice("bad", "warn", h("p", null, h("b", null, pattern ? "This pattern can't be used." : "This can't be searched.")),
    h("p", { class: "mono pre" }, safe(err.message)), hint ? h("p", { class: "sub pre" }, safe(hint)) : null,
    pattern ? h("div", { class: "btns" }, btn("Search for it as plain text", { cls: "small", onclick: () => set({ mode: "text" }) })) : null));
}

async function showZero(got) {
  const mine = number, d = got.done;
  const skipped = Object.entries(d.skipped ?? {}).filter(([k]) => k !== "filtered").reduce((s, [, v]) => s + v, 0);
  const zero = h("div", { class: "zero" }, h("h2", null, "No match for ", h("code", null, safe(state.q))),
    h("p", null, d.unit === "definitions" ? "No definition has such a name." : modeNow() === "paths"
      ? `None of ${plural(d.considered, "path")} has it.`
      : `${d.considered === 0 ? "No file passes the filters." : state.glob || state.type ? "All files that pass the filters were searched, changes of a moment ago included." : `All ${plural(d.considered, "file")} in ${app.about.name} were searched, changes of a moment ago included.`}`,
    skipped ? [` ${plural(skipped, "entry", "entries")} skipped: `, h("a", { href: "#receipt", onclick: (e) => { e.preventDefault(); rail.showReceipt(); } }, "see which"), "."] : null));
  els.tail.replaceChildren(zero);
  let res;
  try { res = await get("/api/suggest", question(state), running?.signal); } catch { return; }
  if (mine !== number || !res.suggestions.length) return;
  zero.append(h("ul", { class: "sugg" }, res.suggestions.map((sg, i) => h("li", null,
    h("a", { class: i ? "" : "on", href: addressOf({ ...state, ...fromSet(sg.set), at: "" }) }, icon(sg.set.mode !== undefined ? "search" : "filter"), h("span", null, sg.label),
      h("span", { class: "num" }, sg.files === 1 && !sg.more ? safe(realPath(sg.first), true) : plural(sg.files, "file") + (sg.more ? " or more" : "")))))));
}

function fromSet(change) {
  const out = {};
  for (const [k, v] of Object.entries(change)) out[k] = v || blank[k];
  return out;
}

function showStart() {
  app.busy(false);
  clearHits();
  els.hits.classList.add("plain");
  els.status.replaceChildren();
  rail.receipt(null);
  const example = (q, mode, what) => h("li", null, h("a", { href: addressOf({ ...blank, q, mode }) }, icon("search"), h("span", null, h("code", null, q)), h("span", { class: "num" }, what)));
  els.tail.replaceChildren(h("div", { class: "zero start" }, h("h2", null, `Search ${app.about.name}`),
    h("p", null, "Type to search as you type. Results come in path order with what was skipped and why; every answer is complete or says that it is cut."),
    h("ul", { class: "sugg" }, example("TODO", "text", "plain text, any case"), example("func \\w+Test", "regex", "regular expression, Rust syntax"), example("parse config file", "words", "passages ranked by words"), example("readme", "paths", "parts of a path, also misspelt, or a glob"), example("@main", "text", "a definition by its name"))));
}

// ---- selecting and opening

const hitsNow = () => [...els.list.querySelectorAll(".file:not(.folded) a.hit")];

function select(a, { open = false, focus = true } = {}) {
  els.selected?.classList.remove("on");
  els.selected?.removeAttribute("aria-current");
  els.selected = a;
  a.classList.add("on");
  a.setAttribute("aria-current", "true");
  if (focus) a.focus({ preventScroll: true });
  reveal(a);
  const to = a.getAttribute("href");
  clearTimeout(select.timer);
  if (open) app.go(to, { push: true });
  else if (app.wide) { select.timer = setTimeout(() => app.go(to, { push: false }), 60); }
}

function reveal(el) {
  const r = el.getBoundingClientRect(), top = 150, bottom = innerHeight - 60;
  if (r.top < top) scrollBy(0, r.top - top); else if (r.bottom > bottom) scrollBy(0, r.bottom - bottom);
}

function move(step) {
  const all = hitsNow();
  if (!all.length) return false;
  const i = els.selected ? all.indexOf(els.selected) + step : step > 0 ? 0 : all.length - 1;
  select(all[Math.max(0, Math.min(i, all.length - 1))]);
}

// In the file the keys are those of the file.
const inPane = () => peek.has(document.activeElement);
const step = (by) => (inPane() ? peek.step(by) : move(by));

function moveFile(step) {
  const files = [...els.list.querySelectorAll("article.file")];
  const here = files.indexOf(els.selected?.closest("article.file"));
  const f = files[Math.max(0, Math.min(here + step, files.length - 1))];
  const a = f?.querySelector("a.hit");
  if (!a) return false;
  select(a);
}

function splitAt(text) {
  const m = /^(.*?)(?::(\d+))?$/s.exec(text);
  return [m[1], Number(m[2] || 1)];
}

function markAt() {
  const [path, line] = splitAt(state.at);
  for (const el of els.list.children) {
    if (el.file?.path !== path) continue;
    const a = el.querySelector(`a.hit[data-line="${line}"]`);
    if (a && els.selected !== a) {
      els.selected?.classList.remove("on");
      els.selected = a;
      a.classList.add("on");
      a.setAttribute("aria-current", "true");
    }
    return;
  }
}

function showFile() {
  els.main.classList.toggle("with-peek", !!state.at);
  els.main.classList.toggle("alone", !!state.at && !state.q);
  els.main.classList.toggle("reading", !!state.at && !app.wide);
  if (!state.at) { peek.hide(); return; }
  const [path, line] = splitAt(state.at);
  peek.show(path, line, state);
  markAt();
}

function closeFile() {
  if (!state.q && history.state?.key) { history.back(); return; } // it was opened from elsewhere
  const a = els.selected;
  set({ at: "" }, { push: true });
  (a ?? box.q).focus();
}

export const search = {
  last: "",
  bindBox, enter, leave, update,
  resized: () => showFile(),
  live(name) { if (name === "journal") peek.refresh(); },
  find() { // ctrl+f
    if (!state.at || app.wide && !peek.has(document.activeElement)) return false;
    peek.find();
    return true;
  },
  escape(field) {
    if (peek.has(field)) { peek.endFind(); return true; }
    if (field !== box.q) return false;
    field.blur();
    const a = hitsNow()[0];
    if (a) { els.main.focus({ preventScroll: true }); return true; }
    return false;
  },
  fieldKey(e) {
    if (e.target !== box.q) return;
    if (e.key === "ArrowDown" || e.key === "Enter") {
      const a = hitsNow()[0];
      const sugg = els.tail.querySelector(".zero:not(.start) .sugg a");
      if (a) { e.preventDefault(); select(a, { open: e.key === "Enter" && !app.wide }); if (e.key === "Enter" && app.wide) app.go(a.getAttribute("href")); }
      else if (sugg && e.key === "Enter") { e.preventDefault(); app.go(sugg.getAttribute("href")); }
    }
  },
  keys: {
    j: () => step(1), k: () => step(-1), ArrowDown: () => inPane() ? false : move(1), ArrowUp: () => inPane() ? false : move(-1), n: () => moveFile(1), p: () => moveFile(-1),
    Enter: () => { if (!els.selected || inPane()) return false; app.go(els.selected.getAttribute("href")); peek.focus(); },
    o: () => { if (!state.at) return false; app.openInEditor(...splitAt(state.at)); },
    y: () => { if (!state.at) return false; const [p, l] = splitAt(state.at); app.copy(`${realPath(p)}:${l}`, "path and line"); },
    f: () => { const d = rail.el.querySelector("details"); d.open = app.wide || !d.open; rail.glob.focus(); },
    b: () => { if (!state.at) return false; peek.authors(); },
    v: () => { if (!state.at) return false; peek.render(); },
    m: () => more_(),
    ...foldKeys(() => els.list, () => els.selected?.closest(".file")),
    Escape: () => { if (inPane() && app.wide && els.selected) els.selected.focus(); else if (state.at) closeFile(); else return false; },
  },
};
