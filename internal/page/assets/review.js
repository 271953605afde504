// Changes that wait for a decision, and those that had one.

import { get } from "./api.js";
import { app, inTurn } from "./frame.js";
import { badge, clock, command, day, h, icon, n, notice, plural, safe } from "./dom.js";
import { layout, pm } from "./diffview.js";
import { keptDraft } from "./draft.js";
import * as proposal from "./proposal.js";
import { blockedPaths, does, isOpen, proposed, since, stateTag } from "./states.js";

let els, st = null, list = null, number = 0, timer = 0, here = false;

const addressOf = (id, show = st?.show) => "/review" + (id ? "/" + encodeURIComponent(id) : "") + (show ? `?show=${show}` : "");
const back = () => h("a", { class: "backlink onlynarrow", href: addressOf("") }, icon("back"), "All proposals");

function enter(main) {
  main.className = "duo review";
  els = { main, list: h("div", { class: "list", role: "region", "aria-label": "Proposals", tabindex: "-1" }), detail: h("div", { class: "detail" }) };
  main.append(els.list, els.detail);
  st = list = null;
  here = true;
  proposal.into(els.detail, { back, decided, load });
  layout.apply();
  app.keys(["j k", "hunk"], ["a", "accept"], ["r", "refuse"], ["c", "comment"], ["n p", "next file"], ["w", "next that waits"], ["enter", "send"], ["?", "all keys"]);
  timer = setInterval(tick, 1000);
}

function leave() { here = false; number++; clearInterval(timer); proposal.leave(); }

function update(url) {
  const next = { id: decodeURIComponent(url.pathname.split("/")[2] ?? ""), show: url.searchParams.get("show") ?? "" };
  const first = !st, idChanged = first || st.id !== next.id, showChanged = first || st.show !== next.show;
  st = next;
  els.main.classList.toggle("reading", !!st.id);
  if (showChanged) load();
  if (idChanged) { mark(); if (st.id) proposal.show(st.id); else if (list) placeholder(); }
  app.title(st.id ? `Proposal ${st.id}` : "Review");
}

async function load() {
  if (!here) return;
  const mine = ++number;
  let res;
  try {
    res = await get("/api/review");
  } catch (e) {
    if (mine !== number) return;
    els.list.replaceChildren(h("div", { class: "pad" }, notice("bad", "warn", h("p", null, h("b", null, "The proposals can't be read.")), h("p", { class: "pre" }, safe(e.message)))));
    app.whenBack(e, () => { if (mine === number) load(); });
    return;
  }
  if (mine !== number) return;
  list = res;
  draw();
}

const waitingNow = () => inTurn(list.proposals.filter((p) => isOpen(p.state)));

function draw() {
  const all = list.proposals, waiting = waitingNow(), decided = all.filter((p) => !isOpen(p.state));
  const seg = (v, label, count) => h("button", { type: "button", "aria-pressed": String(st.show === v), onclick: () => app.go(addressOf("", v)) }, label, count ? ` ${n(count)}` : "");
  const clients = [...new Set(waiting.map((p) => p.client))];
  app.bar("review-bar", h("div", { class: "seg", role: "group", "aria-label": "Which" }, seg("", "Waiting", waiting.length), seg("decided", "Decided", 0), seg("all", "All", 0)), h("button", { type: "button", class: "chip", onclick: () => proposal.showRules() }, "Rules"), notifyButton(), h("span", { class: "grow" }),
    h("div", { class: "status", role: "status" }, waiting.length ? [h("b", null, n(waiting.length)), " waiting · nothing is written before a decision · of ", h("b", null, safe(clients.join(", "), true))] : "Nothing waits for a decision"));
  const groups = [];
  if (st.show !== "decided") groups.push(["Waiting for you", waiting]);
  if (st.show !== "") groups.push(...byDay(decided));
  else if (decided.length) groups.push(["Decided", decided.slice(0, 8)]);
  els.list.replaceChildren();
  if (list.problem) els.list.append(h("div", { class: "pad" }, notice("warn", "warn", h("p", { class: "pre" }, safe(list.problem)))));
  for (const [title, rows] of groups) {
    if (!rows.length) continue;
    els.list.append(h("div", { class: "day" }, h("span", null, title)), h("ol", null, rows.map((p) => h("li", null, entry(p)))));
  }
  if (!all.length || (!waiting.length && st.show === "" && !decided.length)) empty();
  mark();
  const first = st.show === "decided" ? decided[0] : waiting[0];
  if (!st.id && app.wide && first) app.go(addressOf(first.id), { push: false });
  else if (!st.id) placeholder();
}

// notifyButton switches notifications of the system on and off.
function notifyButton() {
  if (!app.notices.can) return null;
  const b = h("button", { type: "button", class: "chip", "aria-pressed": String(app.notices.on), title: "A notification of the system when something waits and this page is not seen", onclick: async () => { b.setAttribute("aria-pressed", String(await app.notices.flip())); } }, "Notify");
  return b;
}

const byDay = (rows) => {
  const out = [];
  for (const p of rows) {
    const d = `Decided ${day(p.decided).toLowerCase()}`;
    if (out.at(-1)?.[0] !== d) out.push([d, []]);
    out.at(-1)[1].push(p);
  }
  return out;
};

function entry(p) {
  const d = isOpen(p.state) ? keptDraft(p.id) : null;
  const done = d ? d.verdicts.flat().filter(Boolean).length : 0;
  return h("a", { class: "entry", href: addressOf(p.id), "data-id": p.id }, badge(p.client), h("span", { class: "ttl" }, proposed(p)), h("span", { class: "when num", "data-until": isOpen(p.state) ? p.until : "", "data-made": p.made }, isOpen(p.state) ? "" : clock(p.decided)),
    h("span", { class: "meta" }, h("span", null, safe(p.client, true)), h("code", null, safe(p.tool, true)), does(p), h("span", null, plural(p.hunks, "hunk")), done ? h("span", { class: "acc" }, `${done} of ${p.hunks} decided`) : null, stateTag(p), blockedPaths(p).length ? h("span", { class: "tag warn" }, "changed since") : null), pm(p.add, p.del));
}

function empty() {
  els.list.append(h("div", { class: "empty" }, h("h2", null, "Nothing waits for a decision"),
    h("p", null, "With the review gate on, a change by an agent shows here first, and nothing is written before you decide: whole, by file or hunk by hunk, with a comment to the agent. Start its server with:"), command("quarry mcp --review"), h("p", null, "or for every agent, in quarry.toml:"), command("[mcp]\nreview = true")));
}

function placeholder() {
  proposal.clear();
  els.detail.replaceChildren(list?.proposals.length ? h("div", { class: "empty" }, h("p", null, waitingNow().length ? "Choose a proposal." : "Nothing waits. Choose a decided proposal to see it again.")) : h("div"));
}

function mark() {
  for (const a of els.list.querySelectorAll(".entry")) {
    const on = a.dataset.id === st.id;
    a.classList.toggle("on", on);
    if (on) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current");
  }
  times();
}

function times() {
  for (const el of els.list.querySelectorAll(".when[data-until]:not([data-until=''])")) el.textContent = since(el.dataset.made);
}

// tick shows how long the agents still wait, and whether files changed since.
function tick() {
  times();
  proposal.tick();
  if (document.visibilityState === "visible" && app.live.connected) proposal.look();
}

// decided goes on to what waits next; it reports whether it did.
async function decided(id) {
  if (!here) return true;
  await load();
  if (!here || !id || st.id !== id) return true;
  const next = waitingNow().find((x) => x.id !== id);
  if (!next || !app.wide) return false;
  app.go(addressOf(next.id));
  return true;
}

function live(name, data) {
  if (name === "connection") { proposal.connection(data.up); return; }
  if (name !== "review" || !list) return;
  load();
  if (st.id) proposal.refresh();
}

export const review = {
  enter, leave, update, live,
  once: ["a", "r", "A", "R", "Enter"],
  resized: () => layout.apply(),
  keys: { ...proposal.keys, e: () => { proposal.showRules(); }, s: () => layout.next(), Escape: () => { if (st.id && !app.wide) app.go(addressOf("")); else return false; } },
};
