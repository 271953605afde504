// A file, of any length: only the lines around the visible ones are in the
// document. Every line has the same height, so the scroll bar is right.

import { get } from "./api.js";
import { app } from "./frame.js";
import { btn, clock, code, h, n, notice, oddName, pathNode, realPath, safe, said } from "./dom.js";

const chunk = 300;        // lines fetched at once
const margin = 60;        // lines drawn above and below the visible ones
const maxLines = 1000000; // browsers end an element at about 33 million pixels

const rendered = () => import("./rendered.js");
const isMarkdown = (path) => /\.(md|markdown|mdown|mkd)$/i.test(path), isImage = (path) => /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i.test(path);

export class Peek {
  constructor({ onClose, onLine }) {
    this.onClose = onClose;
    this.onLine = onLine;
    this.el = h("section", { class: "peek", "aria-label": "File" });
    this.number = 0;
  }

  hide() {
    this.number++;
    this.path = this.finder = this.by = this.article = null;
    this.el.replaceChildren();
  }

  stop() { this.number++; }

  async show(path, line, question) {
    const { q, mode } = question, before = this.asked;
    this.searched = q && (mode === "text" || mode === "regex" || mode === "words") ? { q, mode, case: question.case, word: question.word } : {};
    if (this.path !== path) this.finder = this.by = this.article = null;
    this.asked = this.finder?.q ? { q: this.finder.q } : this.searched;
    if (this.path === path && this.scroller) {
      if (JSON.stringify(before) !== JSON.stringify(this.asked)) { this.chunks.clear(); this.fetching = 0; this.draw(true); }
      if (this.line !== line) { this.line = line; this.header(); this.jump(false); }
      return;
    }
    this.path = path;
    this.line = line;
    const mine = ++this.number;
    this.chunks = new Map();
    this.info = null;
    this.scroller = null;
    const from = Math.max(1, line - (line % chunk === 0 ? chunk : line % chunk) + 1);
    try {
      const t = await this.get(from);
      if (mine !== this.number) return;
      this.take(t);
      this.build();
    } catch (e) {
      if (mine !== this.number) return;
      if (e.code === "INVALID_ARGUMENT" && line > 1) { this.path = null; this.show(path, 1, question); return; }
      app.whenBack(e, () => { if (mine === this.number) { this.path = null; this.show(path, line, question); } });
      this.header();
      if (e.code === "NOT_TEXT" && isImage(path)) { const { image } = await rendered(); if (mine === this.number) this.el.replaceChildren(this.head, h("div", { class: "rendered" }, image(path))); return; }
      this.el.replaceChildren(this.head, h("div", { class: "pad" }, notice("bad", "warn", h("p", null, h("b", null, e.code === "NOT_TEXT" ? "This file is not text." : e.code === "NOT_FOUND" ? "This file is gone." : "This file can't be shown.")), h("p", { class: "pre" }, e.code === "NOT_FOUND" ? "There is no file of this name: it was moved or deleted." : safe(e.message)), e.hint ? h("p", { class: "sub pre" }, safe(e.hint.trim())) : null)));
    }
  }

  get(from) { return get("/api/file", { ...this.asked, path: this.path, from, count: chunk }); }

  take(t) {
    this.info = t;
    const colours = t.colours ?? [];
    t.lines.forEach((text, i) => this.chunks.set(t.from + i, { text, colours: colours[i], marks: t.marks?.[t.from + i], left: t.left?.[t.from + i] }));
    for (const c of t.cut ?? []) if (this.chunks.has(c)) this.chunks.get(c).cut = true;
  }

  header() {
    const { editor } = app.about;
    const odd = oddName(this.path);
    this.head = h("div", { class: "head" },
      btn("", { ic: "back", cls: "ghost small icon onlynarrow", "aria-label": "Back to the results", onclick: this.onClose }),
      h("span", { class: "grow" }, pathNode(this.path), h("span", { class: "mono dim" }, `:${this.line}`), odd ? h("span", { class: "tag warn" }, odd) : null),
      this.scroller && (isMarkdown(this.path) || isImage(this.path)) ? btn("Rendered", { cls: "ghost small", key: "v", "aria-pressed": String(!!this.article), title: "As it is read, not as it is written", onclick: () => this.render() }) : null,
      btn("Authors", { cls: "ghost small", key: "b", "aria-pressed": String(!!this.by), title: "Which change touched each line last", onclick: () => this.authors() }),
      btn(h("span", null, "Copy"), { ic: "copy", cls: "ghost small", key: "y", "aria-label": "Copy path and line", title: "Copy path:line", onclick: () => app.copy(`${realPath(this.path)}:${this.line}`, "path and line") }),
      editor.address ? btn(h("span", null, "Open"), { ic: "open", cls: "small", key: "o", "aria-label": `Open in ${editor.name}`, title: `Open in ${editor.name}`, onclick: () => app.openInEditor(this.path, this.line) }) : null,
      btn("", { ic: "x", cls: "ghost small icon onlywide", "aria-label": "Close the file", onclick: this.onClose }));
    if (!this.scroller) return;
    const focused = document.activeElement, y = this.scroller.scrollTop;
    this.el.replaceChildren(this.head, ...(this.finder ? [this.finder.el] : []), this.article ?? this.scroller, this.foot);
    if (this.el.contains(focused) && focused !== document.activeElement) { focused.focus({ preventScroll: true }); this.scroller.scrollTop = y; }
  }

  // render shows the text as it is read, or its source again.
  async render() {
    if (!this.scroller) return;
    if (this.article) { this.article = null; this.header(); this.jump(true); return; }
    const mine = this.number, { path } = this;
    try {
      const [{ build, image }, res] = await Promise.all([rendered(), isImage(path) ? null : get("/api/rendered", { path })]);
      if (mine !== this.number) return;
      this.article = h("div", { class: "rendered", tabindex: "0", role: "group", "aria-label": `${realPath(path)}, rendered` }, res ? build(res.content, (to) => `/search?at=${encodeURIComponent(`${to}:1`)}`) : image(path),
        res?.cut ? notice("warn", "cut", "The rest of this file is not rendered.") : null);
      this.header();
    } catch (e) { app.fail(e); }
  }

  // authors shows, or hides, who touched each line last.
  async authors() {
    if (this.by) { this.by = null; this.header(); this.draw(true); return; }
    const mine = this.number;
    try {
      const res = await get("/api/authors", { path: this.path });
      if (mine !== this.number) return;
      this.by = new Map();
      for (const r of res.runs) for (let i = 0; i < r.count; i++) this.by.set(r.from + i, { first: !i, change: r.id ? res.changes[r.id] : null, id: r.id });
      this.header();
      this.draw(true);
    } catch (e) { app.fail(e); }
  }

  // byline is the author of a line, written out where a run of lines begins.
  byline(no, top) {
    const b = this.by?.get(no);
    if (!this.by) return null;
    const c = b?.change, text = !b ? "" : b.id ? (c ? `${c.client}, ${clock(c.time)}: ${c.summary}` : b.id) : "not through Quarry";
    if (!b?.first && !top) return h("span", { class: "by" });
    return h("span", { class: "by", title: text }, c ? h("a", { href: `/changes/${encodeURIComponent(b.id)}` }, safe(c.client, true), c.summary ? [" ", said(c)] : "") : h("span", { class: "dim" }, text));
  }

  focus() { if (this.scroller) this.scroller.focus({ preventScroll: true }); else this.wantsFocus = true; }

  has(el) { return !!this.path && this.el.contains(el); }

  // step moves the marked line.
  step(by) {
    if (!this.scroller) return;
    if (this.article) { this.article.scrollBy(0, by * 3 * this.lineHeight); return; }
    this.to(Math.max(1, Math.min(this.info.total, this.line + by)));
  }

  to(line) {
    this.line = line;
    this.onLine(this.path, line);
    this.header();
    this.jump(false);
  }

  // ---- find in the file: the browser's own finds only the lines that are drawn.

  find() {
    if (!this.scroller) return;
    if (this.article) this.render();
    if (!this.finder) {
      const input = h("input", { type: "text", class: "barinput grow", placeholder: "Find in this file", "aria-label": "Find in this file", spellcheck: "false", autocomplete: "off" });
      const f = this.finder = { q: "", lines: [], at: -1, input, count: h("span", { class: "num dim sm", role: "status" }) };
      f.el = h("div", { class: "finder" }, input, f.count, btn("", { ic: "up", cls: "ghost small icon", "aria-label": "Previous match", onclick: () => this.found(-1) }), btn("", { ic: "down", cls: "ghost small icon", "aria-label": "Next match", onclick: () => this.found(1) }), btn("", { ic: "x", cls: "ghost small icon", "aria-label": "Close find", onclick: () => this.endFind() }));
      let timer = 0;
      input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.look(), 120); });
      input.addEventListener("keydown", async (e) => { if (e.key === "Enter") { e.preventDefault(); if (f.q !== input.value) { clearTimeout(timer); await this.look(); } else this.found(e.shiftKey ? -1 : 1); } });
      this.header();
    }
    this.finder.input.focus();
    this.finder.input.select();
  }

  async look() {
    const f = this.finder, q = f.input.value, { path } = this;
    let res = { lines: [], more: false };
    try { if (q) res = await get("/api/find", { path, q }); } catch (e) { app.fail(e); }
    if (this.finder !== f || this.path !== path || f.input.value !== q) return;
    Object.assign(f, { q, lines: res.lines, more: res.more, at: -1 });
    this.asked = q ? { q } : this.searched;
    this.chunks.clear();
    this.fetching = 0;
    f.at = Math.max(-1, f.lines.findIndex((l) => l >= this.line) - 1);
    if (f.lines.length) this.found(1, false); else { f.count.textContent = q ? "no match" : ""; this.draw(true); }
  }

  found(by) {
    const f = this.finder;
    if (!f.lines.length) return;
    f.at = (f.at + by + f.lines.length) % f.lines.length;
    f.count.textContent = `${n(f.at + 1)} of ${n(f.lines.length)}${f.more ? " or more" : ""}`;
    this.to(f.lines[f.at]);
  }

  endFind() {
    this.finder = null;
    this.asked = this.searched;
    this.chunks.clear();
    this.fetching = 0;
    this.header();
    this.draw(true);
    this.focus();
  }

  build() {
    const t = this.info;
    this.ol = h("ol");
    this.space = h("div", { class: "space" }, this.ol);
    this.scroller = h("div", { class: "lines view", tabindex: "0", role: "group", "aria-label": `Content of ${realPath(this.path)}` }, this.space);
    const parts = [t.language || "Text", `${n(t.total)} ${t.total === 1 ? "line" : "lines"}`, t.encoding.toUpperCase(), { lf: "LF", crlf: "CRLF", mixed: "mixed line endings", none: "no line ending" }[t.ending] ?? t.ending];
    if (t.total > maxLines) parts.push(`lines around ${n(this.line)} are shown`);
    this.foot = h("div", { class: "foot2" }, h("span", null, parts.join(" · ")), t.total === 0 ? h("span", null, "The file is empty.") : null);
    this.header();
    this.lineHeight = 22;
    const probe = h("li", { class: "hit" }, "x");
    this.ol.append(probe);
    this.lineHeight = probe.getBoundingClientRect().height || 22;
    probe.remove();
    this.base = t.total > maxLines ? Math.max(0, Math.min(this.line - maxLines / 2, t.total - maxLines)) : 0;
    this.shown = Math.min(t.total, maxLines);
    this.space.style.height = `${this.shown * this.lineHeight}px`;
    this.first = -1;
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.ol.addEventListener("click", (e) => {
      const li = e.target.closest("[data-n]");
      if (!li || getSelection().toString()) return;
      e.preventDefault();
      this.line = Number(li.dataset.n);
      this.onLine(this.path, this.line);
      this.header();
      this.draw(true);
    });
    this.jump(true);
    if (this.wantsFocus) { this.wantsFocus = false; this.focus(); }
  }

  jump(always) {
    const y = (this.line - 1 - this.base) * this.lineHeight, view = this.scroller.clientHeight;
    if (always || y < this.scroller.scrollTop + 30 || y > this.scroller.scrollTop + view - 60) this.scroller.scrollTop = Math.max(0, y - view / 3);
    this.draw(true);
    this.scroller.scrollLeft = 0;
    const mark = this.ol.querySelector(".hit.on mark")?.getBoundingClientRect(), box = this.scroller.getBoundingClientRect();
    if (mark && mark.right > box.right) this.scroller.scrollLeft = mark.left - box.left - box.width / 3;
  }

  draw(again = false) {
    if (!this.scroller) return;
    const top = Math.floor(this.scroller.scrollTop / this.lineHeight);
    const rows = Math.ceil(this.scroller.clientHeight / this.lineHeight);
    const first = Math.max(0, top - margin), last = Math.min(this.shown, top + rows + margin);
    if (!again && this.first >= 0 && top - this.first >= 10 && this.last - (top + rows) >= Math.min(10, this.shown - this.last)) return;
    this.first = first;
    this.last = last;
    const list = [];
    let missing = 0;
    for (let i = first; i < last; i++) {
      const no = this.base + i + 1, l = this.chunks.get(no);
      if (!l && !missing) missing = no;
      list.push(h("li", { class: `hit${no === this.line ? " on" : ""}${this.by ? " authored" : ""}`, "data-n": no, "aria-current": no === this.line ? "true" : undefined }, this.byline(no, i === first), h("span", { class: "no" }, no),
        h("span", { class: "src" }, l?.left ? h("span", { class: "cutmark", title: `${n(l.left)} bytes before` }, "…") : null, l ? code(l.text, l.colours, l.marks) : "", l?.cut ? h("span", { class: "cutmark", title: "the rest of this line is not shown" }, "…") : null)));
    }
    this.ol.style.transform = `translateY(${first * this.lineHeight}px)`;
    this.ol.replaceChildren(...list);
    if (missing) this.fetch(missing);
  }

  async fetch(line) {
    const mine = this.number, from = Math.max(1, line - 20);
    if (this.fetching === from) return;
    this.fetching = from;
    try {
      const t = await this.get(from);
      if (mine !== this.number) return;
      if (t.version !== this.info.version) { this.reload(t); return; }
      if (this.chunks.size > 30 * chunk) this.chunks.clear();
      this.take(t);
      this.fetching = 0;
      this.draw(true);
    } catch { this.fetching = 0; }
  }

  // reload shows a file that was changed meanwhile.
  reload(t) {
    if (this.by) { this.by = null; setTimeout(() => this.authors()); }
    if (this.article) { this.article = null; setTimeout(() => this.render()); }
    this.chunks = new Map();
    this.take(t);
    const y = this.scroller.scrollTop;
    this.build();
    this.scroller.scrollTop = y;
    this.draw(true);
  }

  // refresh looks whether the file that is shown was changed.
  async refresh() {
    if (!this.path || !this.scroller) return;
    const mine = this.number;
    try {
      const t = await this.get(Math.max(1, this.base + this.first + 1));
      if (mine === this.number && t.version !== this.info.version) this.reload(t);
    } catch { /* it is gone: what is shown stays until it is opened again */ }
  }
}
