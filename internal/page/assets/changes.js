// The journal as a timeline, and each change as a diff.

import { get, post } from "./api.js";
import { app } from "./frame.js";
import { ago, badge, btn, clock, command, day, foldKeys, h, icon, n, notice, pathNode, plural, realPath, safe, said } from "./dom.js";
import { appendLazily, fileCard, layout, pm } from "./diffview.js";
import { counts } from "./counts.js";
import { Into, intoKeys, read } from "./into.js";
import { groupOf, sessionHead } from "./sessions.js";

const spans = [["", "all time"], ["1h", "last hour"], ["24h", "last 24 hours"], ["7d", "last 7 days"]];
let els, st, list, number = 0, detailNumber = 0, shown = null, seen = null, counter = null, pick = false, here = false, undone = [];

function addressOf(id, change = {}) {
  const p = new URLSearchParams();
  const f = { client: st.client, since: st.since, path: st.path, ...change };
  for (const [k, v] of Object.entries(f)) if (v) p.set(k, v);
  const text = p.toString();
  return "/changes" + (id ? "/" + encodeURIComponent(id) : "") + (text ? "?" + text : "");
}

function enter(main) {
  main.className = "duo changes";
  els = { main, list: h("div", { class: "list", role: "region", "aria-label": "Journal", tabindex: "-1" }), detail: h("div", { class: "detail" }), path: pathFilter() };
  main.append(els.list, els.detail);
  st = null;
  list = null;
  shown = null;
  here = true;
  undone = []; // what u undid here, the last one first to be made again
  layout.apply();
  app.keys(["j k", "move"], ["u", "undo"], ["U", "redo"], ["n p", "next file"], ["s", "split"], ["x X", "more lines"], ["g", "the file"], ["?", "all keys"]);
  counter = counts(els.list);
}

function leave() {
  here = false;
  number++;
  detailNumber++;
  seen?.disconnect();
  counter?.disconnect();
  pick = false;
}

function update(url) {
  const next = { id: decodeURIComponent(url.pathname.split("/")[2] ?? ""), client: url.searchParams.get("client") ?? "", since: url.searchParams.get("since") ?? "", path: url.searchParams.get("path") ?? "" };
  const filterChanged = !st || ["client", "since", "path"].some((k) => st[k] !== next[k]);
  const idChanged = !st || st.id !== next.id;
  st = next;
  els.main.classList.toggle("reading", !!st.id);
  if (filterChanged) load();
  if (idChanged || filterChanged) mark();
  if (idChanged) showDetail();
  app.title(st.id ? `Change ${st.id}` : "Changes");
}

// ---- the list

async function load({ quiet = false } = {}) {
  if (!here) return;
  const mine = ++number;
  if (!quiet) app.busy(true);
  let res;
  try {
    res = await get("/api/changes", { client: st.client, since: st.since, path: st.path });
  } catch (e) {
    if (mine !== number) return;
    els.list.replaceChildren(h("div", { class: "pad" }, notice("bad", "warn", h("p", null, h("b", null, "The journal can't be read.")), h("p", { class: "pre" }, safe(e.message)))));
    app.whenBack(e, () => { if (mine === number) load(); });
    return;
  } finally {
    if (mine === number) app.busy(false);
  }
  if (mine !== number) return;
  const top = els.list.scrollTop, focused = document.activeElement?.dataset?.id;
  list = { ...res, entries: [] };
  seen?.disconnect();
  els.list.replaceChildren();
  els.ol = null;
  els.groups = new Map();
  els.day = "";
  barOf(res);
  if (!res.changes.length) { empty(res); if (!st.id) placeholder(); return; }
  append(res.changes);
  end(res);
  mark();
  els.list.scrollTop = top;
  if (focused) els.list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  if (!st.id && app.wide) app.go(addressOf(res.changes[0].id), { push: false });
  else if (!st.id) placeholder();
}

function pathFilter() {
  const input = h("input", { type: "text", class: "barinput", placeholder: "Filter by path", "aria-label": "Filter by path", spellcheck: "false", autocomplete: "off" });
  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { if (here) app.go(addressOf("", { path: input.value.trim() }), { push: false }); }, 200); });
  return input;
}

function barOf(res) {
  const clients = Object.entries(res.clients).sort((a, b) => b[1] - a[1]);
  if (document.activeElement !== els.path) els.path.value = st.path; // what is being typed stays
  app.bar("changes-bar",
    clients.length > 1 || st.client ? pickOne("Client", [["", "all clients"], ...clients.map(([c, count]) => [c, `${c} (${n(count)})`])], st.client, (client) => ({ client })) : null,
    pickOne("Time", spans, st.since, (since) => ({ since })),
    els.path, h("span", { class: "grow" }),
    h("div", { class: "status", role: "status" }, h("b", null, n(res.matching)), res.matching === res.total ? ` ${res.total === 1 ? "change" : "changes"}` : ` of ${plural(res.total, "change")}`));
}

// pickOne is a filter with all its values.
function pickOne(label, values, chosen, change) {
  return h("span", { class: "pick" }, h("select", { class: "chip", "aria-label": label, onchange: (e) => app.go(addressOf("", change(e.target.value))) }, values.map(([v, text]) => { const o = h("option", { value: v }, safe(text, true)); o.selected = v === chosen; return o; })), icon("down"));
}

function append(changes) {
  for (const c of changes) {
    list.entries.push(c);
    const d = day(c.time);
    if (d !== els.day) {
      const first = !els.day, point = first && !app.about.read_only;
      els.day = d;
      els.ol = h("ol");
      els.list.append(h("div", { class: "day" }, h("span", null, d), point ? btn(pick ? "Cancel" : "Undo since a point…", { cls: "ghost small pickpoint", onclick: startPick }) : null), point && pick ? h("p", { class: "pickhint", role: "status" }, "Choose the last change to keep. Everything above it is undone", st.client ? [", of ", safe(st.client, true), " only"] : "", "; you are asked first. ", h("kbd", null, "esc"), " ends this.") : "", els.ol);
    }
    placeFor(c).append(h("li", null, entry(c)));
  }
}

// placeFor is the list that a change belongs to: that of its session, if that has
// several changes. To choose a point, all are in order of time.
function placeFor(c) {
  if (pick || !c.session || (list.sessions?.[c.session] ?? 0) < 2) return els.ol;
  let g = els.groups.get(c.session);
  if (!g) {
    g = groupOf(c, list.sessions[c.session], addressOf(`session:${c.session}`));
    els.groups.set(c.session, g);
    els.ol.append(h("li", null, g.el));
  }
  return g.ol;
}

function entry(c) {
  const meta = [h("span", null, safe(c.client, true)), h("code", null, safe(c.tool, true)), h("span", { class: "files" }, c.files === 1 ? safe(realPath(c.paths[0]).split("/").pop(), true) : "")];
  if (c.rule) meta.push(h("span", { class: "tag acc", title: c.rule }, "by rule"));
  if (c.undone_by) meta.push(h("span", { class: "tag" }, "undone"));
  if (c.partly) meta.push(h("span", { class: "tag bad" }, "half applied"), h("span", null, safe(`${c.partly}. Undo brings the old files back.`, true)));
  else if (c.pending) meta.push(h("span", { class: "tag warn" }, "in progress"));
  if (c.no_undo) meta.push(h("span", { class: "tag warn" }, "can't be undone"));
  const a = h("a", { class: `entry${c.undone_by ? " undone" : ""}`, href: addressOf(c.id), "data-id": c.id }, badge(c.client), h("span", { class: "ttl" }, said(c)), h("time", { class: "when", datetime: c.time }, clock(c.time)),
    h("span", { class: "meta" }, meta), h("span", { class: "pm" }));
  a.addEventListener("click", (e) => { if (pick) { e.preventDefault(); e.stopPropagation(); picked(c); } });
  counter.observe(a);
  return a;
}

function end(res) {
  const tail = h("div", { class: "wait" });
  els.list.append(tail);
  if (res.more) {
    tail.textContent = "Loading older changes";
    seen = new IntersectionObserver(async (es) => {
      if (!es.some((e) => e.isIntersecting)) return;
      seen.disconnect();
      const mine = number;
      const last = list.entries.at(-1).id;
      try {
        const next = await get("/api/changes", { client: st.client, since: st.since, path: st.path, after: last });
        if (mine !== number) return;
        tail.remove();
        append(next.changes);
        end(next);
        mark();
      } catch (e) { tail.textContent = e.message; }
    }, { rootMargin: "600px" });
    seen.observe(tail);
    return;
  }
  const parts = ["No older changes."];
  if (res.dropped) parts.push(`${plural(res.dropped, "older one")} up to ${new Date(res.dropped_to).toLocaleDateString("en-GB")} ${res.dropped === 1 ? "is" : "are"} no longer kept.`);
  if (res.damaged) parts.push(`${plural(res.damaged, "record")} can't be read.`);
  tail.textContent = parts.join(" ");
}

function empty(res) {
  if (res.total) {
    els.list.append(h("div", { class: "empty" }, h("h2", null, "No change passes the filters"), h("p", null, `There are ${plural(res.total, "change")} in all.`), btn("Remove the filters", { onclick: () => app.go("/changes") })));
    return;
  }
  els.list.append(h("div", { class: "empty" }, h("h2", null, "No changes yet"), h("p", null, "Every edit, move and deletion made through Quarry shows here as it happens, and can be undone. Connect an agent:"), command("quarry mcp install --client claude-code"), h("p", null, "or change something at a shell:"), command("quarry edit README.md --old 'teh' --new 'the'")));
}

function mark() {
  for (const a of els.list.querySelectorAll(".entry, .gall")) {
    const on = a.dataset.id === st.id;
    a.classList.toggle("on", on);
    if (on) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current");
  }
}

// ---- live

function live(name, data) {
  if (name === "connection") { els.detail.querySelectorAll("[data-writes]").forEach((b) => { b.disabled = !data.up || b.dataset.no === "1"; }); return; }
  if (name !== "journal" || !list || data.newest === (list.entries[0]?.id ?? "")) return;
  const filtered = st.client || st.since || st.path;
  const newest = list.entries[0]?.id;
  // At the top of an unread list new entries are inserted at once; else they
  // are announced, and nothing moves.
  if (els.list.scrollTop < 8 && scrollY < 8 && !filtered && (!app.wide || st.id === newest || !newest)) { insert(); return; }
  announce();
}

async function announce() {
  let fresh = 1;
  try {
    const res = await get("/api/changes", { client: st.client, since: st.since, path: st.path });
    const i = res.changes.findIndex((c) => c.id === list.entries[0]?.id);
    fresh = i < 0 ? res.changes.length : i;
  } catch { /* the count is not known */ }
  if (!fresh) return;
  const b = els.list.querySelector(".fresh") ?? h("button", { class: "fresh", type: "button", onclick: () => insert() });
  b.replaceChildren(plural(fresh, "new change"), " ", h("kbd", null, "."));
  if (!b.isConnected) els.list.prepend(b);
}

async function insert() {
  await load({ quiet: true });
  if (here && st.id) refreshDetail();
}

// ---- one change

function placeholder() {
  shown = null;
  els.detail.replaceChildren(list?.entries.length ? h("div", { class: "empty" }, h("p", null, "Choose a change to see what it did.")) : h("div"));
}

async function showDetail() {
  if (!st.id) { placeholder(); return; }
  await refreshDetail();
  if (!app.wide) scrollTo(0, 0);
}

// showSession shows all changes of a session as one.
async function showSession(session) {
  const mine = ++detailNumber;
  try {
    const res = await get(`/api/session/${encodeURIComponent(session)}`);
    if (mine !== detailNumber) return;
    shown = null;
    const undo = async () => { if (await (await import("./undoing.js")).undoSession(res)) await insert(); };
    els.detail.replaceChildren(back(), sessionHead(res, undo, layout.control()));
    els.lazy = appendLazily(els.detail, res.files, (f, i) => fileCard(f, i, (k) => get(`/api/session/${encodeURIComponent(session)}`, { file: k + 1 })));
    layout.apply();
  } catch (e) {
    if (mine === detailNumber) els.detail.replaceChildren(back(), notice("bad", "warn", h("p", null, h("b", null, "This session can't be shown.")), h("p", { class: "pre" }, safe(e.message))));
  }
}

// undoPart undoes a file of the change that is shown, or one of its hunks.
async function undoPart(part) {
  const { id } = st;
  try {
    const { done } = await post("/api/undo", { ids: [id], parts: [part] });
    app.toast(`Undone: ${part.hunk ? `hunk ${part.hunk} of ` : ""}${realPath(part.path)}`);
    if (!here) return;
    app.go(addressOf(done[0].id), { push: true });
    await load({ quiet: true });
  } catch (e) { app.fail(e); if (here) refreshDetail(); }
}

async function refreshDetail() {
  if (st.id.startsWith("session:")) return showSession(st.id.slice("session:".length));
  const mine = ++detailNumber, { id } = st;
  let res;
  try {
    res = await get(`/api/diff/${encodeURIComponent(id)}`);
  } catch (e) {
    if (mine !== detailNumber) return;
    els.detail.replaceChildren(back(), h("div", { class: "pad" }, notice("bad", "warn", h("p", null, h("b", null, e.status === 404 ? "This change is not in the journal." : "This change can't be shown.")), h("p", { class: "pre" }, safe(e.message)))));
    app.whenBack(e, () => { if (here && mine === detailNumber) refreshDetail(); });
    return;
  }
  if (mine !== detailNumber) return;
  shown = res;
  const { change: c, files } = res;
  const add = files.reduce((s, f) => s + f.add, 0), del = files.reduce((s, f) => s + f.del, 0);
  const redo = c.undone_by;
  const undoButton = app.about.read_only ? null : c.undone_by
    ? btn("Redo this change", { ic: "redo", key: "U", "data-writes": "1", onclick: redoIt, disabled: !app.live.connected })
    : btn(c.undoes ? "Undo this undo" : "Undo this change", { ic: "undo", key: "u", "data-writes": "1", "data-no": res.undo ? "0" : "1", onclick: undoIt, disabled: !res.undo || !app.live.connected, title: res.undo ? undefined : res.why });
  const state = c.undone_by ? h("span", { class: "tag" }, "undone by ", h("a", { href: addressOf(c.undone_by) }, c.undone_by))
    : res.undo ? h("span", { class: "tag ok" }, icon("check"), "can be undone") : h("span", { class: "tag warn" }, icon("warn"), res.conflicts ? "files changed since" : "can't be undone");
  const head = h("div", { class: "dhead" },
    h("div", { class: "row" }, h("h1", null, said(c)), h("div", { class: "btns" }, layout.control(), undoButton)),
    h("div", { class: "facts" }, h("span", null, badge(c.client), safe(c.client, true)), h("span", null, h("code", null, safe(c.tool, true))), h("span", { title: ago(c.time) }, `${day(c.time)} ${clock(c.time)}`), h("span", null, plural(files.length, "file"), " ", pm(add, del)), h("span", { class: "mono dim" }, c.id), c.rule ? h("span", { class: "byrule" }, "accepted by the rule ", h("code", null, safe(c.rule, true))) : c.proposal ? h("span", null, "reviewed as ", h("a", { href: `/review/${encodeURIComponent(c.proposal)}` }, c.proposal)) : null, c.undoes ? h("span", null, "undoes ", h("a", { href: addressOf(c.undoes) }, c.undoes)) : null, state),
    files.length > 1 ? h("div", { class: "flist" }, files.slice(0, 40).map((f, i) => h("a", { class: "chip", href: `#f${i}`, onclick: (e) => { e.preventDefault(); e.stopPropagation(); toFile(i); } }, safe(realPath(f.path).split("/").pop(), true), " ", pm(f.add, f.del))), files.length > 40 ? h("span", { class: "dim sm" }, `and ${n(files.length - 40)} more`) : null) : null);
  els.detail.replaceChildren(back(), head);
  if (c.partly) els.detail.append(notice("bad", "warn", h("p", null, h("b", null, "This change is half applied. "), safe(`${c.partly}. Undo brings the old files back.`))));
  if (res.conflicts) els.detail.append(conflict(c, res, redo));
  else if (!res.undo && !c.undone_by && res.why) els.detail.append(notice("warn", "warn", h("p", { class: "pre" }, safe(res.why))));
  if (!files.length) els.detail.append(notice("", "info", h("p", null, "No content differs.")));
  els.lazy = appendLazily(els.detail, files, (f, i) => fileCard(f, i, (k) => get(`/api/diff/${encodeURIComponent(id)}`, { file: k + 1 }), app.about.read_only || c.undone_by || c.no_undo ? null : undoPart, () => new Into(f, { change: id, file: i + 1 })));
  layout.apply();
}

const back = () => h("a", { class: "backlink onlynarrow", href: addressOf("") }, icon("back"), "All changes");

function conflict(c, res) {
  const others = res.others && Math.max(1, res.files.length - res.conflicts.length);
  return notice("warn", "warn", h("p", null, h("b", null, "This change can't be undone as a whole: files changed since.")),
    h("ul", { class: "conflicts" }, res.conflicts.slice(0, 20).map((p) => h("li", null, pathNode(p.path), " ", safe(p.reason)))),
    res.conflicts.length > 20 ? h("p", null, `and ${n(res.conflicts.length - 20)} more`) : null,
    h("p", { class: "sub sm" }, "Undo the later changes of these files first; nothing is overwritten."),
    others > 0 && !app.about.read_only ? h("div", { class: "btns" }, btn(others === 1 ? "Undo the other file" : `Undo the other ${n(others)} files`, { ic: "undo", "data-writes": "1", onclick: () => undoOthers(c, others), disabled: !app.live.connected })) : null);
}

async function undoOthers(c, others) {
  if (!(await app.ask("Undo the other files?", h("p", null, `${plural(others, "file")} of this change ${others === 1 ? "gets its" : "get their"} old content back, as one new change. The files that changed since stay as they are.`), "Undo them"))) return;
  try {
    const { done } = await post("/api/undo", { ids: [c.id], others: true });
    app.toast("Undone, except for the files that changed since");
    if (!here) return; // the person went on
    app.go(addressOf(done[0].id), { push: true });
    await load({ quiet: true });
  } catch (e) { app.fail(e); if (here) refreshDetail(); }
}

function toFile(i) {
  els.lazy.upTo(i);
  const el = document.getElementById(`f${i}`);
  el?.scrollIntoView({ block: "start" });
  el?.focus({ preventScroll: true });
}

function moveFile(step) {
  const cards = [...els.detail.querySelectorAll(".dfile")];
  if (!cards.length) return false;
  const line = 130;
  let i = cards.findIndex((c) => c.getBoundingClientRect().top > line + 4);
  if (step < 0) i = (i < 0 ? cards.length : i) - 2;
  const to = cards[Math.max(0, Math.min(i < 0 ? cards.length - 1 : i, cards.length - 1))];
  scrollBy(0, to.getBoundingClientRect().top - line);
  to.focus({ preventScroll: true });
}

async function undoIt() {
  const id = st.id;
  if (shown?.change.id !== id) return false;
  if (!shown.undo || !app.live.connected) { app.toast(!app.live.connected ? "Not connected: nothing can be undone." : shown.change.undone_by ? "This change is undone already. U makes it again." : shown.why || "Files changed since: see above.", "bad"); return; }
  const { client, session, summary } = shown.change;
  try {
    const { done } = await post("/api/undo", { ids: [id] });
    undone.push({ id, by: done[0].id, summary });
    app.toast(`Undone: ${summary}`);
    await load({ quiet: true });
    if (!here || st.id !== id) return; // the person went on
    // The next u undoes the one before it of the same agent.
    const i = list.entries.findIndex((c) => c.id === id), next = list.entries.slice(i + 1).find((c) => c.client === client && c.session === session && !c.undone_by && !c.undoes && !c.no_undo && !c.pending);
    if (i >= 0 && next) app.go(addressOf(next.id), { push: true }); else refreshDetail();
  } catch (e) { app.fail(e); if (here) refreshDetail(); }
}

// redoIt makes the change that is shown again, or the one that u undid before it.
async function redoIt() {
  const c = shown?.change, last = c?.undone_by ? { id: c.id, by: c.undone_by, summary: c.summary } : undone.at(-1);
  if (!last || !app.live.connected) { app.toast(last ? "Not connected: nothing can be made again." : "This change is not undone.", "bad"); return; }
  try {
    await post("/api/undo", { ids: [last.by] });
    undone = undone.filter((x) => x.id !== last.id);
    app.toast(`Made again: ${last.summary}`);
    if (here && st.id !== last.id) app.go(addressOf(last.id));
    await insert();
  } catch (e) { app.fail(e); if (here) refreshDetail(); }
}

// ---- undo since a point

function startPick() {
  pick = !pick;
  els.list.classList.toggle("picking", pick);
  return load({ quiet: true });
}

async function picked(c) {
  startPick();
  if (await (await import("./undoing.js")).undoSince(c, st.client)) await insert();
}

function move(step) {
  const all = [...els.list.querySelectorAll(".entry")].filter((a) => a.checkVisibility());
  if (!all.length) return false;
  const i = all.findIndex((a) => a.dataset.id === st.id);
  const a = all[Math.max(0, Math.min(i < 0 ? 0 : i + step, all.length - 1))];
  a.focus({ preventScroll: true });
  a.scrollIntoView({ block: "nearest" });
  if (app.wide) app.go(addressOf(a.dataset.id), { push: false });
}

export const changes = {
  enter, leave, update, live,
  once: ["u", "U"],
  resized: () => layout.apply(),
  keys: {
    j: () => move(1), k: () => move(-1), n: () => moveFile(1), p: () => moveFile(-1), u: undoIt, U: redoIt, s: () => layout.next(),
    ...intoKeys(() => read(els.detail)), ...foldKeys(() => els.detail, () => [...els.detail.querySelectorAll(".dfile")].find((el) => el.getBoundingClientRect().bottom > 160)),
    ".": () => { if (!els.list.querySelector(".fresh")) return false; insert(); },
    Escape: () => { if (pick) startPick(); else if (st.id && !app.wide) app.go(addressOf("")); else return false; },
  },
};
