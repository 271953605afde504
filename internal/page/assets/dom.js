// Making elements. Everything that comes from files, clients or errors becomes
// a text node: there is no way to markup in here.

const svg = "http://www.w3.org/2000/svg";

// h makes an element: h("p", { class: "x", onclick }, "text", node, null).
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [k, v] of Object.entries(props ?? {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) el.addEventListener(k.slice(2), v);
    else if (k === "value" || k === "checked" || k === "disabled" || k === "open" || k === "hidden") el[k] = v;
    else el.setAttribute(k, v === true ? "" : v);
  }
  add(el, children);
  return el;
}

export function add(el, children) {
  for (const c of children) {
    if (c === null || c === undefined || c === false) continue;
    if (Array.isArray(c)) add(el, c);
    else el.append(c);
  }
  return el;
}

export function s(tag, props, ...children) {
  const el = document.createElementNS(svg, tag);
  for (const [k, v] of Object.entries(props ?? {})) el.setAttribute(k, v);
  return add(el, children);
}

export const icon = (name) => s("svg", { class: "ic", "aria-hidden": "true" }, s("use", { href: `#i-${name}` }));

// Characters that can't be seen, or that change how others are: shown as
// marked escapes. Tab and line feed are not among them in contents.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff]|[\u{e0000}-\u{e0fff}]|\p{Cs}/gu;
const alsoInNames = /[\t\n\u200c\u200d]/g; // the joiners belong to words and emoji in texts

function escaped(c) {
  const n = c.codePointAt(0);
  if (c === "\n") return "\\n";
  if (c === "\t") return "\\t";
  if (c === "\r") return "\\r";
  if (n < 0x100) return "\\x" + n.toString(16).padStart(2, "0");
  return n > 0xffff ? `\\u{${n.toString(16)}}` : "\\u" + n.toString(16).padStart(4, "0");
}

// safe gives nodes for a text.
export function safe(text, name = false) {
  unsafe.lastIndex = alsoInNames.lastIndex = 0;
  if (!unsafe.test(text) && !(name && alsoInNames.test(text))) return [document.createTextNode(text)];
  const out = [];
  const re = name ? new RegExp(`${unsafe.source}|${alsoInNames.source}`, "gu") : unsafe;
  let at = 0;
  re.lastIndex = 0;
  for (const m of text.matchAll(re)) {
    if (m.index > at) out.push(document.createTextNode(text.slice(at, m.index)));
    out.push(h("span", { class: "esc", title: "a character that can't be seen as it is" }, escaped(m[0])));
    at = m.index + m[0].length;
  }
  if (at < text.length) out.push(document.createTextNode(text.slice(at)));
  return out;
}

// realPath is the path of a path id as text; one that is not UTF-8 travels as
// base64 after a NUL.
export function realPath(id) {
  if (!id.startsWith("\0")) return id;
  const raw = atob(id.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
  let out = "";
  for (const c of raw) out += c < "\x80" ? c : "\\x" + c.charCodeAt(0).toString(16);
  return out;
}

// pathNode shows a path: folders dim, the name strong; it may wrap after each
// folder.
export function pathNode(id, spans) {
  const text = realPath(id);
  const cut = text.lastIndexOf("/") + 1;
  const part = (from, to) => {
    const out = [];
    let at = from;
    for (let i = 0; i < (spans?.length ?? 0); i += 2) {
      const a = Math.max(spans[i], at), b = Math.min(spans[i + 1], to);
      if (a >= b) continue;
      out.push(...pieces(text.slice(at, a)), h("mark", null, safe(text.slice(a, b), true)));
      at = b;
    }
    out.push(...pieces(text.slice(at, to)));
    return out;
  };
  return h("span", { class: "path" }, cut ? h("span", { class: "dir" }, part(0, cut)) : null, h("span", { class: "base" }, part(cut, text.length)));
}

function pieces(text) {
  const out = [];
  for (const p of text.split(/(?<=\/)/)) {
    out.push(...safe(p, true));
    if (p.endsWith("/")) out.push(document.createElement("wbr"));
  }
  return out;
}

// unsafeName says what is odd about a name; "" if nothing is.
export function oddName(id) {
  if (id.startsWith("\0")) return "name is not UTF-8";
  if (/[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]/.test(id)) return "name has a bidirectional mark";
  if (/[\n\r]/.test(id)) return "name has a line break";
  unsafe.lastIndex = alsoInNames.lastIndex = 0;
  return unsafe.test(id) || alsoInNames.test(id) ? "name has a control character" : "";
}

// code gives the nodes of a line: colours are pairs of length and class, marks
// pairs of offsets that the tag is put around.
export function code(text, colours, marks, tag = "mark") {
  const out = [];
  let m = 0, run = 0, left = colours?.[0] ?? 0;
  const fill = (into, from, to) => {
    let at = from;
    while (at < to) {
      while (left <= 0 && colours && run + 2 < colours.length) { run += 2; left = colours[run]; }
      const n = left > 0 ? Math.min(left, to - at) : to - at;
      const cls = left > 0 ? colours[run + 1] : "";
      const nodes = safe(text.slice(at, at + n));
      if (cls) into.push(h("span", { class: cls }, nodes)); else into.push(...nodes);
      at += n;
      left -= n;
    }
  };
  let at = 0;
  for (; marks && m + 1 < marks.length; m += 2) {
    const a = Math.min(Math.max(marks[m], at), text.length), b = Math.min(marks[m + 1], text.length);
    fill(out, at, a);
    if (b > a) {
      const inner = [];
      fill(inner, a, b);
      out.push(h(tag, null, inner));
    } else if (marks[m] === marks[m + 1]) {
      out.push(h(tag, { class: "here" }));
    }
    at = Math.max(a, b);
  }
  fill(out, at, text.length);
  return out;
}

// said is what a change is called: in quotation marks where a client worded it.
// That a part was accepted is ours to say.
const inPart = / \(in part: \d+ of \d+ hunks\)$/;
export const said = (c) => (c.quoted ? h("span", null, h("span", { class: "said", title: `in the words of ${c.client}` }, "“", safe(c.proposal ? c.summary.replace(inPart, "") : c.summary, true), "”"), c.proposal ? inPart.exec(c.summary)?.[0] : null) : h("span", null, safe(c.summary || c.tool, true)));

export const n = (x) => Number(x).toLocaleString("en-US");
export const plural = (x, one, many = one + "s") => `${n(x)} ${x === 1 ? one : many}`;
export const ms = (x) => (x < 10 ? x.toFixed(1) : Math.round(x).toString()) + " ms";

export function bytes(x) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let i = 0;
  while (x >= 1000 && i < units.length - 1) { x /= 1024; i++; }
  return `${i && x < 10 ? x.toFixed(1) : Math.round(x)} ${units[i]}`;
}

export function clock(t) {
  return new Date(t).toLocaleTimeString("en-GB");
}

export function day(t) {
  const d = new Date(t), now = new Date();
  const midnight = (x) => new Date(x.getFullYear(), x.getMonth(), x.getDate()).getTime();
  const days = Math.round((midnight(now) - midnight(d)) / 86400000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7 && days > 0) return d.toLocaleDateString("en-GB", { weekday: "long" });
  return d.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: d.getFullYear() === now.getFullYear() ? undefined : "numeric" });
}

export function ago(t) {
  const sec = Math.max(0, (Date.now() - new Date(t)) / 1000);
  if (sec < 60) return `${Math.round(sec)} s ago`;
  if (sec < 3600) return `${Math.round(sec / 60)} min ago`;
  if (sec < 86400) return `${Math.round(sec / 3600)} h ago`;
  return plural(Math.round(sec / 86400), "day") + " ago";
}

export function btn(label, opts = {}) {
  const { ic, key, cls = "", ...props } = opts;
  return h("button", { type: "button", class: `btn ${cls}`.trim(), ...props }, ic ? icon(ic) : null, label, key ? h("kbd", { "aria-hidden": "true" }, key) : null);
}

// A file of a list, .file or .dfile, folds to its head.
export const folder = (path) => btn("", { ic: "down", cls: "ghost small icon fold", "aria-expanded": "true", "aria-label": `Fold ${realPath(path)}`, title: "Fold (z), fold all (Z)", onclick: (e) => fold(e.currentTarget.closest(".file, .dfile")) });

export function fold(el, on = !el?.classList.contains("folded")) {
  if (!el?.querySelector(".fold")) return;
  el.classList.toggle("folded", on);
  el.querySelector(".fold").setAttribute("aria-expanded", String(!on));
}

// foldKeys fold the file that is read, and all of a box, or unfold them.
export const foldKeys = (box, one) => ({
  z: () => fold(one()),
  Z: () => { const all = [...box().querySelectorAll(".file, .dfile")], on = all.some((el) => !el.classList.contains("folded")); for (const el of all) fold(el, on); },
});

// keepFocus draws a part of the page anew; what had the focus in it, by its name, has
// it afterwards.
export function keepFocus(box, draw) {
  const was = document.activeElement, name = (el) => el.dataset.id ?? el.getAttribute("aria-label") ?? el.textContent;
  const held = box.contains(was) && { name: name(was), tag: was.tagName, at: was.type === "text" ? was.selectionStart : -1 };
  draw();
  if (!held || box.contains(document.activeElement)) return;
  const now = [...box.querySelectorAll(held.tag)].find((el) => name(el) === held.name);
  now?.focus({ preventScroll: true });
  if (held.at >= 0) now?.setSelectionRange(held.at, held.at);
}

export function notice(kind, ic, ...children) {
  return h("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" }, icon(ic), h("div", { class: "grow" }, children));
}

export function command(text) {
  return h("div", { class: "cmd" }, h("code", { class: "grow" }, text), btn("", { ic: "copy", cls: "ghost small icon", "aria-label": "Copy the command", onclick: () => navigator.clipboard?.writeText(text) }));
}

// badge is two letters of a client, in a colour of its own.
export function badge(client) {
  let sum = 0;
  for (const c of client) sum = (sum * 31 + c.codePointAt(0)) % 9973;
  const words = client.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim().split(" ");
  const letters = client === "you" ? "$" : (words.length > 1 ? words[0].slice(0, 1) + words[1].slice(0, 1) : words[0].slice(0, 2)).toLowerCase() || "?";
  return h("span", { class: `who w${client === "you" ? "" : sum % 6}`, "aria-hidden": "true" }, letters);
}
