// The rail beside the results: filters, what was found by type and folder, and the
// receipt: what was not searched, and why.

import { btn, h, icon, keepFocus, n, pathNode, plural, realPath, safe } from "./dom.js";

const reasons = {
  ignored: ["ignored by rules", "Include ignored files", { ignored: "1" }], hidden: ["hidden", "Include hidden files", { hidden: "1" }],
  binary: ["binary", null], unreadable: ["not readable", null], too_large: ["too large", null], protected: ["secrets (policy)", null],
  filtered: ["other files, by filter", "Remove the filters", { glob: "", type: "" }], not_regular: ["pipes and devices", null],
  loop: ["loops of links", null], symlink: ["links, not followed", null], outside_root: ["links that lead out", null],
};
const hows = { binary: "not possible", unreadable: "change its mode", too_large: "not possible", protected: "allow them with quarry ui --allow", symlink: "their targets are searched in their own place", outside_root: "not possible", not_regular: "not possible", loop: "not possible" };

export class Rail {
  // set changes the search, address(change) is the one with a change, and search() is
  // the search as it is.
  constructor({ set, address, search }) {
    Object.assign(this, { set, address, search, found: { key: "", types: new Map(), folders: new Map(), more: false }, timer: 0, done: null });
    this.glob = h("input", { id: "glob", type: "text", placeholder: "internal/**, !*_test.go", spellcheck: "false", autocomplete: "off" });
    let timer = 0;
    this.glob.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => set({ glob: this.glob.value.trim(), at: "" }), 150); });
    const check = (k) => h("input", { type: "checkbox", onchange: (e) => set({ [k]: e.target.checked ? "1" : "", at: "" }) });
    this.hidden = check("hidden");
    this.ignored = check("ignored");
    this.types = h("section");
    this.folders = h("section");
    this.skipped = h("section");
    this.on = h("span", { class: "tag" });
    this.short = h("span", { class: "dim" });
    this.el = h("aside", { class: "rail", "aria-label": "Filters" }, h("details", { "aria-label": "Filters" }, h("summary", null, icon("filter"), "Filters ", this.on, h("span", { class: "grow" }), this.short),
      h("section", null, h("h2", null, h("label", { for: "glob" }, "Path glob")), this.glob), this.types, this.folders,
      h("section", null, h("h2", null, "Also search"), h("label", { class: "facet" }, this.hidden, " Hidden files"), h("label", { class: "facet" }, this.ignored, " Ignored files")), this.skipped));
  }

  // fill shows the filters of the search.
  fill() {
    const st = this.search(), on = [st.glob, st.type, st.hidden, st.ignored].filter(Boolean).length;
    if (document.activeElement !== this.glob) this.glob.value = st.glob;
    this.hidden.checked = !!st.hidden;
    this.ignored.checked = !!st.ignored;
    this.on.hidden = !on;
    this.on.textContent = on;
  }

  // begin begins to count an answer. Types and folders are counted from what was found;
  // those that a filter took away stay in the list, so that it can be lifted again.
  begin() {
    const st = this.search(), key = JSON.stringify([st.q, st.mode, st.case, st.word, st.hidden, st.ignored]);
    if (this.found.key !== key) this.found = { key, types: new Map(), folders: new Map() };
    this.found.more = false;
    // A filter does not hide the counts of its own kind: they come from a search without it.
    for (const [m, filter] of [[this.found.types, st.type], [this.found.folders, st.glob]]) if (!this.keeps(filter)) for (const k of m.keys()) m.set(k, 0);
  }

  keeps(filter) { return filter && ["text", "regex"].includes(this.search().mode); }

  count(f) {
    const text = realPath(f.path), base = text.slice(text.lastIndexOf("/") + 1), dot = base.lastIndexOf(".");
    const type = dot > 0 ? base.slice(dot + 1) : "(none)", count = f.lines?.filter((l) => l.h).length || 1, { types, folders } = this.found;
    const st = this.search();
    if (!this.keeps(st.type)) types.set(type, (types.get(type) ?? 0) + count);
    const parts = text.split("/").slice(0, -1).slice(0, 2);
    if (parts.length && !this.keeps(st.glob)) folders.set(parts.join("/"), (folders.get(parts.join("/")) ?? 0) + count);
  }

  // countAll takes the counts of all that was found, shown or not.
  countAll(d) {
    for (const [m, counts] of [[this.found.types, d.types], [this.found.folders, d.folders]]) for (const [k, v] of Object.entries(counts ?? {})) m.set(k, v);
    this.found.more = !!d.stopped;
  }

  facets() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { types, folders, more } = this.found, st = this.search();
      const top = (m) => [...m].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 8);
      const chosen = new Set(st.type.split(",").filter(Boolean));
      for (const t of chosen) if (!types.has(t)) types.set(t, 0);
      const facet = (id, checked, onchange, name, count) => h("label", { class: "facet" }, h("input", { type: "checkbox", "data-id": id, checked, onchange: (e) => onchange(e.target.checked) }), " ", name, h("span", { class: "num" }, n(count) + (more && count ? "+" : ""))); // + is at least so many
      const byType = (t, count) => facet(t, chosen.has(t), (on) => { if (on) chosen.add(t); else chosen.delete(t); this.set({ type: [...chosen].sort().join(","), at: "" }); }, safe(t, true), count);
      const byFolder = (dir, count) => {
        const g = `/${dir.replaceAll(/[*?[{\\,]/g, "\\$&")}/**`;
        return facet(dir, st.glob === g, (on) => this.set({ glob: on ? g : "", at: "" }), h("span", { class: "fname" }, safe(dir, true)), count);
      };
      const fill = (box, title, list, some, make) => keepFocus(box, () => box.replaceChildren(...(list.length > 1 || some ? [h("h2", null, title), ...list.map(([k, count]) => make(k, count))] : [])));
      fill(this.types, "Type", top(types), chosen.size, byType);
      fill(this.folders, "Folder", top(folders), st.glob.endsWith("/**"), byFolder);
    }, 30);
  }

  // receipt shows what was searched and what was not; null is no answer.
  receipt(d) {
    this.done = d;
    if (!d) { this.skipped.replaceChildren(); this.short.textContent = ""; return; }
    this.facets();
    const list = Object.entries(d.skipped ?? {}).sort((a, b) => b[1] - a[1]);
    const total = list.reduce((sum, [, v]) => sum + v, 0);
    const part = d.stopped && !d.considered; // it ended before it had seen every file
    const indexed = d.unit === "definitions" && !d.considered; // the index knows them
    this.short.textContent = indexed ? "" : part ? "cut" : `${n(d.considered)} searched${total ? `, ${n(total)} skipped` : ""}`;
    keepFocus(this.skipped, () => this.skipped.replaceChildren(h("h2", null, indexed ? "Definitions come from the index" : total ? `Skipped: ${plural(total, "entry", "entries")}` : part ? "Not all files were searched" : `${plural(d.considered, "file")} searched`),
      total ? h("table", { class: "receipt" }, list.map(([k, v]) => h("tr", null, h("td", null, reasons[k]?.[0] ?? k), h("td", null, n(v))))) : "",
      total ? h("p", { class: "sm" }, h("a", { href: "#receipt", onclick: (e) => { e.preventDefault(); this.showReceipt(); } }, "Show the list")) : ""));
  }

  showReceipt() {
    const d = this.done;
    if (!d) return;
    const rows = Object.entries(d.skipped ?? {}).sort((a, b) => b[1] - a[1]).map(([k, v]) => {
      const ex = (d.examples ?? []).filter((e) => e.reason === k && e.path);
      const [, label, change] = reasons[k] ?? [k, null];
      return h("tr", null, h("td", { "data-l": "Reason" }, reasons[k]?.[0] ?? k), h("td", { "data-l": "Entries", class: "r" }, n(v)),
        h("td", { "data-l": "Examples" }, ex.length ? ex.map((e, i) => [i ? ", " : "", pathNode(e.path), e.detail ? h("span", { class: "dim" }, ": ", safe(e.detail)) : null]) : h("span", { class: "dim" }, k === "protected" ? "names are hidden by policy" : "only counted")),
        h("td", { "data-l": "To include them" }, label ? h("a", { href: this.address({ ...change, at: "" }), onclick: () => dialog.close() }, label) : h("span", { class: "dim" }, hows[k] ?? "not possible")));
    });
    const dialog = h("dialog", { class: "ask sheet", "aria-label": "Skipped files" }, h("h2", null, "What was not searched, and why"),
      h("p", { class: "sub" }, `${d.stopped && !d.considered ? "The answer is cut, and so is this list." : `${plural(d.considered, "file")} passed the filters.`} A folder that is skipped counts once, whatever is in it.`),
      h("div", { class: "tblbox", tabindex: "0", role: "group", "aria-label": "Skipped files" }, h("table", { class: "tbl stack" }, h("thead", null, h("tr", null, h("th", null, "Reason"), h("th", { class: "r" }, "Entries"), h("th", null, "Examples"), h("th", null, "To include them"))), h("tbody", null, rows))),
      h("div", { class: "btns end" }, btn("Close", { cls: "primary", onclick: () => dialog.close() })));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
}
