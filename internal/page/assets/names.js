// From a name to its definition and its uses, wherever code is shown: a double click on
// it, Alt and a click, or a key for the names of the line that is read.

import { stream } from "./api.js";
import { app } from "./frame.js";
import { btn, h, plural, safe } from "./dom.js";

const code = ".src, .tx", word = /[\p{L}_$][\p{L}\p{N}_$]*/gu, most = 12;

// definition goes to where a name is defined, the likeliest first: all are in the list
// beside the file.
export async function definition(name) {
  const found = [];
  try {
    await stream("/api/search", { q: name, mode: "symbols" }, null, (list) => { for (const x of list) if (x.file) found.push(x.file); });
  } catch (e) { app.fail(e); return; }
  const exact = found.filter((f) => f.lines[0].t.match(word)?.includes(name)), to = exact[0];
  if (!to) { app.toast(`No definition of ${name} was found`, "bad"); return; }
  app.go(`/search?q=${encodeURIComponent("@" + name)}&at=${encodeURIComponent(`${to.path}:${to.lines[0].n}`)}`);
}

export const uses = (name) => app.go(`/search?q=${encodeURIComponent(name)}&mode=uses`);

// show asks where to go from names.
function show(names) {
  const d = h("dialog", { class: "ask names", "aria-label": "Names" }, h("h2", null, names.length === 1 ? "Go to" : plural(names.length, "name")),
    h("ul", { class: "plain" }, names.map((name) => h("li", null, h("code", { class: "grow" }, safe(name, true)),
      btn("Definition", { cls: "small", "aria-label": `Definition of ${name}`, onclick: () => { d.close(); definition(name); } }),
      btn("Uses", { cls: "small", "aria-label": `Uses of ${name}`, onclick: () => { d.close(); uses(name); } })))),
    h("div", { class: "btns end" }, btn("Close", { cls: "ghost", onclick: () => d.close() })));
  d.addEventListener("close", () => d.remove());
  document.body.append(d);
  d.showModal();
}

// namesOf are the names in elements of code: no keywords, strings or comments.
function namesOf(els) {
  const list = new Set();
  for (const el of els) {
    const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    for (let t = walk.nextNode(); t; t = walk.nextNode()) {
      if (!t.parentElement.closest(".k, .s, .c, .n")) for (const [name] of t.data.matchAll(word)) if (name.length > 1) list.add(name);
    }
  }
  return [...list].slice(0, most);
}

// at is the name under a point.
function at(e) {
  const p = document.caretPositionFromPoint?.(e.clientX, e.clientY);
  const [node, offset] = p ? [p.offsetNode, p.offset] : (({ startContainer: a, startOffset: b }) => [a, b])(document.caretRangeFromPoint(e.clientX, e.clientY) ?? {});
  if (node?.nodeType !== Node.TEXT_NODE) return "";
  for (const m of node.data.matchAll(word)) if (m.index <= offset && offset <= m.index + m[0].length) return m[0];
  return "";
}

// byKey asks about the selected name, or those of the line that is read.
export function byKey() {
  const chosen = String(getSelection()).trim();
  const line = document.querySelector(".peek .hit.on") ?? document.querySelector("a.hit.on");
  const hunk = document.querySelector(".hunk.now") ?? document.activeElement?.closest?.(".hunk") ?? [...document.querySelectorAll(".detail .hunk")].find((el) => el.getBoundingClientRect().bottom > 160);
  const els = line ? line.querySelectorAll(code) : hunk?.querySelectorAll(".l.add:not(.dup) .tx, .l.del:not(.dup) .tx") ?? [];
  const names = new RegExp(`^${word.source}$`, "u").test(chosen) ? [chosen] : namesOf(els);
  if (!names.length) { app.toast("There is no name in this line", "info"); return; }
  show(names);
}

export function bindNames() {
  document.addEventListener("dblclick", (e) => {
    const name = e.target.closest?.(code) && at(e);
    if (name && name.length > 1) { e.preventDefault(); show([name]); }
  });
  document.addEventListener("click", (e) => {
    const name = e.altKey && e.target.closest?.(code) && at(e);
    if (!name) return;
    e.preventDefault();
    e.stopPropagation();
    definition(name);
  }, true);
}
