// Hits as they are drawn: a file with its matching lines, or a path.

import { code, folder, h, icon, n, oddName, pathNode, realPath, safe } from "./dom.js";

// toMatch cuts what comes before the first match of a line that would be out of
// sight: its number takes about 60 pixels, and a character 7.8.
export function toMatch(l, wide) {
  const room = Math.max(30, (wide - 60) / 7.8);
  if (!l.s?.length || l.s[1] < room) return;
  let from = Math.max(0, l.s[0] - Math.floor(room / 3));
  if (/[\udc00-\udfff]/.test(l.t[from] ?? "")) from++; // not in the middle of a character
  l.l = (l.l ?? 0) + new TextEncoder().encode(l.t.slice(0, from)).length;
  l.t = l.t.slice(from);
  l.s = l.s.map((x) => x - from);
}

// article makes the frame of a file; drawLines adds its lines.
export function article(one, ranked) {
  const { f } = one, hits = (f.lines ??= []).filter((l) => l.h).length;
  one.ol = h("ol");
  const odd = oddName(f.path);
  const label = (f.matched > hits && !ranked ? `${n(hits)} of ${n(f.matched)}` : n(hits || f.matched)) + (f.more ? " or more" : "");
  const el = h("article", { class: "file" },
    h("div", { class: "head" }, folder(f.path), pathNode(f.path), h("span", { class: "tag num" }, label, h("span", { class: "vh" }, " matches")), f.kind ? h("span", { class: "tag" }, f.kind) : null, f.in ? h("span", { class: "dim sm" }, "in ", safe(f.in, true)) : null, odd ? h("span", { class: "tag warn" }, odd) : null),
    h("div", { class: "lines", role: "group", "aria-label": `Matching lines of ${realPath(f.path)}` }, one.ol));
  el.style.setProperty("--lines", f.lines.length); // its height before it is drawn: what is below stays where it is
  el.file = f;
  return el;
}

// drawLines adds at most so many lines and returns how many.
export function drawLines(one, most, address) {
  const { f, ol } = one, lines = f.lines.slice(one.at, one.at + most);
  let last = f.lines[one.at - 1]?.n ?? 0;
  for (const l of lines) {
    if (last && l.n > last + 1) ol.append(h("li", { class: "gap", "aria-hidden": "true" }));
    last = l.n;
    const src = h("span", { class: "src" }, l.l ? h("span", { class: "cutmark", title: `${n(l.l)} bytes before` }, "…") : null, code(l.t, null, l.s), l.r ? h("span", { class: "cutmark", title: `${n(l.r)} more bytes` }, "…") : null);
    ol.append(l.h
      ? h("li", null, h("a", { class: "hit", href: address(f, l.n), "data-line": l.n }, h("span", { class: "no" }, l.n), src))
      : h("li", { class: "hit ctx", "data-line": l.n }, h("span", { class: "no" }, l.n), src));
  }
  one.at += lines.length;
  return lines.length;
}

export function pathArticle(f, address) {
  const el = h("article", { class: "file pathrow" }, h("a", { class: "hit pathhit", href: address, "data-line": f.place ?? 1 }, icon("file"), h("span", null, pathNode(f.path, f.lines?.[0]?.s), f.place ? h("b", { class: "mono" }, `:${f.place}`) : null), oddName(f.path) ? h("span", { class: "tag warn" }, oddName(f.path)) : null));
  el.file = f;
  return el;
}
