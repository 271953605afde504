// Who does what now: what waits for the person, and a line for each call of a tool, as
// it is answered.

import { get, post } from "./api.js";
import { app, inTurn } from "./frame.js";
import { badge, btn, bytes, clock, command, h, icon, keepFocus, ms, n, notice, plural, safe } from "./dom.js";
import { does, isOpen, proposed, stateTag, waitClock } from "./states.js";

const shownLines = 500;
let els, calls = [], last = 0, epoch = -1, number = 0, asking = false, again = false, on = true, filter = "", paused = false, proposals = [], there = null, timer = 0;

function enter(main) {
  main.className = "activity";
  els = { main, waits: h("section", { class: "card waits", hidden: true, "aria-label": "Waiting for you" }), agents: h("div", { class: "agents" }), list: h("ol", { class: "calls", "aria-label": "Calls" }), none: h("div") };
  main.append(els.waits, els.agents, els.list, els.none);
  calls = proposals = [];
  there = null;
  last = 0;
  epoch = -1;
  filter = "";
  paused = false;
  app.title("Activity");
  app.keys(["w", "what waits"], ["space", "pause"], ["1 2 3 4 5", "views"], ["?", "all keys"]);
  bar();
  waits().then(load);
  let ticks = 0;
  timer = setInterval(() => { clocks(); if (++ticks % 5 === 0 && !paused && document.visibilityState === "visible") load(); }, 1000); // who is there
}

function leave() { number++; asking = again = false; clearInterval(timer); }

// waits shows the proposals that wait, the one whose agent gives up first on top.
async function waits() {
  if (!app.about.review) return;
  const mine = number;
  try { ({ proposals } = await get("/api/review")); } catch { return; } // the calls say what is wrong
  if (mine !== number) return;
  const open = inTurn(proposals.filter((p) => isOpen(p.state)));
  els.waits.hidden = !open.length;
  keepFocus(els.waits, () => els.waits.replaceChildren(h("h2", null, plural(open.length, "change waits", "changes wait"), " for you ", h("kbd", null, "w")), h("ol", null, open.slice(0, 20).map((p) => h("li", null, h("a", { class: "waitrow", href: review(p), "data-id": p.id }, badge(p.client), h("b", null, safe(p.client, true)), h("code", null, safe(p.tool, true)), h("span", { class: "about" }, proposed(p), " ", does(p)), stateTag(p), h("span", { class: "wait-clock num", "data-p": p.id }))))), open.length > 20 ? h("p", { class: "told" }, `and ${n(open.length - 20)} more`) : ""));
  clocks();
  for (const el of els.list.children) el.replaceWith(line(el.call));
}

const review = (p) => `/review/${encodeURIComponent(p.id)}`;

function clocks() {
  for (const el of els.waits.querySelectorAll("[data-p]")) el.replaceChildren(...waitClock(proposals.find((p) => p.id === el.dataset.p)));
}

const endOf = (c) => new Date(c.t).getTime() + c.ms;

// proposalOf is the proposal that a call made: the first of its session while it ran.
const proposalOf = (c) => proposals.findLast((p) => p.session === c.session && p.client === c.client && p.tool === c.tool && new Date(p.made) >= new Date(c.t) && new Date(p.made) <= endOf(c) + 1);

// leadsTo is where a call leads: the proposal or the change it made, else the file or
// the search it was about.
function leadsTo(c, p) {
  if (p) return review(p);
  if (c.made) return `/changes/${encodeURIComponent(c.made)}`;
  const about = (c.about ?? "").split(" · ")[0];
  if (!about || about.startsWith("(") || about.endsWith("…") || about === ".") return null;
  if (/search|grep|find|symbol/.test(c.tool)) return `/search?q=${encodeURIComponent(/symbol/.test(c.tool) ? `@${about}` : about)}${/path|file|glob/.test(c.tool) ? "&mode=paths" : ""}`;
  return /read|file|edit|info|outline/.test(c.tool) ? `/search?at=${encodeURIComponent(about)}:1` : null;
}

// load asks for what is new. While an answer is on its way, further news wait for one
// more question.
async function load() {
  if (asking) { again = true; return; }
  asking = true;
  const mine = number;
  try {
    const res = await get("/api/activity", { after: last || "" });
    if (mine !== number) return;
    on = res.on;
    if (on && res.epoch !== epoch && epoch >= 0 && last) { // lines are gone
      epoch = res.epoch;
      last = 0;
      calls = [];
      els.list.replaceChildren();
      asking = false;
      load();
      return;
    }
    if (on) ({ last, epoch } = res);
    there = res.there ? new Set(res.there) : null;
    take(res.calls.map((c) => ({ ...c, made: res.made?.[c.n] })));
  } catch (e) {
    if (mine !== number) return;
    els.none.replaceChildren(notice("bad", "warn", h("p", { class: "pre" }, safe(e.message))));
    app.whenBack(e, () => { if (mine === number) load(); });
  } finally {
    if (mine === number) asking = false;
  }
  if (again) { again = false; setTimeout(() => { if (mine === number) load(); }, 250); }
}

const nameOf = (c) => (c.session ? `${c.client} · ${c.session.slice(0, 4)}` : c.client);

function take(fresh) {
  calls.push(...fresh);
  calls = calls.slice(-shownLines);
  const part = document.createDocumentFragment();
  for (const c of [...fresh].reverse().slice(0, shownLines)) part.append(line(c));
  els.list.prepend(part);
  while (els.list.childElementCount > shownLines) els.list.lastElementChild.remove();
  els.none.replaceChildren(...(on ? (calls.length ? [] : [h("div", { class: "empty" }, h("h2", null, "No calls yet"), h("p", null, "Every call of a tool by an agent shows here as it is answered: who, which tool, what about, how long and how large the answer was. Lines are kept on this machine for a day."))])
    : [h("div", { class: "empty" }, h("h2", null, "Calls are not kept"), h("p", null, "mcp.activity is false in quarry.toml, so nothing is written. To keep a line for each call, for a day:"), command("quarry config set mcp.activity true"))]));
  agents();
  bar();
}

function line(c) {
  const p = proposalOf(c), to = leadsTo(c, p), waited = p && c.error === "TIMEOUT";
  const about = [safe(c.about ?? "", true)];
  const tag = p && isOpen(p.state) ? h("span", { class: "tag warn" }, "waits for you") : waited ? stateTag(p) : c.error ? h("span", { class: "tag bad" }, safe(c.error, true)) : h("span");
  const el = h("li", { class: `call${c.error && !waited ? " failed" : ""}`, "data-of": nameOf(c), "data-id": c.t }, h("time", { class: "num", title: `began at ${clock(c.t)}` }, clock(endOf(c))), badge(c.client), h("span", { class: "cname" }, safe(nameOf(c), true)), h("code", null, safe(c.tool, true)),
    to ? h("a", { class: "about", href: to }, c.about ? about : p ? "the proposal" : "the change") : h("span", { class: "about" }, about), tag, h("span", { class: "num r" }, c.ms < 1000 ? ms(c.ms) : `${(c.ms / 1000).toFixed(1)} s`), h("span", { class: "num r dim" }, bytes(c.bytes)));
  el.hidden = !!filter && el.dataset.of !== filter;
  el.call = c;
  return el;
}

// agents shows each connection: its last call, and how many there were in a minute.
function agents() {
  const by = new Map();
  for (const c of calls) {
    const a = by.get(nameOf(c)) ?? { client: c.client, total: 0, minute: 0 };
    a.total++;
    if (Date.now() - new Date(c.t) < 60000) a.minute++;
    a.call = c;
    by.set(nameOf(c), a);
  }
  keepFocus(els.agents, () => els.agents.replaceChildren(...[...by].sort((a, b) => new Date(b[1].call.t) - new Date(a[1].call.t)).slice(0, 12).map(([name, a]) => h("button", { type: "button", class: "agent card", "data-id": name, "aria-pressed": String(filter === name), onclick: () => { filter = filter === name ? "" : name; for (const el of els.list.children) el.hidden = !!filter && el.dataset.of !== filter; agents(); bar(); } },
    badge(a.client), h("b", null, safe(name, true)), there && a.call.session && !there.has(a.call.session) ? h("span", { class: "tag" }, "ended") : h("span", { class: "dim num" }, `${n(a.minute)} a minute`), h("span", { class: "about" }, h("code", null, safe(a.call.tool, true)), " ", safe(a.call.about ?? "", true))))));
}

function bar() {
  app.bar("one", btn(paused ? "Go on" : "Pause", { cls: "small", "aria-pressed": String(paused), onclick: pause }), filter ? h("button", { class: "chip", type: "button", "aria-label": `Show all, not only ${filter}`, onclick: () => els.agents.querySelector("[aria-pressed=true]")?.click() }, safe(filter, true), icon("x")) : null,
    h("span", { class: "grow" }), h("div", { class: "status", role: "status" }, h("b", null, n(calls.length)), ` ${calls.length === 1 ? "call" : "calls"} shown, kept for a day`), btn("Purge", { cls: "small ghost", disabled: !calls.length || !app.live.connected, onclick: purge }));
}

function pause() {
  paused = !paused;
  bar();
  if (!paused) load();
}

async function purge() {
  if (!(await app.ask("Remove all lines?", h("p", null, `The lines of all ${plural(calls.length, "call")} and of those before them are removed from this machine.`), "Remove them", true))) return;
  try { await post("/api/activity/purge", {}); calls = []; last = 0; epoch = -1; els.list.replaceChildren(); await load(); app.toast("All lines are gone"); } catch (e) { app.fail(e); }
}

export const activity = {
  enter, leave, update() {},
  live(name) {
    if (name === "review") waits();
    if (name === "activity" && !paused && document.visibilityState === "visible") load();
  },
  keys: { " ": pause },
};
