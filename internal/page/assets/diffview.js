// A diff. One markup for both layouts: removed and added rows, a second copy
// of each context row for the right side, and fillers; the style sheet picks.

import { app } from "./frame.js";
import { btn, code, folder, h, icon, n, notice, pathNode, plural, realPath } from "./dom.js";

const kinds = { create: "new", delete: "deleted", move: "moved", trash: "to the trash", restore: "restored", note: "" };
const unwritten = { will: { create: "will be new", delete: "will be deleted", move: "will move" }, not: { create: "not created", delete: "not deleted", move: "not moved" } };

export const pm = (add, del) => h("span", { class: "pm" }, h("span", { class: "plus" }, `+${n(add)}`), " ", h("span", { class: "minus" }, `−${n(del)}`));

// A long line is cut to what is around its changed words, and a long line of context to
// its beginning. What is cut is the same on both sides; a button shows it.
const long = 200, near = 80;

function shortened(l, tag) {
  const keep = [];
  if (l.t.length > long && l.k === " ") keep.push([0, near]);
  for (let i = 0; l.t.length > long && i + 1 < (l.m?.length ?? 0); i += 2) {
    const a = Math.max(0, l.m[i] - near), b = Math.min(l.t.length, l.m[i + 1] + near);
    if (keep.length && a - keep.at(-1)[1] < near) keep.at(-1)[1] = b; else keep.push([a < near ? 0 : a, b]);
  }
  const all = () => code(l.t, l.c, l.m, tag), tx = h("span");
  if (!keep.length) return all();
  const rest = (n) => h("button", { type: "button", class: "far", onclick: () => tx.replaceChildren(...all()) }, `⋯ ${plural(n, "character")} ⋯`);
  let at = 0;
  for (let [a, b] of keep) {
    if (a) a = Math.max(l.t.lastIndexOf(" ", a) + 1, a - 30); // between words, and not within a pair of surrogates
    if (b < l.t.length) b = Math.min(l.t.indexOf(" ", b) + 1 || l.t.length, b + 30);
    if (/[\udc00-\udfff]/.test(l.t[a])) a--;
    if (/[\udc00-\udfff]/.test(l.t[b] ?? "")) b++;
    if (a > at) tx.append(rest(a - at));
    tx.append(...code(l.t.slice(a, b), cutColours(l.c, a, b), l.m?.map((x) => x - a).filter((_, i, m) => m[i - (i % 2)] >= 0 && m[i - (i % 2) + 1] <= b - a), tag));
    at = b;
  }
  if (at < l.t.length) tx.append(rest(l.t.length - at));
  return tx;
}

function cutColours(list, from, to) {
  const out = [];
  for (let i = 0, at = 0; i + 1 < (list?.length ?? 0); i += 2) {
    const a = Math.max(at, from), b = Math.min(at += list[i], to);
    if (b > a) out.push(b - a, list[i + 1]);
  }
  return out;
}

const marks = { "+": ["add", "added", "ins"], "-": ["del", "removed", "del"], " ": ["ctx", "", "mark"] };

export function row(l, extra = "") {
  const [cls, title, tag] = marks[l.k];
  return h("div", { class: `l ${cls}${extra}`, "aria-hidden": extra ? "true" : undefined },
    h("span", { class: "o" }, l.o || ""), h("span", { class: "w" }, l.w || ""),
    h("span", { class: "sg", title: title || undefined }, l.k === "+" ? "+" : l.k === "-" ? "−" : ""),
    h("span", { class: "tx" }, shortened(l, tag), l.e ? h("span", { class: "noend", title: "no newline at the end of the file" }, "no newline") : null, l.r ? h("span", { class: "noend", title: "the line ends with CR LF, others here with LF" }, "CR LF") : null));
}

const filler = (right) => h("div", { class: `l fill${right ? " r" : ""}`, "aria-hidden": "true" });

export function hunkBody(hunk) {
  const rows = h("div");
  const { lines } = hunk;
  for (let i = 0; i < lines.length;) {
    if (lines[i].k === " ") {
      rows.append(row(lines[i]), row(lines[i], " dup"));
      i++;
      continue;
    }
    let del = 0, add = 0;
    for (; i < lines.length && lines[i].k !== " "; i++) {
      if (lines[i].k === "-") del++; else add++;
      rows.append(row(lines[i]));
    }
    for (let k = del; k < add; k++) rows.append(filler(false));
    for (let k = add; k < del; k++) rows.append(filler(true));
  }
  return h("div", { class: "diff", role: "group", "aria-label": "Diff" }, rows);
}

// fileHead is the head of a file. yet is "will" before it is written, "not" if it never is.
export function fileHead(f, yet, ...more) {
  const kind = (unwritten[yet] ?? kinds)[f.kind];
  return h("div", { class: "head wrap" }, folder(f.path),
    h("span", { class: "grow names" }, f.old && f.old !== f.path ? [pathNode(f.old), h("span", { class: "dim" }, " → ")] : null, pathNode(f.path)),
    f.hunks || f.add || f.del ? pm(f.add, f.del) : null,
    kind ? h("span", { class: f.kind === "delete" ? "tag bad" : "tag" }, kind) : null, more);
}

export function firstLine(f) {
  const hunk = f.hunks?.[0];
  const at = hunk?.lines.findIndex((l) => l.k !== " ") ?? -1;
  return at < 0 ? 1 : hunk.lines[at].w || hunk.lines[at].o || 1;
}

export function fileActions(f) {
  const line = firstLine(f);
  return [
    btn("", { ic: "copy", cls: "ghost small icon", "aria-label": "Copy path and line", title: "Copy path:line", onclick: () => app.copy(`${realPath(f.path)}:${line}`, "path and line") }),
    app.about.editor.address && f.kind !== "delete" && f.kind !== "trash"
      ? btn("", { ic: "open", cls: "ghost small icon", "aria-label": `Open in ${app.about.editor.name}`, title: `Open in ${app.about.editor.name}`, onclick: () => app.openInEditor(f.path, line) }) : null,
  ];
}

// fileCard shows one file of a change. load fetches hunks that were left out
// because the whole change is large. undo, if given, undoes a part: of the file, or
// with a number of one of its hunks. into, if given, makes what leads from
// its hunks into the code.
export function fileCard(f, i, load, undo, into) {
  const body = h("div");
  const fill = (hunks) => {
    body.replaceChildren();
    const ways = into?.();
    for (const [j, hk] of (hunks ?? []).entries()) {
      const one = undo && hunks.length > 1 && f.kind === "edit" ? h("span", { class: "acts" }, btn("Undo this hunk", { cls: "ghost small", "data-writes": "1", "aria-label": `Undo this hunk: ${j + 1} of ${realPath(f.path)}`, onclick: () => undo({ path: f.path, hunk: j + 1 }) })) : null;
      const lines = h("div", null, hunkBody(hk)), head = h("div", { class: "hhead" }, h("span", null, hk.head)), el = h("div", { class: "hunk" }, head, lines);
      if (ways) head.append(ways.add(hk, el, lines));
      if (one) head.append(one);
      body.append(el);
    }
    if (f.cut) body.append(notice("warn", "cut", h("p", null, `${plural(f.cut, "more changed line")} of this file ${f.cut === 1 ? "is" : "are"} not shown.`)));
    if (hunks?.length && f.note) body.prepend(h("div", { class: "told" }, f.note));
    if (!hunks?.length && !f.cut) body.append(h("div", { class: "told" }, f.note || (f.kind === "move" ? "The content is the same." : "No lines differ.")));
  };
  if (f.deferred) body.append(h("div", { class: "told" }, btn(`Show ${plural(f.add + f.del, "changed line")}`, { cls: "small", onclick: async (e) => { e.target.disabled = true; try { fill((await load(i)).hunks); } catch (err) { e.target.disabled = false; app.fail(err); } } })));
  else fill(f.hunks);
  return h("section", { class: "card dfile", id: `f${i}`, tabindex: "-1" }, fileHead(f, "", fileActions(f), undo ? btn("Undo this file", { ic: "undo", cls: "ghost small", "data-writes": "1", "aria-label": `Undo this file: ${realPath(f.path)}`, onclick: () => undo({ path: f.path }) }) : null), body);
}

// appendLazily adds cards as the reader comes near the end: a change may have
// thousands of files.
export function appendLazily(into, list, make, step = 30) {
  let at = 0;
  const end = h("div", { class: "lazyend" });
  into.append(end);
  const more = () => {
    const part = document.createDocumentFragment();
    for (const stop = Math.min(list.length, at + step); at < stop; at++) part.append(make(list[at], at));
    end.before(part);
    if (at >= list.length) { seen.disconnect(); end.remove(); }
  };
  const seen = new IntersectionObserver((es) => { if (es.some((e) => e.isIntersecting)) more(); }, { rootMargin: "1500px" });
  more();
  if (at < list.length) seen.observe(end);
  return { upTo(i) { while (at <= i && at < list.length) more(); } };
}

// layout is auto (by width), split or unified.
export const layout = {
  get value() { try { return localStorage.getItem("quarry.diff") || "auto"; } catch { return "auto"; } },
  set(v) {
    try { localStorage.setItem("quarry.diff", v); } catch { /* not kept */ }
    layout.apply();
  },
  apply() {
    const v = layout.value;
    document.documentElement.classList.toggle("split", v === "split" || (v === "auto" && app.broad));
    for (const b of document.querySelectorAll("[data-layout]")) b.setAttribute("aria-pressed", String(b.dataset.layout === v));
  },
  next() {
    layout.set(document.documentElement.classList.contains("split") ? "unified" : "split");
  },
  control() {
    return h("div", { class: "seg", role: "group", "aria-label": "Diff layout" }, [["auto", "Auto"], ["split", "Split"], ["unified", "Unified"]].map(([v, label]) =>
      h("button", { type: "button", "data-layout": v, "aria-pressed": String(layout.value === v), onclick: () => layout.set(v) }, label)));
  },
};
