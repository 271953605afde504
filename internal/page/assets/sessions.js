// The changes of one connection of a client, as one task.

import { badge, btn, clock, h, icon, n, notice, plural, safe } from "./dom.js";
import { pm } from "./diffview.js";

const key = "quarry.folded";
const folded = () => { try { return JSON.parse(sessionStorage.getItem(key)) ?? []; } catch { return []; } };

// groupOf makes the group of a session in the list: its head, and the list of its
// changes, which can be folded away.
export function groupOf(c, count, address) {
  const ol = h("ol", { class: "gchanges" }), { session } = c;
  const toggle = h("button", { type: "button", class: "gtoggle", onclick: () => set(toggle.getAttribute("aria-expanded") === "true") }, icon("down"), badge(c.client), h("b", null, safe(c.client, true)), h("span", { class: "dim num" }, plural(count, "change")));
  const set = (fold, keep = true) => {
    toggle.setAttribute("aria-expanded", String(!fold));
    ol.hidden = fold;
    if (keep) sessionStorage.setItem(key, JSON.stringify([...folded().filter((x) => x !== session), ...(fold ? [session] : [])].slice(-100)));
  };
  set(folded().includes(session), false);
  return { el: h("div", { class: "group" }, h("div", { class: "ghead" }, toggle, h("span", { class: "grow" }), h("a", { class: "gall", href: address, "data-id": `session:${session}` }, "All as one")), ol), ol };
}

// sessionHead is the head of a session that is shown as one.
export function sessionHead(res, undo, layout) {
  const add = res.files.reduce((s, f) => s + f.add, 0), del = res.files.reduce((s, f) => s + f.del, 0), first = res.changes.at(-1), last = res.changes[0];
  return h("div", { class: "dhead" },
    h("div", { class: "row" }, h("h1", null, `${plural(res.changes.length, "change")} of `, safe(res.client, true)), h("div", { class: "btns" }, layout, btn("Undo all", { ic: "undo", "data-writes": "1", disabled: !res.undo.length, onclick: undo }))),
    h("div", { class: "facts" }, h("span", null, badge(res.client), safe(res.client, true)), h("span", { class: "num" }, `${clock(first.time)} to ${clock(last.time)}`), h("span", null, plural(res.files.length, "file"), " ", pm(add, del)), h("span", null, `${n(res.undo.length)} can be undone`)),
    res.warnings.map((w) => notice("warn", "warn", h("p", null, safe(w)))),
    h("p", { class: "sub sm" }, "Each file from its first version to its last."));
}
