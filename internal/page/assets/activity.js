// Who does what now: a line for each call of a tool, as it is answered.

import { get, post } from "./api.js";
import { app } from "./frame.js";
import { badge, btn, bytes, clock, command, h, icon, keepFocus, ms, n, notice, plural, safe } from "./dom.js";

const shownLines = 500;
let els, calls = [], last = 0, epoch = -1, number = 0, asking = false, again = false, on = true, filter = "", paused = false;

function enter(main) {
  main.className = "activity";
  els = { main, agents: h("div", { class: "agents" }), list: h("ol", { class: "calls", "aria-label": "Calls" }), none: h("div") };
  main.append(els.agents, els.list, els.none);
  calls = [];
  last = 0;
  epoch = -1;
  filter = "";
  paused = false;
  app.title("Activity");
  app.keys(["space", "pause"], ["1 2 3 4 5", "views"], ["?", "all keys"]);
  bar();
  load();
}

function leave() { number++; asking = again = false; }

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
    take(res.calls);
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
  const el = h("li", { class: `call${c.error ? " failed" : ""}`, "data-of": nameOf(c), "data-id": c.t }, h("time", { class: "num", datetime: c.t }, clock(c.t)), badge(c.client), h("span", { class: "cname" }, safe(nameOf(c), true)), h("code", null, safe(c.tool, true)),
    h("span", { class: "about" }, safe(c.about ?? "", true)), c.error ? h("span", { class: "tag bad" }, safe(c.error, true)) : h("span"), h("span", { class: "num r" }, c.ms < 1000 ? ms(c.ms) : `${(c.ms / 1000).toFixed(1)} s`), h("span", { class: "num r dim" }, bytes(c.bytes)));
  el.hidden = !!filter && el.dataset.of !== filter;
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
    badge(a.client), h("b", null, safe(name, true)), h("span", { class: "dim num" }, `${n(a.minute)} a minute`), h("span", { class: "about" }, h("code", null, safe(a.call.tool, true)), " ", safe(a.call.about ?? "", true))))));
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
  live(name) { if (name === "activity" && !paused && document.visibilityState === "visible") load(); },
  keys: { " ": pause },
};
