// Changes that wait for a decision. What was decided but not sent yet is kept
// for the tab, so a reload or a lost connection loses nothing.

import { get, post } from "./api.js";
import { app } from "./app.js";
import { ago, btn, clock, command, day, h, icon, n, notice, pathNode, plural, s, safe } from "./dom.js";
import { badge } from "./changes.js";
import { appendLazily, fileHead, hunkBody, layout, pm } from "./diffview.js";

let els, st = null, list = null, shown = null, number = 0, detailNumber = 0, at = 0, draft = null, timer = 0, drawing = null, sending = false, here = false;

const open = (state) => state === "waiting" || state === "abandoned" || state === "applying";
const addressOf = (id, show = st?.show) => "/review" + (id ? "/" + encodeURIComponent(id) : "") + (show ? `?show=${show}` : "");

function enter(main) {
  main.className = "duo review";
  els = { main, list: h("div", { class: "list", role: "region", "aria-label": "Proposals", tabindex: "-1" }), detail: h("div", { class: "detail" }) };
  main.append(els.list, els.detail);
  st = list = shown = null;
  here = true;
  layout.apply();
  app.keys(["j k", "hunk"], ["a", "accept"], ["r", "refuse"], ["c", "comment"], ["n p", "next file"], ["enter", "send"], ["?", "all keys"]);
  timer = setInterval(tick, 1000);
}

function leave() { here = false; number++; detailNumber++; clearInterval(timer); drawing?.seen.disconnect(); drawing = null; }

function update(url) {
  const next = { id: decodeURIComponent(url.pathname.split("/")[2] ?? ""), show: url.searchParams.get("show") ?? "" };
  const first = !st, idChanged = first || st.id !== next.id, showChanged = first || st.show !== next.show;
  st = next;
  els.main.classList.toggle("reading", !!st.id);
  if (first || showChanged) load();
  if (idChanged) { mark(); showDetail(); }
  app.title(st.id ? `Proposal ${st.id}` : "Review");
}

// ---- the list

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

function draw() {
  const all = list.proposals, waiting = all.filter((p) => open(p.state)), decided = all.filter((p) => !open(p.state));
  const seg = (v, label, count) => h("button", { type: "button", "aria-pressed": String(st.show === v), onclick: () => app.go(addressOf("", v)) }, label, count ? ` ${n(count)}` : "");
  const clients = [...new Set(waiting.map((p) => p.client))];
  app.bar("review-bar", h("div", { class: "seg", role: "group", "aria-label": "Which" }, seg("", "Waiting", waiting.length), seg("decided", "Decided", 0), seg("all", "All", 0)), h("span", { class: "grow" }),
    h("div", { class: "status", role: "status" }, waiting.length ? [h("b", null, n(waiting.length)), ` waiting, of `, h("b", null, safe(clients.join(", "), true)), " · nothing is written before a decision"] : "Nothing waits for a decision"));
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
  const first = (st.show === "decided" ? decided : st.show === "" ? waiting[0] ? waiting : decided : all)[0];
  if (!st.id && app.wide && first && open(first.state)) app.go(addressOf(first.id), { push: false });
  else if (!st.id) placeholder(waiting.length);
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

const states = { accepted: ["ok", "check", "accepted"], refused: ["no", "x", "refused"], withdrawn: ["", "", "withdrawn"], applying: ["warn", "", "applying"], abandoned: ["warn", "", "agent has gone"] };

function stateTag(p) {
  if (p.state === "partly") return h("span", { class: "tag" }, `${p.yes} of ${p.hunks} hunks`);
  const [cls, ic, label] = states[p.state] ?? [];
  return label ? h("span", { class: `tag ${cls}` }, ic ? icon(ic) : null, label) : null;
}

// does is what the proposal comes to; the summary is the agent's own.
const does = (p) => h("span", { class: p.does.startsWith("deletes") ? "tag bad" : "" }, p.does);

function entry(p) {
  const d = open(p.state) ? load_draft(p.id) : null;
  const done = d ? d.verdicts.flat().filter(Boolean).length : 0;
  return h("a", { class: "entry", href: addressOf(p.id), "data-id": p.id }, badge(p.client), h("span", { class: "ttl" }, safe(p.summary || p.tool, true)), h("span", { class: "when", "data-until": open(p.state) ? p.until : "", "data-made": p.made }, open(p.state) ? "" : clock(p.decided)),
    h("span", { class: "meta" }, h("span", null, safe(p.client, true)), h("code", null, safe(p.tool, true)), does(p), h("span", null, plural(p.hunks, "hunk")), done ? h("span", { class: "acc" }, `${done} of ${p.hunks} decided`) : null, stateTag(p), p.stale?.length ? h("span", { class: "tag warn" }, "stale") : null), pm(p.add, p.del));
}

function empty() {
  els.list.append(h("div", { class: "empty" }, h("h2", null, "Nothing waits for a decision"),
    h("p", null, "With the review gate on, a change by an agent shows here first, and nothing is written before you decide: whole, by file or hunk by hunk, with a comment to the agent. Start its server with:"), command("quarry mcp --review"), h("p", null, "or for every agent, in quarry.toml:"), command("[mcp]\nreview = true")));
}

function placeholder(waiting) {
  shown = null;
  els.detail.replaceChildren(list?.proposals.length ? h("div", { class: "empty" }, h("p", null, waiting ? "Choose a proposal." : "Nothing waits. Choose a decided proposal to see it again.")) : h("div"));
}

function mark() {
  for (const a of els.list.querySelectorAll(".entry")) {
    const on = a.dataset.id === st.id;
    a.classList.toggle("on", on);
    if (on) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current");
  }
  tick();
}

// tick shows how long the agents still wait.
function tick() {
  for (const el of els.list.querySelectorAll(".when[data-until]:not([data-until=''])")) {
    el.textContent = since(el.dataset.made);
  }
  const ring = els.detail.querySelector("[data-ring]");
  if (ring && shown) ring.replaceChildren(...waitClock(shown.proposal));
}

function since(t) {
  const sec = Math.max(0, Math.floor((Date.now() - new Date(t)) / 1000));
  return sec < 3600 ? `${Math.floor(sec / 60)}:${String(sec % 60).padStart(2, "0")}` : ago(t);
}

function waitClock(p) {
  const until = new Date(p.until).getTime(), made = new Date(p.made).getTime(), left = (until - Date.now()) / 1000;
  if (p.state === "abandoned") return ["the agent has gone"];
  if (left <= 0 || until <= made) return ["the agent went on; it hears the decision with its next call"];
  const share = Math.min(1, Math.max(0, 1 - (until - Date.now()) / Math.max(1, until - made)));
  return [s("svg", { class: "ring", viewBox: "0 0 20 20", "aria-hidden": "true" }, s("circle", { class: "track", cx: 10, cy: 10, r: 8 }), s("circle", { class: "fill", cx: 10, cy: 10, r: 8, "stroke-dasharray": `${(share * 50.3).toFixed(1)} 50.3` })), ` the agent waits ${since(p.made)} of ${Math.round((until - made) / 1000)} s`];
}

// ---- one proposal

const draftKey = (id) => `quarry.review.${id}`;
function load_draft(id) { try { return JSON.parse(sessionStorage.getItem(draftKey(id))); } catch { return null; } }
function save() { try { sessionStorage.setItem(draftKey(st.id), JSON.stringify(draft)); } catch { /* kept in memory only */ } }

async function showDetail() {
  if (!st.id) { if (list) placeholder(list.proposals.some((p) => open(p.state))); return; }
  const mine = ++detailNumber, { id } = st;
  let res;
  try {
    res = await get(`/api/review/${encodeURIComponent(id)}`);
  } catch (e) {
    if (mine !== detailNumber) return;
    els.detail.replaceChildren(back(), notice("bad", "warn", h("p", null, h("b", null, e.status === 404 ? "There is no such proposal." : "This proposal can't be shown.")), h("p", { class: "pre" }, safe(e.message))));
    app.whenBack(e, () => { if (here && mine === detailNumber) showDetail(); });
    return;
  }
  if (mine !== detailNumber) return;
  shown = res;
  const size = res.files.map((f) => f.count);
  const kept = load_draft(id);
  const fits = kept && kept.made === res.proposal.made && kept.verdicts.length === size.length && kept.verdicts.every((v, i) => v.length === size[i]);
  draft = fits ? kept : { made: res.proposal.made, verdicts: size.map((k) => Array(k).fill("")), comments: size.map((k) => Array(k).fill("")), comment: "" };
  at = Math.max(0, undecided(0)); // before it is drawn: a key may come at once
  await drawDetail();
  if (mine === detailNumber) focusNext(0, false);
}

const back = () => h("a", { class: "backlink onlynarrow", href: addressOf("") }, icon("back"), "All proposals");

// drawDetail shows a proposal. Its hunks, of which there may be 100,000, are
// drawn as the reader comes near them; the first ones are there when it returns.
function drawDetail() {
  const { proposal: p, files } = shown, live = open(p.state) && p.state !== "applying" && !app.about.read_only;
  const head = h("div", { class: "dhead" },
    h("div", { class: "row" }, h("h1", null, safe(p.summary || p.tool, true)), h("div", { class: "btns" }, layout.control(),
      live ? btn("Accept all", { key: "A", cls: "yes", "data-writes": "1", onclick: () => whole("accept") }) : null, live ? btn("Refuse all", { key: "R", cls: "no", "data-writes": "1", onclick: () => whole("refuse") }) : null)),
    h("div", { class: "facts" }, h("span", null, badge(p.client), safe(p.client, true)), h("span", null, h("code", null, safe(p.tool, true))), does(p), h("span", null, pm(p.add, p.del)), h("span", { class: "mono dim" }, p.id),
      open(p.state) ? h("span", { class: "wait-clock", "data-ring": "1" }, waitClock(p)) : h("span", null, `${day(p.decided)} ${clock(p.decided)}, ${p.by === "shell" ? "at a shell" : p.by === "page" ? "on the page" : "by the agent"}`),
      stateTag(p), p.change ? h("span", null, "applied as ", h("a", { href: `/changes/${encodeURIComponent(p.change)}` }, p.change)) : null));
  els.detail.replaceChildren(back(), head);
  if (p.problem) els.detail.append(notice("bad", "warn", h("p", null, h("b", null, "It could not be applied. Nothing was changed.")), h("p", { class: "pre" }, safe(p.problem))));
  if (p.state === "abandoned") els.detail.append(notice("warn", "warn", h("p", null, h("b", null, "The agent has gone since."), " It ended the call or its connection, or it was ended. Accepting asks once more.")));
  if (p.stale?.length && open(p.state)) els.detail.append(notice("warn", "warn", h("p", null, h("b", null, "Files changed since this was proposed.")), h("ul", { class: "conflicts" }, p.stale.map((x) => h("li", null, pathNode(x)))), h("p", { class: "sub sm" }, "What touches them can't be accepted. Refuse it, and the agent reads the files again.")));
  if (!open(p.state) && p.comment) els.detail.append(notice("", "talk", h("p", null, h("b", null, `To ${p.client}`)), h("p", { class: "pre" }, safe(p.comment))));
  drawing?.seen.disconnect();
  const d = drawing = { files, i: 0, j: 0, k: 0, live, card: null, busy: null, end: h("div", { class: "lazyend" }) };
  d.seen = new IntersectionObserver((es) => { if (es.some((e) => e.isIntersecting)) drawMore(d); }, { rootMargin: "1500px" });
  els.detail.append(d.end);
  d.seen.observe(d.end);
  const first = drawMore(d);
  if (live) { els.decide = h("div", { class: "decide", role: "group", "aria-label": "Decision" }); els.detail.append(els.decide); drawDecide(); }
  layout.apply();
  return first;
}

function cardOf(f, i) {
  const { proposal: p } = shown;
  const card = h("section", { class: "card dfile", id: `f${i}`, tabindex: "-1" }, fileHead(f, h("span", { class: "tag" }, plural(f.count, "hunk")),
    open(p.state) ? (f.stale ? h("span", { class: "tag warn" }, icon("warn"), "changed since the proposal") : h("span", { class: "tag ok" }, icon("check"), "unchanged since the proposal")) : null));
  if (f.note && (f.add || f.del)) card.append(h("div", { class: "told pre" }, safe(f.note)));
  return card;
}

// restOf offers the whole diff of a file that is too long to be shown at once.
function restOf(f, i) {
  const box = h("div"), { id } = shown.proposal;
  const more = (from, label) => btn(label, { cls: "small", onclick: async (e) => {
    const b = e.currentTarget;
    b.disabled = true;
    try {
      const res = await get(`/api/review/${encodeURIComponent(id)}/whole`, { file: i + 1, from });
      const piece = h("div");
      b.replaceWith(piece);
      appendLazily(piece, res.parts, (part) => hunkBody(part), 1);
      if (res.next) box.append(more(res.next, "Show more of it"));
    } catch (err) { b.disabled = false; app.fail(err); }
  } });
  box.append(more(0, "Read the whole diff"));
  return h("div", { class: "told" }, h("p", null, `${plural(f.cut, "changed line")} of this file ${f.cut === 1 ? "is" : "are"} not shown above.`), box);
}

// drawMore draws the next hunks, and goes on as long as their end is near. What
// the server left out is asked for.
function drawMore(d) {
  d.busy ??= drawSome(d).finally(() => { d.busy = null; });
  return d.busy;
}

async function drawSome(d, near = true) {
  while (d.i < d.files.length && drawing === d) {
    let lines = 0;
    for (let some = 0; some < 40 && lines < 600 && d.i < d.files.length; ) {
      const f = d.files[d.i];
      if (!d.card) { d.card = cardOf(f, d.i); d.end.before(d.card); }
      if (d.j >= f.count) { if (f.cut && open(shown.proposal.state)) d.card.append(restOf(f, d.i)); d.card = null; d.i++; d.j = 0; continue; }
      if (d.j >= f.decisions.length) {
        let res;
        try { res = await get(`/api/review/${encodeURIComponent(shown.proposal.id)}`, { file: d.i + 1, from: d.j }); } catch (e) { app.fail(e); return; }
        if (drawing !== d) return;
        if (!res.decisions.length) return;
        f.decisions.push(...res.decisions);
      }
      d.card.append(hunkOf(f, d.i, d.j, d.k, d.live));
      lines += f.decisions[d.j].parts.reduce((sum, part) => sum + part.lines.length, 0);
      some++; d.j++; d.k++;
    }
    if (near && d.end.getBoundingClientRect().top > innerHeight + 1500) return;
    if (!near) return;
    await new Promise((resolve) => setTimeout(resolve)); // the page stays alive
  }
  if (drawing === d) { d.seen.disconnect(); d.end.remove(); }
}

// reach draws until a hunk is there, and returns it.
async function reach(k) {
  const d = drawing;
  while (d && d.k <= k && d.i < d.files.length && drawing === d) {
    const before = d.k;
    await (d.busy ?? drawSome(d, false));
    if (d.k === before) break;
    await new Promise((resolve) => setTimeout(resolve));
  }
  return hunkAt(k);
}

const hunksNow = () => [...els.detail.querySelectorAll(".hunk")];
const hunkAt = (k) => els.detail.querySelector(`.hunk[data-k="${k}"]`);

function hunkOf(f, i, j, k, live) {
  const d = f.decisions[j], verdict = live ? draft.verdicts[i][j] : d.verdict;
  const first = d.parts[0];
  const where = !first ? "" : first.old_count ? ` · lines ${first.old_start}–${first.old_start + first.old_count - 1}` : ` · after line ${first.old_start}`;
  const tag = h("span", { class: "verdict" });
  const name = `hunk ${k + 1} of ${shown.proposal.hunks}`;
  const el = h("div", { class: "hunk", tabindex: "0", role: "group", "data-f": i, "data-h": j, "data-k": k, "data-name": name }, h("div", { class: "hhead" }, h("span", null, `${n(k + 1)} of ${n(shown.proposal.hunks)}${where}`), tag,
    live ? h("span", { class: "acts" },
      btn("Accept", { ic: "check", cls: "small yes", key: "a", "data-writes": "1", "aria-label": `Accept ${name}`, onclick: () => decide(el, "accept") }),
      btn("Refuse", { ic: "x", cls: "small no", key: "r", "data-writes": "1", "aria-label": `Refuse ${name}`, onclick: () => decide(el, "refuse") })) : null));
  const body = h("div");
  el.append(body);
  if (d.parts.length === 1) body.append(hunkBody(d.parts[0]));
  else if (d.parts.length) appendLazily(body, d.parts, (part) => hunkBody(part), 1);
  else body.append(h("div", { class: "told pre" }, f.note ? safe(f.note) : f.kind === "move" ? "The content stays as it is." : "No lines to show."));
  const say = h("div", { class: "say", hidden: true });
  el.append(say);
  if (live) fillSay(say, i, j); else if (d.comment) { say.hidden = false; say.append(icon("talk"), h("div", { class: "grow" }, h("p", null, h("b", null, `To ${shown.proposal.client}`)), h("p", { class: "pre" }, safe(d.comment)))); }
  paint(el, verdict);
  el.addEventListener("focusin", () => { at = k; now(); });
  return el;
}

function fillSay(say, i, j, edit = false) {
  const text = draft.comments[i][j];
  say.hidden = !edit && !text;
  if (!edit) { say.replaceChildren(icon("talk"), h("div", { class: "grow" }, h("p", null, h("b", null, `To ${shown.proposal.client}`), " ", h("span", { class: "dim sm" }, "sent with the decision")), h("p", { class: "pre" }, safe(text))), btn("Edit", { cls: "ghost small", onclick: () => fillSay(say, i, j, true) })); return; }
  const area = h("textarea", { placeholder: `Comment to ${shown.proposal.client}. Esc ends it.`, "aria-label": "Comment to the agent", maxlength: "2000" });
  area.value = text;
  area.addEventListener("input", () => { draft.comments[i][j] = area.value; save(); drawDecide(); });
  area.addEventListener("blur", () => fillSay(say, i, j));
  say.replaceChildren(icon("talk"), h("div", { class: "grow" }, area));
  area.focus();
}

function paint(el, verdict) {
  el.classList.toggle("yes", verdict === "accept");
  el.classList.toggle("no", verdict === "refuse");
  const tag = verdict === "accept" ? h("span", { class: "tag ok" }, icon("check"), "accepted") : verdict === "refuse" ? h("span", { class: "tag no" }, icon("x"), "refused") : h("span", { class: "tag acc" }, "undecided");
  el.querySelector(".verdict").replaceChildren(tag);
  el.setAttribute("aria-label", `${el.dataset.name}, ${verdict === "accept" ? "accepted" : verdict === "refuse" ? "refused" : "undecided"}`);
  for (const b of el.querySelectorAll(".acts .btn")) b.setAttribute("aria-pressed", String(b.classList.contains(verdict === "accept" ? "yes" : verdict === "refuse" ? "no" : "none")));
}

function now() {
  els.detail.querySelector(".hunk.now")?.classList.remove("now");
  hunkAt(at)?.classList.add("now");
}

function decide(el, verdict) {
  const i = Number(el.dataset.f), j = Number(el.dataset.h);
  draft.verdicts[i][j] = draft.verdicts[i][j] === verdict ? "" : verdict;
  if (shown.proposal.whole) draft.verdicts = draft.verdicts.map((v) => v.map(() => draft.verdicts[i][j]));
  save();
  for (const x of shown.proposal.whole ? hunksNow() : [el]) paint(x, draft.verdicts[i][j]);
  drawDecide();
  if (draft.verdicts[i][j]) focusNext(Number(el.dataset.k) + 1);
}

// undecided is the first hunk without a verdict, from one on and then from the
// top; -1 if there is none.
function undecided(from) {
  const all = draft?.verdicts.flat() ?? [];
  const k = all.findIndex((v, i) => i >= from && !v);
  return k < 0 ? all.findIndex((v) => !v) : k;
}

// focusNext goes to the next hunk without a verdict, from one on.
async function focusNext(from, focus = true) {
  const k = undecided(from);
  if (k < 0) { els.decide?.querySelector(".primary")?.focus(); return; }
  goTo(k, focus);
}

async function goTo(k, focus = true) {
  at = k;
  const el = hunkAt(k) ?? await reach(k);
  if (!el || at !== k) return;
  now();
  if (focus) { el.focus({ preventScroll: true }); reveal(el); }
}

function reveal(el) {
  const r = el.getBoundingClientRect(), top = 110, bottom = innerHeight - 120;
  if (r.top < top || r.top > bottom - 60) scrollBy(0, r.top - top);
}

function tally() {
  const flat = draft.verdicts.flat();
  return { yes: flat.filter((v) => v === "accept").length, no: flat.filter((v) => v === "refuse").length, left: flat.filter((v) => !v).length, comments: draft.comments.flat().filter(Boolean).length + (draft.comment ? 1 : 0) };
}

function drawDecide() {
  if (!els.decide) return;
  const t = tally(), { proposal: p, files } = shown, ready = t.left === 0;
  const touched = draft.verdicts.filter((v) => v.includes("accept")).length;
  const stale = files.some((f, i) => f.stale && draft.verdicts[i].includes("accept"));
  const text = stale ? "A file changed since the proposal: refuse what touches it."
    : !ready ? `Nothing is written yet. Decide ${plural(t.left, "more hunk")} to send.`
      : [t.yes ? `${plural(t.yes, "hunk")} in ${plural(touched, "file")} ${t.yes === 1 ? "is" : "are"} written as one change.` : "Nothing is written.", t.comments ? ` ${plural(t.comments, "comment")} ${t.comments === 1 ? "goes" : "go"} to ${p.client}.` : ""].join("");
  const focused = els.decide.contains(document.activeElement);
  els.decide.replaceChildren(h("div", { class: "tally" }, t.yes ? h("span", { class: "tag ok" }, icon("check"), `${t.yes} accepted`) : null, t.no ? h("span", { class: "tag no" }, icon("x"), `${t.no} refused`) : null, t.left ? h("span", { class: "tag acc" }, `${t.left} undecided`) : null),
    h("span", { class: "sub sm grow" }, text),
    h("div", { class: "btns" }, t.left && t.left < p.hunks ? btn("Refuse the rest", { cls: "ghost", onclick: () => { draft.verdicts = draft.verdicts.map((v) => v.map((x) => x || "refuse")); save(); redraw(); } }) : null,
      btn("Send decision", { cls: "primary", key: "enter", "data-writes": "1", disabled: !ready || stale || sending || !app.live.connected, onclick: send })));
  if (focused) els.decide.querySelector(".primary").focus();
}

function redraw() {
  for (const el of hunksNow()) paint(el, draft.verdicts[Number(el.dataset.f)][Number(el.dataset.h)]);
  drawDecide();
  if (!tally().left) els.decide.querySelector(".primary")?.focus();
}

// still says whether the person still sees what a question was about: another tab may
// have decided it meanwhile.
const still = (p) => shown?.proposal.id === p.id && open(shown.proposal.state);

async function whole(verdict) {
  if (sending) return;
  const { proposal: p } = shown;
  if (!(await app.ask(verdict === "accept" ? "Accept everything?" : "Refuse everything?", h("p", null, verdict === "accept" ? `${plural(p.hunks, "hunk")} in ${plural(p.files, "file")} ${p.hunks === 1 ? "is" : "are"} written as one change, which can be undone.` : `Nothing is written, and ${p.client} hears that you refused it.`), verdict === "accept" ? "Accept all" : "Refuse all", verdict === "refuse"))) return;
  if (!still(p)) { app.toast(`${p.id} was decided already`, "bad"); return; }
  draft.verdicts = draft.verdicts.map((v) => v.map(() => verdict));
  save();
  redraw();
  send();
}

// bodyOf is the decision as it is sent: most hunks have the verdict of the rest.
function bodyOf(confirm) {
  const t = tally(), rest = t.yes > t.no ? "accept" : "refuse";
  const short = (rows, empty) => {
    const cut = rows.map((row) => row.slice(0, row.findLastIndex((x) => !empty(x)) + 1).map((x) => (empty(x) ? "" : x)));
    return cut.slice(0, cut.findLastIndex((row) => row.length) + 1);
  };
  return { rest, hunks: short(draft.verdicts, (v) => v === rest), comment: draft.comment, comments: short(draft.comments, (c) => !c), confirm };
}

async function send() {
  if (!shown || !draft || tally().left || sending || !app.live.connected) return false;
  const { proposal: p } = shown;
  let confirm = false;
  if (p.state === "abandoned" && tally().yes) {
    confirm = await app.ask("The agent has gone. Apply it all the same?", h("p", null, "It ended the call or its connection since it proposed this, or it was ended. It may not expect the change any more."), "Apply it");
    if (!confirm || !still(p)) return;
  }
  app.busy(true);
  sending = true;
  drawDecide();
  try {
    const res = await post(`/api/review/${encodeURIComponent(p.id)}`, bodyOf(confirm));
    sessionStorage.removeItem(draftKey(p.id));
    app.toast(res.proposal.state === "refused" ? `Refused: ${p.summary}` : `Applied as ${res.proposal.change}`);
    if (!here || shown?.proposal.id !== p.id) { load(); return; } // the person went on
    shown = res;
    await load();
    if (!here) return;
    const next = list.proposals.filter((x) => open(x.state) && x.id !== p.id).at(-1);
    if (next && app.wide) app.go(addressOf(next.id)); else { drawDetail(); }
  } catch (e) {
    app.fail(e);
    await load();
    if (here) showDetail();
  } finally {
    app.busy(false);
    sending = false;
    if (els.decide?.isConnected && draft) drawDecide();
  }
}

function comment() {
  const el = hunkAt(at);
  if (!el || !els.decide?.isConnected) return false;
  fillSay(el.querySelector(".say"), Number(el.dataset.f), Number(el.dataset.h), true);
}

function move(step) {
  if (!shown?.proposal.hunks) return false;
  goTo(Math.max(0, Math.min(at + step, shown.proposal.hunks - 1)));
}

function moveFile(step) {
  const f = Number(hunkAt(at)?.dataset.f ?? 0) + step;
  if (!shown?.files[f]) return false;
  goTo(shown.files.slice(0, f).reduce((sum, x) => sum + x.count, 0));
}

const onHunk = (verdict) => () => {
  const el = hunkAt(at);
  if (!el || !els.decide?.isConnected || !draft || sending) return false;
  decide(el, verdict);
};

function live(name, data) {
  if (name === "connection") { els.detail.querySelectorAll("[data-writes]").forEach((b) => { b.disabled = !data.up; }); if (els.decide?.isConnected && draft) drawDecide(); return; }
  if (name !== "review" || !list) return;
  load();
  // What is being read stays; only another state of it is shown.
  if (st.id) refresh();
}

async function refresh() {
  const { id } = st, mine = detailNumber;
  try {
    const res = await get(`/api/review/${encodeURIComponent(id)}`);
    if (mine !== detailNumber || st.id !== id || !shown) return;
    const changed = res.proposal.state !== shown.proposal.state || JSON.stringify(res.proposal.stale) !== JSON.stringify(shown.proposal.stale) || res.proposal.problem !== shown.proposal.problem;
    const writing = els.detail.contains(document.activeElement) && document.activeElement.matches("textarea");
    shown.proposal = { ...shown.proposal, until: res.proposal.until };
    if (changed && !writing && !sending) { shown = res; const y = scrollY, k = at; await drawDetail(); await reach(k); scrollTo(0, y); now(); }
  } catch { /* the next event tells again */ }
}

export const review = {
  enter, leave, update, live,
  once: ["a", "r", "A", "R", "Enter"],
  resized: () => layout.apply(),
  keys: {
    j: () => move(1), k: () => move(-1), n: () => moveFile(1), p: () => moveFile(-1), a: onHunk("accept"), r: onHunk("refuse"), c: comment, s: () => layout.next(),
    A: () => (els.decide?.isConnected ? whole("accept") : false), R: () => (els.decide?.isConnected ? whole("refuse") : false), Enter: () => send(),
    Escape: () => { if (st.id && !app.wide) app.go(addressOf("")); else return false; },
  },
};
