// The list of the files of a proposal: what was decided about each, and what was viewed.

import { btn, fold, h, n, pathNode, plural, realPath } from "./dom.js";
import { appendLazily, pm } from "./diffview.js";
import { isOpen } from "./states.js";

// fileList makes it. decide(i, verdict) decides a file, and is false where nothing can
// be decided; go(i) leads to a file.
export function fileList({ files }, draft, decide, go) {
  const rows = h("div", { class: "frows" });
  appendLazily(rows, files, (f, i) => {
    const viewed = h("input", { type: "checkbox", checked: draft.viewed.includes(i), onchange: (e) => { draft.setViewed(i, e.target.checked); fold(document.getElementById(`f${i}`), e.target.checked); } });
    return h("div", { class: "frow", "data-file": i },
      h("button", { type: "button", class: "fname", onclick: () => go(i) }, pathNode(f.path)), pm(f.add, f.del), h("span", { class: "fstate num" }),
      decide ? [h("label", { class: "sm" }, viewed, " viewed"),
        btn("", { ic: "check", cls: "small icon yes", "aria-label": `Accept ${realPath(f.path)}`, title: "Accept this file", "data-writes": "1", onclick: () => decide(i, "accept") }),
        btn("", { ic: "x", cls: "small icon no", "aria-label": `Refuse ${realPath(f.path)}`, title: "Refuse this file", "data-writes": "1", onclick: () => decide(i, "refuse") })] : null);
  }, 100);
  return h("nav", { class: "card files", "aria-label": "Files of the proposal" }, rows);
}

// paintFiles shows what was decided about each.
export function paintFiles(box, { proposal }, draft) {
  for (const row of box.querySelectorAll(".frow")) {
    const v = draft.verdicts[Number(row.dataset.file)], yes = v.filter((x) => x === "accept").length, no = v.filter((x) => x === "refuse").length;
    row.querySelector(".fstate").textContent = isOpen(proposal.state) ? `${n(yes + no)} of ${n(v.length)} decided` : plural(v.length, "hunk");
    for (const [cls, all] of [["yes", yes], ["no", no]]) row.querySelector(`.btn.${cls}`)?.setAttribute("aria-pressed", String(all === v.length && all > 0));
  }
}
