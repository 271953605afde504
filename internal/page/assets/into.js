// From a hunk into the code: more lines around it, the definition it is in, and the file
// at its line.

import { get } from "./api.js";
import { app } from "./frame.js";
import { btn, h, icon, plural, realPath } from "./dom.js";
import { row } from "./diffview.js";

const step = 10;

// Into goes from the hunks of one file into the code. of says what the lines are asked
// of: { change, file } or { path }; those of a path are the file as it is before the
// hunks. A hunk tells its lines by the numbers of the new side, or of the old one.
export class Into {
  constructor(f, of) { Object.assign(this, { f, of, old: !!of.path, list: [] }); }

  // add makes the buttons of a hunk. body has its rows.
  add(hunk, el, body) {
    const s = this.old ? "old" : "new", count = hunk[`${s}_count`], top = hunk[`${s}_start`] + (count ? 0 : 1);
    const one = { el, body, top, bottom: top + count - 1, shift: [hunk.new_start - hunk.old_start, hunk.new_start + hunk.new_count - hunk.old_start - hunk.old_count] };
    const first = hunk.lines.findIndex((l) => l.k !== " "), num = (i) => hunk.lines[i]?.[this.old ? "o" : "w"];
    one.line = Math.max(1, num(first) || Math.min(num(first - 1) + 1 || one.top, one.bottom)); // lines that are not on this side are after the one before
    const after = this.list.findIndex((x) => x.top > one.top);
    if (after < 0) this.list.push(one); else this.list.splice(after, 0, one);
    const b = (ic, label, key, f) => btn("", { ic, cls: "ghost small icon", "aria-label": label, title: key ? `${label} (${key})` : label, onclick: f });
    el.into = { more: () => this.more(one, -1).then(() => this.more(one, 1)), whole: () => this.whole(one), open: () => app.go(this.href(one)) };
    return h("span", { class: "into" }, b("up", `${step} lines above`, "x", () => this.more(one, -1)), b("down", `${step} lines below`, "x", () => this.more(one, 1)), b("whole", "The whole definition", "X", () => this.whole(one)),
      this.gone ? null : h("a", { class: "btn ghost small icon", href: this.href(one), "aria-label": `Open ${realPath(this.f.path)} at line ${one.line}`, title: "Open the file here (g)" }, icon("file")));
  }

  get gone() { return ["delete", "trash"].includes(this.f.kind); }

  href(one) { return `/search?at=${encodeURIComponent(this.of.path ?? this.f.path)}:${one.line}`; }

  async ask(params) {
    try { return await get("/api/around", { ...this.of, ...params }); } catch (e) { app.fail(e); return null; }
  }

  // more shows lines above or below a hunk, up to the next one.
  async more(one, by) {
    const k = this.list.indexOf(one), end = by < 0 ? (this.list[k - 1]?.bottom ?? 0) : (this.list[k + 1]?.top ?? Infinity);
    const from = by < 0 ? Math.max(end + 1, one.top - step) : one.bottom + 1, to = by < 0 ? one.top - 1 : Math.min(end - 1, one.bottom + step);
    if (from > to) return;
    const res = await this.ask({ from, to });
    if (res) this.put(res.lines, k);
  }

  async whole(one) {
    const res = await this.ask({ from: one.line, def: "1" });
    if (!res) return;
    if (!res.name) { app.toast("No definition is around this change", "info"); return; }
    const added = this.put(res.lines, this.list.indexOf(one));
    app.toast(added ? `All of ${res.name}: ${plural(added, "more line")}` : `All of ${res.name} is shown`);
  }

  // put adds lines to the hunks they are next to, those between two to the one that is
  // nearer to k.
  put(lines, k) {
    let added = 0;
    const list = this.list, num = (l) => (this.old ? l.o : l.w);
    for (let gap = 0; gap <= list.length; gap++) {
      const above = list[gap - 1], below = list[gap];
      const some = lines.filter((l) => num(l) > (above?.bottom ?? 0) && num(l) < (below?.top ?? Infinity));
      if (!some.length) continue;
      const up = below && (gap <= k || !above), to = up ? below : above, shift = to.shift[up ? 0 : 1];
      const rows = some.flatMap((l) => { const both = this.old ? { ...l, w: l.o + shift } : l; return [row(both), row(both, " dup")]; });
      const into = (up ? to.body.firstElementChild : to.body.lastElementChild).firstElementChild;
      const y = to.el.getBoundingClientRect().top;
      if (up) { into.prepend(...rows); to.top = num(some[0]); } else { into.append(...rows); to.bottom = num(some.at(-1)); }
      if (up && rows.length && document.activeElement && to.el.contains(document.activeElement)) scrollBy(0, to.el.getBoundingClientRect().top - y);
      added += some.length;
    }
    return added;
  }
}

// intoKeys are the keys of a view for its hunk that is read.
export const intoKeys = (hunk) => {
  const on = (what) => () => { const el = hunk(); if (!el?.into) return false; el.into[what](); };
  return { x: on("more"), X: on("whole"), g: on("open") };
};

// read is the hunk of a list that is read: the one with the focus, else the first on the screen.
export function read(box) {
  const all = [...box.querySelectorAll(".hunk")];
  return all.find((el) => el.contains(document.activeElement)) ?? all.find((el) => el.getBoundingClientRect().bottom > 160);
}
