// One proposal: what it does, and the decision about it.
//
// Nothing is decided that is not shown: a key decides a hunk whose changed words are, or
// were, on the screen, with the name of its file above them. A key that can't act says why.

import { get, post } from "./api.js";
import { Draft } from "./draft.js";
import { fileList, paintFiles } from "./files.js";
import { app } from "./frame.js";
import { badge, btn, clock, day, fold, foldKeys, h, icon, n, notice, pathNode, plural, realPath, safe } from "./dom.js";
import { appendLazily, hunkBody, layout, pm } from "./diffview.js";
import { Into, intoKeys } from "./into.js";
import { Hunks, outOfSight, reveal } from "./hunks.js";
import { blockedPaths, does, isOpen, proposed, stateTag, titleOf, waitClock } from "./states.js";

let box, around, shown = null, draft = null, hunks = null, at = 0, refused = -1, number = 0, sending = false, decideBar = null, whyNot = "";

// into is where proposals are shown. around has what is outside: back() is a link to
// the list, load() draws the list anew, decided(id) is called after a decision.
export function into(el, outside) { box = el; around = outside; shown = draft = hunks = decideBar = null; }

// showRules shows the rules, with one for a proposal.
export const showRules = (like) => import("./rules.js").then((rules) => rules.showRules(like), app.fail);

export function leave() { number++; hunks?.stop(); hunks = shown = null; }

export async function show(id) {
  const mine = ++number;
  if (shown && shown.proposal.id !== id) scrollTo(0, 0); // its title comes first
  let res;
  try {
    res = await get(`/api/review/${encodeURIComponent(id)}`);
  } catch (e) {
    if (mine !== number) return;
    box.replaceChildren(around.back(), notice("bad", "warn", h("p", null, h("b", null, e.status === 404 ? "There is no such proposal." : "This proposal can't be shown.")), h("p", { class: "pre" }, safe(e.message))));
    app.whenBack(e, () => { if (mine === number) show(id); });
    return;
  }
  if (mine !== number) return;
  shown = res;
  draft = new Draft(res.proposal, res.files.map((f) => f.count));
  at = Math.max(0, draft.undecided(0)); // before it is drawn: a key may come at once
  refused = -1;
  whyNot = "";
  await draw();
  if (mine === number && draft.undecided(0) >= 0) goTo(at, false);
}

export function clear() { number++; shown = null; hunks?.stop(); }

const canDecide = () => !!decideBar?.isConnected && !!draft && !!shown;

function draw() {
  const { proposal: p, files } = shown, live = isOpen(p.state) && p.state !== "applying" && !app.about.read_only;
  const by = { page: "on the page", shell: "at a shell", rule: "by a rule" }[p.by] ?? "by the agent";
  const head = h("div", { class: "dhead" },
    h("div", { class: "row" }, h("h1", null, proposed(p)), h("div", { class: "btns" }, layout.control(),
      live ? btn("Accept all", { key: "A", cls: "yes", "data-writes": "1", "data-all": "1", onclick: acceptRest }) : null, live ? btn("Refuse all", { key: "R", cls: "no", "data-writes": "1", onclick: refuseAll }) : null)),
    h("div", { class: "facts" }, h("span", null, badge(p.client), safe(p.client, true)), h("span", null, h("code", null, safe(p.tool, true))), does(p), h("span", null, pm(p.add, p.del)), h("span", { class: "mono dim" }, p.id),
      isOpen(p.state) ? h("span", { class: "wait-clock", "data-ring": "1" }, waitClock(p)) : h("span", null, `${day(p.decided)} ${clock(p.decided)}, ${by}`),
      stateTag(p), p.rule ? h("span", { class: "byrule" }, "asked by the rule ", h("code", null, safe(p.rule, true))) : null, app.about.read_only ? null : btn("Accept changes like this…", { cls: "ghost small", title: "Make a rule that accepts them", onclick: () => showRules(shown) }), p.change ? h("span", null, "applied as ", h("a", { href: `/changes/${encodeURIComponent(p.change)}` }, p.change)) : null));
  box.replaceChildren(around.back(), head);
  if (p.problem) box.append(notice("bad", "warn", h("p", null, h("b", null, "It could not be applied. Nothing was changed.")), h("p", { class: "pre" }, safe(p.problem))));
  if (p.state === "abandoned") box.append(notice("warn", "warn", h("p", null, h("b", null, "The agent has gone since."), " It ended the call or its connection, or it was ended. Accepting asks once more.")));
  if (!isOpen(p.state) && p.comment) box.append(notice("", "talk", h("p", null, h("b", null, `To ${p.client}`)), h("p", { class: "pre" }, safe(p.comment))));
  const stale = h("div", { class: "stalebox" });
  box.append(stale);
  if (files.length > 1) box.append(fileList(shown, draft, live && decideFile, (i) => goTo(hunks.of(i))));
  hunks?.stop();
  setSince();
  hunks = new Hunks(box, shown, (f, i, j, k) => hunkOf(f, i, j, k, live));
  decideBar = null;
  if (live) {
    decideBar = h("div", { class: "decide", role: "group", "aria-label": "Decision" }, h("div", { class: "decision" }, h("div", { class: "says" }, h("div", { class: "tally" }), h("span", { class: "sub sm", role: "status" })), h("div", { class: "btns" })));
    box.append(decideBar, h("div", { class: "underbar" }));
  }
  drawStale();
  drawDecide();
  layout.apply();
  return hunks.first;
}

function setSince() { for (const f of shown.files) f.since = isOpen(shown.proposal.state) ? shown.proposal.since?.[f.old || f.path] : undefined; }

// drawStale says which files changed since the proposal was made.
function drawStale() {
  setSince();
  const { proposal: p, files } = shown, list = isOpen(p.state) ? blockedPaths(p) : [];
  box.querySelector(".stalebox").replaceChildren(...(list.length ? [notice("warn", "warn", h("p", null, h("b", null, "Files changed since this was proposed.")), h("ul", { class: "conflicts" }, list.map((x) => h("li", null, pathNode(x)))), h("p", { class: "sub sm" }, "The hunks that meet those changes are marked and can only be refused; the agent then reads the files again. The others still fit."))] : []));
  const all = box.querySelector("[data-all]");
  if (all) { all.dataset.no = list.length ? "1" : ""; all.disabled = !!list.length || !app.live.connected; all.title = list.length ? "Files changed since: not all of it can be accepted" : ""; }
  for (const [i, f] of files.entries()) { const card = box.querySelector(`#f${i}`); if (card) hunks?.since(card, f); }
  for (const el of hunks?.all() ?? []) block(el);
}

function decideFile(i, verdict) {
  if (sending) return;
  if (verdict === "accept" && shown.files[i].since?.length) return why("The file was changed here since the proposal: some of its hunks can only be refused.");
  draft.setFile(i, verdict);
  redraw();
}

// ---- hunks

function hunkOf(f, i, j, k, live) {
  const d = f.decisions[j], verdict = live ? draft.verdicts[i][j] : d.verdict, first = d.parts[0];
  const where = !first?.old_start ? "" : first.old_count ? ` · lines ${first.old_start}–${first.old_start + first.old_count - 1}` : ` · after line ${first.old_start}`;
  const name = `hunk ${k + 1} of ${shown.proposal.hunks}`;
  const el = h("div", { class: "hunk", tabindex: "0", role: "group", "data-f": i, "data-h": j, "data-k": k, "data-name": name }, h("div", { class: "hhead" }, h("span", { class: "num" }, `${n(k + 1)} of ${n(shown.proposal.hunks)}${where}`), first?.in ? h("span", { class: "in" }, safe(first.in, true)) : null, h("span", { class: "verdict" }),
    live ? h("span", { class: "acts" },
      btn("Accept", { ic: "check", cls: "small yes", key: "a", "data-writes": "1", "aria-label": `Accept ${name}`, onclick: () => decide(el, "accept") }),
      btn("Refuse", { ic: "x", cls: "small no", key: "r", "data-writes": "1", "aria-label": `Refuse ${name}`, onclick: () => decide(el, "refuse") }),
      btn("", { ic: "talk", cls: "small ghost icon", "aria-label": `Comment on ${name}`, title: "Comment (c)", onclick: () => comment(k) })) : null));
  const body = h("div");
  el.append(body);
  if (isOpen(shown.proposal.state) && !f.since && f.kind === "edit" && d.parts.length === 1) el.querySelector(".verdict").before((f.into ??= new Into(f, { path: f.path })).add(d.parts[0], el, body));
  if (d.parts.length === 1) body.append(hunkBody(d.parts[0]));
  else if (d.parts.length) appendLazily(body, d.parts, (part) => hunkBody(part), 1);
  else body.append(h("div", { class: "told pre" }, f.note ? safe(f.note) : f.kind === "move" ? "The content stays as it is." : "No lines to show."));
  const say = h("div", { class: "say", hidden: true });
  el.append(say);
  if (live) fillSay(say, i, j); else if (d.comment) { say.hidden = false; say.append(icon("talk"), h("div", { class: "grow" }, h("p", null, h("b", null, `To ${shown.proposal.client}`)), h("p", { class: "pre" }, safe(d.comment)))); }
  paint(el, verdict);
  if (live) block(el);
  el.addEventListener("focusin", () => { if (at !== k) went(); at = k; now(); });
  return el;
}

// went ends the offer to say why a hunk was refused: the person looks at another one.
function went() {
  const el = hunks?.at(refused);
  refused = -1;
  if (el) paint(el, draft.verdicts[Number(el.dataset.f)][Number(el.dataset.h)]);
}

function fillSay(say, i, j, edit = false, after = () => {}) {
  const text = draft.comments[i][j];
  say.hidden = !edit && !text;
  if (!edit) { say.replaceChildren(icon("talk"), h("div", { class: "grow" }, h("p", null, h("b", null, `To ${shown.proposal.client}`), " ", h("span", { class: "dim sm" }, "sent with the decision")), h("p", { class: "pre" }, safe(text))), btn("Edit", { cls: "ghost small", onclick: () => fillSay(say, i, j, true) })); return; }
  const area = field(`Comment to ${shown.proposal.client}. Esc ends it.`, text, (v) => { draft.comments[i][j] = v; });
  area.addEventListener("blur", () => { fillSay(say, i, j); after(); });
  say.replaceChildren(icon("talk"), h("div", { class: "grow" }, area));
  area.focus({ preventScroll: true });
  area.scrollIntoView({ block: "nearest" }); // between the file's head and the bar
}

function field(placeholder, text, set) {
  const area = h("textarea", { placeholder, "aria-label": "Comment to the agent", maxlength: "2000" });
  area.value = text;
  area.addEventListener("input", () => { set(area.value); draft.save(); drawDecide(); });
  return area;
}

// block marks a hunk that meets what was changed since.
function block(el) {
  const f = shown.files[Number(el.dataset.f)], is = !!f.since?.includes(Number(el.dataset.h)), note = el.querySelector(".met"), yes = el.querySelector(".acts .yes");
  if (is === !!note) return;
  if (yes) { yes.dataset.no = is ? "1" : ""; yes.disabled = is || !app.live.connected; }
  if (!is) { note.remove(); return; }
  const line = shown.files[Number(el.dataset.f)].decisions[Number(el.dataset.h)].parts[0]?.old_start || 1;
  el.querySelector(".hhead").after(h("div", { class: "told met" }, h("p", null, "The file was changed here since. ", h("a", { href: `/search?at=${encodeURIComponent(`${f.old || f.path}:${line}`)}` }, "See it as it is now"), ". This hunk can only be refused.")));
}

const words = { accept: "accepted", refuse: "refused", "": "undecided" };

function paint(el, verdict) {
  el.classList.toggle("yes", verdict === "accept");
  el.classList.toggle("no", verdict === "refuse");
  const word = words[verdict ?? ""], why = Number(el.dataset.k) === refused;
  el.querySelector(".verdict").replaceChildren(verdict ? h("span", { class: `tag ${verdict === "accept" ? "ok" : "no"}` }, icon(verdict === "accept" ? "check" : "x"), word) : h("span", { class: "tag acc" }, word), why ? h("span", { class: "why" }, " ", h("kbd", null, "c"), " says why") : "");
  el.setAttribute("aria-label", `${el.dataset.name}, ${word}`);
  for (const [cls, v] of [["yes", "accept"], ["no", "refuse"]]) el.querySelector(`.acts .${cls}`)?.setAttribute("aria-pressed", String(verdict === v));
}

function now() {
  box.querySelector(".hunk.now")?.classList.remove("now");
  hunks?.at(at)?.classList.add("now");
}

function decide(el, verdict) {
  if (sending) return;
  if (verdict === "accept" && el.querySelector(".met")) return why("The file was changed here since the proposal: this hunk can only be refused.");
  const k = Number(el.dataset.k);
  whyNot = "";
  went();
  const is = draft.set(Number(el.dataset.f), Number(el.dataset.h), verdict);
  if (is === "refuse") refused = k; // it can still be said why
  for (const x of draft.whole ? hunks.all() : [el]) paint(x, draft.verdicts[Number(x.dataset.f)][Number(x.dataset.h)]);
  drawDecide();
  if (!is) return;
  const to = draft.undecided(k + 1);
  if (to < 0) decideBar?.querySelector(".primary")?.focus(); else goTo(to);
}

async function goTo(k, focus = true) {
  at = k;
  const list = hunks, el = list?.at(k) ?? await list?.reach(k);
  if (!el || at !== k) return;
  now();
  if (!focus) return;
  fold(el.closest(".dfile"), false);
  el.focus({ preventScroll: true });
  reveal(el);
}

function move(step) {
  if (!shown?.proposal.hunks) return false;
  const to = Math.max(0, Math.min(at + step, shown.proposal.hunks - 1));
  went();
  if (to === at) why(step > 0 ? "This is the last hunk." : "This is the first hunk."); else why("");
  goTo(to);
}

function moveFile(step) {
  const f = Number(hunks?.at(at)?.dataset.f ?? 0) + step;
  if (!shown) return false;
  if (!shown.files[f]) return why(step > 0 ? "This is the last file." : "This is the first file.");
  went();
  why("");
  goTo(hunks.of(f));
}

// ---- the decision

// why says in the bar why a key did not act; without a bar, beside it.
function why(text) {
  if (text && !canDecide()) { app.toast(text, "info"); return; }
  if (text === whyNot) return;
  whyNot = text;
  drawDecide();
}

// closed says why nothing can be decided here; "" if it can.
function closed() {
  if (!shown) return "No proposal is open.";
  if (sending) return "The decision is being sent.";
  if (!isOpen(shown.proposal.state)) return "This proposal is decided already.";
  if (app.about.read_only) return "This page is read-only.";
  return canDecide() ? "" : "This proposal is being applied.";
}

function drawDecide() {
  if (!draft) return;
  paintFiles(box, shown, draft);
  if (!decideBar) return;
  const t = draft.tally(), { proposal: p, files } = shown, ready = t.left === 0;
  const stale = files.some((f, i) => f.since?.some((j) => draft.verdicts[i][j] === "accept"));
  const text = whyNot || (stale ? "A file changed since the proposal: refuse what touches it."
    : !ready ? `Nothing is written yet: decide ${plural(t.left, "more hunk")} to send.`
      : [t.yes ? `${plural(t.yes, "hunk")} in ${plural(t.files, "file")} will be written as one change.` : "Nothing will be written.", t.comments ? ` ${plural(t.comments, "comment")} will go to ${p.client}.` : ""].join(""));
  const focused = decideBar.contains(document.activeElement) && !document.activeElement.matches("textarea"), some = t.left && t.left < p.hunks;
  const rest = (label, verdict) => btn(label, { cls: "ghost", onclick: () => { draft.rest(verdict); redraw(); } });
  const more = (words) => h("span", { class: "more" }, words), tag = (count, cls, ic, word) => (count ? h("span", { class: `tag ${cls}` }, ic && icon(ic), String(count), more(word)) : "");
  decideBar.querySelector(".tally").replaceChildren(tag(t.yes, "ok", "check", " accepted"), tag(t.no, "no", "x", " refused"), h("span", { class: "tag acc", hidden: !t.left }, `${t.left} undecided`));
  const says = decideBar.querySelector(".says > .sub");
  if (says.textContent !== text) says.textContent = says.title = text;
  says.classList.toggle("warn", !!whyNot || stale);
  const talk = draft.comment ? "Edit the comment" : "Comment";
  decideBar.querySelector(".btns").replaceChildren(btn(more(talk), { ic: "talk", cls: "ghost", key: "C", "aria-label": `${talk} on the whole`, onclick: commentWhole }), ...(some ? [rest(h("span", null, "Refuse", more(" the"), " rest"), "refuse"), rest(h("span", null, "Accept", more(" the"), " rest"), "accept")] : []),
    btn(h("span", null, "Send", more(" decision")), { cls: "primary", key: "enter", "data-writes": "1", disabled: !ready || stale || sending || !app.live.connected, onclick: send }));
  if (focused) decideBar.querySelector(".primary").focus();
}

// redraw shows all verdicts anew.
function redraw() {
  refused = -1;
  whyNot = "";
  for (const el of hunks.all()) paint(el, draft.verdicts[Number(el.dataset.f)][Number(el.dataset.h)]);
  drawDecide();
  if (!draft.tally().left) decideBar?.querySelector(".primary")?.focus();
}

// comment asks for a comment on a hunk, and then goes back to where the person was.
function comment(k = refused >= 0 ? refused : at) {
  const el = hunks?.at(k), to = at;
  if (!el || !canDecide()) return false;
  fold(el.closest(".dfile"), false);
  const after = () => setTimeout(() => { if (at === k && to !== k && !box.contains(document.activeElement)) goTo(to); });
  fillSay(el.querySelector(".say"), Number(el.dataset.f), Number(el.dataset.h), true, after);
}

function commentWhole() {
  if (!canDecide()) return false;
  if (decideBar.querySelector("textarea")) { decideBar.querySelector("textarea").focus(); return; }
  const area = field(`Comment to ${shown.proposal.client} on the whole. Esc ends it.`, draft.comment, (v) => { draft.comment = v; });
  const line = h("div", { class: "whole" }, area);
  area.addEventListener("blur", () => { line.remove(); drawDecide(); });
  decideBar.prepend(line);
  area.focus();
}

// still says whether the person still sees what a question was about: another tab may
// have decided it meanwhile.
const still = (p) => shown?.proposal.id === p.id && isOpen(shown.proposal.state);

async function acceptRest() {
  if (sending || !canDecide()) return false;
  const { proposal: p, files } = shown, t = draft.tally("accept");
  const stale = files.filter((f, i) => f.since?.some((j) => draft.verdicts[i][j] !== "refuse"));
  if (stale.length) { app.toast(`${realPath(stale[0].path)} changed since this was proposed, so it can't be accepted. Refuse what touches it.`, "bad"); return; }
  const all = t.no === 0;
  const text = t.yes ? `${plural(t.yes, "hunk")} accepted, ${n(t.no)} refused. What is accepted, in ${plural(t.files, "file")}, will be written as one change, which can be undone.` : `0 accepted, ${n(t.no)} refused. Nothing will be written.`;
  if (!(await app.ask(all ? "Accept everything?" : "Accept the rest?", h("p", null, text), all ? "Accept all" : "Accept the rest"))) return;
  if (!still(p)) { app.toast(`${p.id} was decided already`, "bad"); return; }
  draft.rest("accept");
  redraw();
  send();
}

async function refuseAll() {
  if (sending || !canDecide()) return false;
  const { proposal: p } = shown, t = draft.tally();
  const area = field(`Why? ${p.client} reads it. Enter refuses, Shift+Enter is a new line.`, draft.comment, (v) => { draft.comment = v; });
  const body = h("div", null, h("p", null, `Nothing will be written${t.yes ? `, also of the ${plural(t.yes, "hunk")} that ${t.yes === 1 ? "is" : "are"} accepted` : ""}, and ${p.client} hears that you refused it.`), area);
  if (!(await app.ask("Refuse everything?", body, "Refuse all", true))) { drawDecide(); return; }
  if (!still(p)) { app.toast(`${p.id} was decided already`, "bad"); return; }
  draft.all("refuse");
  redraw();
  send();
}

async function send() {
  const not = closed(), left = not || draft.tally().left;
  if (left || !app.live.connected || decideBar.querySelector(".primary").disabled) {
    why(not || (left ? `Decide ${plural(left, "more hunk")} first: nothing is sent yet.` : app.live.connected ? "" : "Not connected: nothing can be sent."));
    return;
  }
  const { proposal: p } = shown, mine = draft;
  let confirm = false;
  if (p.state === "abandoned" && draft.tally().yes) {
    confirm = await app.ask("The agent has gone. Apply it all the same?", h("p", null, "It ended the call or its connection since it proposed this, or it was ended. It may not expect the change any more."), "Apply it");
    if (!confirm || !still(p)) return;
  }
  app.busy(true);
  sending = true;
  drawDecide();
  try {
    const res = await post(`/api/review/${encodeURIComponent(p.id)}`, mine.body(confirm));
    mine.forget();
    app.toast(res.proposal.state === "refused" ? `Refused: ${titleOf(p)}` : `Applied as ${res.proposal.change}`);
    if (shown?.proposal.id === p.id) shown = res;
    sending = false;
    if (!(await around.decided(p.id)) && shown?.proposal.id === p.id) draw();
  } catch (e) {
    app.fail(e);
    sending = false;
    await around.decided("");
    if (shown?.proposal.id === p.id) show(p.id);
  } finally {
    app.busy(false);
    sending = false;
    if (canDecide()) drawDecide();
  }
}

// ---- live

export function tick() {
  const ring = box.querySelector("[data-ring]");
  if (ring && shown) ring.replaceChildren(...waitClock(shown.proposal));
}

export function connection(up) {
  box.querySelectorAll("[data-writes]").forEach((b) => { b.disabled = !up || b.dataset.no === "1"; });
  if (canDecide()) drawDecide();
}

// look asks whether files of what is shown changed since.
export async function look() {
  if (!shown || !isOpen(shown.proposal.state) || sending) return;
  const mine = number, { id } = shown.proposal;
  try {
    const res = await get(`/api/review/${encodeURIComponent(id)}`, { look: "1" });
    if (mine === number && shown?.proposal.id === id) take(res);
  } catch { /* the next look may have an answer */ }
}

function take(res) {
  const was = shown.proposal, p = res.proposal;
  if (p.state !== was.state || p.problem !== was.problem) { refresh(); return; }
  was.until = p.until;
  if (JSON.stringify(p.since) === JSON.stringify(was.since)) return;
  was.since = p.since;
  drawStale();
  drawDecide();
  around.load(); // the list says it too
}

// refresh shows another state of the proposal; what is being read stays in place.
export async function refresh() {
  if (!shown || sending) return;
  const mine = number, { id } = shown.proposal;
  try {
    const res = await get(`/api/review/${encodeURIComponent(id)}`);
    const writing = box.contains(document.activeElement) && document.activeElement.matches("textarea");
    if (mine !== number || shown?.proposal.id !== id || writing || sending) return;
    if (res.proposal.state === shown.proposal.state && res.proposal.problem === shown.proposal.problem) { take(res); return; }
    shown = res;
    const y = scrollY, k = at;
    await draw();
    await hunks.reach(k);
    scrollTo(0, y);
    now();
  } catch { /* the next event tells again */ }
}

// onHunk decides the current hunk, if it is on the screen; otherwise it is shown.
const onHunk = (verdict) => () => {
  const el = hunks?.at(at), not = closed();
  if (not || !el) return why(not || "This hunk is not drawn yet.");
  fold(el.closest(".dfile"), false);
  const part = outOfSight(el);
  if (!part) return decide(el, verdict);
  el.focus({ preventScroll: true });
  reveal(el, part);
  why("This hunk was not all on the screen. Read on, then decide.");
};

// What was scrolled past was seen.
addEventListener("scroll", () => { const el = hunks?.at(at); if (el && canDecide()) outOfSight(el); }, { passive: true });

function viewed() {
  const f = Number(hunks?.at(at)?.dataset.f ?? -1), row = box.querySelector(`.frow[data-file="${f}"] input`);
  if (!row) return false;
  row.click();
}

export const keys = {
  j: () => move(1), k: () => move(-1), n: () => moveFile(1), p: () => moveFile(-1), a: onHunk("accept"), r: onHunk("refuse"), c: () => comment(), C: commentWhole, v: viewed, ...intoKeys(() => hunks?.at(at)), ...foldKeys(() => box, () => hunks?.at(at)?.closest(".dfile")),
  A: () => (closed() ? why(closed()) : acceptRest()), R: () => (closed() ? why(closed()) : refuseAll()), Enter: () => send(),
};
