// The hunks of a proposal, of which there may be 100,000: they are drawn as the
// reader comes near them. What the server left out is asked for.

import { get } from "./api.js";
import { app } from "./frame.js";
import { btn, h, icon, plural, safe } from "./dom.js";
import { appendLazily, fileHead, hunkBody } from "./diffview.js";
import { isOpen } from "./states.js";

export class Hunks {
  // hunk makes the element of a hunk: hunk(file, i, j, k).
  constructor(into, { proposal, files }, hunk) {
    Object.assign(this, { into, proposal, files, hunk, i: 0, j: 0, k: 0, card: null, busy: null, over: false });
    this.end = h("div", { class: "lazyend" });
    this.seen = new IntersectionObserver((es) => { if (es.some((e) => e.isIntersecting)) this.more(); }, { rootMargin: "1500px" });
    into.append(this.end);
    this.seen.observe(this.end);
    this.first = this.more(); // resolves when the first ones are there
  }

  stop() { this.over = true; this.seen.disconnect(); }

  more() {
    this.busy ??= this.some().finally(() => { this.busy = null; });
    return this.busy;
  }

  // some draws the next hunks, and goes on as long as their end is near.
  async some(near = true) {
    while (this.i < this.files.length && !this.over) {
      let lines = 0;
      for (let some = 0; some < 40 && lines < 600 && this.i < this.files.length; ) {
        const f = this.files[this.i];
        if (!this.card) { this.card = this.cardOf(f, this.i); this.end.before(this.card); }
        if (this.j >= f.count) {
          if (f.cut && isOpen(this.proposal.state)) this.card.append(this.restOf(f, this.i));
          Object.assign(this, { card: null, i: this.i + 1, j: 0 });
          continue;
        }
        if (this.j >= f.decisions.length && !(await this.ask(f))) return;
        this.card.append(this.hunk(f, this.i, this.j, this.k));
        lines += f.decisions[this.j].parts.reduce((sum, part) => sum + part.lines.length, 0);
        some++; this.j++; this.k++;
      }
      if (!near || this.end.getBoundingClientRect().top > innerHeight + 1500) return;
      await new Promise((resolve) => setTimeout(resolve)); // the page stays alive
    }
    if (!this.over) { this.seen.disconnect(); this.end.remove(); }
  }

  async ask(f) {
    try {
      const res = await get(`/api/review/${encodeURIComponent(this.proposal.id)}`, { file: this.i + 1, from: this.j });
      if (this.over || !res.decisions.length) return false;
      f.decisions.push(...res.decisions);
      return true;
    } catch (e) { app.fail(e); return false; }
  }

  // reach draws until a hunk is there, and returns it.
  async reach(k) {
    while (this.k <= k && this.i < this.files.length && !this.over) {
      const before = this.k;
      await (this.busy ?? this.some(false));
      if (this.k === before) break;
      await new Promise((resolve) => setTimeout(resolve));
    }
    return this.at(k);
  }

  at(k) { return this.into.querySelector(`.hunk[data-k="${k}"]`); }

  // of is the first hunk of a file.
  of(i) { return this.files.slice(0, i).reduce((sum, f) => sum + f.count, 0); }

  all() { return [...this.into.querySelectorAll(".hunk")]; }

  cardOf(f, i) {
    const card = h("section", { class: "card dfile", id: `f${i}`, tabindex: "-1" }, fileHead(f, isOpen(this.proposal.state) ? "will" : this.proposal.state === "withdrawn" || f.decisions[0]?.verdict === "refuse" ? "not" : "", h("span", { class: "tag num" }, plural(f.count, "hunk")), h("span", { class: "since" })));
    if (f.note && (f.add || f.del)) card.append(h("div", { class: "told pre" }, safe(f.note)));
    this.since(card, f);
    return card;
  }

  // since says whether the file is as it was when the proposal was made.
  since(card, f) {
    if (!isOpen(this.proposal.state)) return;
    card.querySelector(".since").replaceChildren(f.since ? h("span", { class: `tag ${f.since.length ? "warn" : ""}` }, f.since.length ? icon("warn") : null, "changed since", f.since.length ? null : ", still fits") : h("span", { class: "tag ok" }, icon("check"), "unchanged since"));
  }

  // restOf offers the whole diff of a file that is too long to be shown at once.
  restOf(f, i) {
    const box = h("div"), { id } = this.proposal;
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
}

// Before a hunk is decided, its first changed line and every changed word must have been
// on the screen, below the name of its file, which sticks.
const lineOf = (el) => el.querySelector(".l.add, .l.del, .told") ?? el.querySelector(".hhead");

const partsOf = (el) => [lineOf(el), ...el.querySelectorAll(".l.add ins, .l.del del")];
const seen = new WeakSet();

function room(el) {
  const head = el.closest(".dfile").querySelector(".head"), bar = document.querySelector(".bar").getBoundingClientRect();
  const bottom = document.querySelector(".decide")?.getBoundingClientRect().top ?? innerHeight;
  const under = Math.max(0, bar.bottom); // it scrolls away in a low window
  return { top: under + head.offsetHeight, bottom: Math.min(bottom, innerHeight) };
}

// A tall part is seen when its first row is.
const rowOf = (part) => { const { top, bottom } = part.getClientRects()[0] ?? part.getBoundingClientRect(); return { top, bottom: Math.min(bottom, top + 20) }; };
const isIn = (part, { top, bottom }) => { const row = rowOf(part); return row.top >= top - 1 && row.bottom <= bottom + 1; };

// outOfSight is the part of a hunk to show before the hunk can be decided; null if there
// is none. Where all parts fit on the screen they must be there together, otherwise each
// must have been there.
export function outOfSight(el) {
  const parts = partsOf(el), box = room(el), hidden = parts.filter((x) => !isIn(x, box));
  for (const x of parts) if (!hidden.includes(x)) seen.add(x);
  if (!hidden.length) return null;
  if (hidden.length === parts.length) return hidden.find((x) => !seen.has(x)) ?? parts[0];
  return hidden.find((x) => !seen.has(x)) ?? (heightOf(parts) <= box.bottom - box.top ? hidden[0] : null);
}

const heightOf = (parts, from = rowOf(parts[0]).top) => Math.max(...parts.map((x) => rowOf(x).bottom)) - from;

// reveal scrolls a part of a hunk into sight, with the whole hunk or all its parts where
// there is room. Rows that are drawn on the way may move it, so it looks again.
export function reveal(el, part = outOfSight(el), tries = 6) {
  if (!el.isConnected) return;
  const box = room(el), from = el.getBoundingClientRect().top, parts = partsOf(el), height = box.bottom - box.top;
  if (from < box.top - 1 || (part && !isIn(part, box))) {
    const first = rowOf(parts[0]).top, isFirst = !part || part === parts[0];
    const start = heightOf(parts, from) <= height || (isFirst && first + 24 - from < height && heightOf(parts) > height) ? from : heightOf(parts) + 8 <= height || isFirst ? first - 8 : rowOf(part).top - 8;
    scrollBy(0, start - box.top);
  }
  if (part && tries) requestAnimationFrame(() => { if (el.contains(document.activeElement) && !isIn(part, room(el))) reveal(el, part, tries - 1); });
}
