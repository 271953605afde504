// The frame around the views: address, header, keys, live connection. Views import
// it; it has them by name, from app.js.

import { findToken, get, post, removeWorkers, workerRemoved } from "./api.js";
import { btn, clock, command, h, icon, keepFocus, n, safe } from "./dom.js";
import { events } from "./live.js";
import { keepScroll } from "./scroll.js";

const $ = (id) => document.getElementById(id);
let views = {}, everywhere = {}; // keys of every view
const wide = matchMedia("(min-width: 1100px)"), broad = matchMedia("(min-width: 1500px)");

export const app = {
  about: null,
  // The page came from the server, so the server is there until the stream of events
  // says otherwise: a key that is pressed before it is heard counts.
  live: { connected: true, since: 0, journal: null, index: null, review: null, activity: null },
  get wide() { return wide.matches; }, // room for a list beside what is read
  get broad() { return broad.matches; }, // and for two sides of a diff

  // go changes the address; push adds an entry to the history. Where only the
  // view's own state changes, as with each key of a search, the view goes first:
  // its request is on the way while the address is written.
  go(path, { push = true } = {}) {
    const url = new URL(path, location.origin);
    if (!push && current?.name === viewOf(url.pathname)) {
      current.view.update(url);
      app.note(path);
      return;
    }
    if (push) settle(); else owed = "";
    if (path !== location.pathname + location.search + location.hash) {
      if (push) scroll.push(path); else history.replaceState(history.state, "", path);
    }
    show();
  },
  // note changes the address without a new view, once nothing has changed it for
  // a moment: a browser lists every address in its history, and Safari takes 100
  // in 30 seconds.
  note(path) {
    owed = path;
    clearTimeout(owing);
    owing = setTimeout(settle, 500);
  },
  bar(cls, ...nodes) {
    $("bar").className = `bar ${cls}${app.banner ? " banner" : ""}`;
    app.barNodes = nodes.flat();
    if (!app.banner) keepFocus($("bar"), () => $("bar").replaceChildren(...app.barNodes.filter(Boolean)));
  },
  keys(...list) {
    $("keys").replaceChildren(...list.map(([keys, what]) => h("span", null, keys.split(" ").map((k) => h("kbd", null, k)), ` ${what}`)));
  },
  // title is that of the view; how many proposals wait comes before it.
  title(text = titled) {
    titled = text;
    const count = app.live.review?.waiting ?? 0;
    document.title = (count ? `(${count}) ` : "") + (text ? `${text} - Quarry` : "Quarry");
  },
  busy(on) { $("progress").hidden = !on; },
  // toast says what was done, why something was not ("bad"), or what is the case ("info").
  toast(text, kind = "check") {
    const t = h("div", { class: `toast ${kind}` }, icon(kind === "bad" ? "warn" : kind), h("span", null, safe(text)));
    $("toasts").append(t);
    setTimeout(() => t.remove(), kind === "bad" ? 8000 : 3500);
  },
  // whenBack does once more what had no answer, when the server is there again.
  whenBack(err, again) { if (err.status === 0) unanswered.push(again); },
  fail(err) { app.toast(err.message + (err.hint ? `. ${err.hint}` : ""), "bad"); },

  // ask asks once; it resolves to whether the answer was yes. A field in the body has
  // the focus, and enter in it is yes.
  ask(title, body, yes, danger = false) {
    return new Promise((resolve) => {
      const before = document.activeElement;
      const d = h("dialog", { class: "ask", "aria-labelledby": "ask-title" },
        h("h2", { id: "ask-title" }, title), h("div", { class: "askbody" }, body),
        h("div", { class: "btns end" },
          btn("Cancel", { cls: "ghost", onclick: () => d.close("no") }),
          btn(yes, { cls: danger ? "danger" : "primary", onclick: () => d.close("yes") })));
      d.addEventListener("close", () => { d.remove(); before?.focus?.(); resolve(d.returnValue === "yes"); });
      document.body.append(d);
      d.showModal();
      const field = d.querySelector("textarea");
      field?.addEventListener("keydown", (e) => { if (e.key === "Enter" && !e.shiftKey && !e.isComposing) { e.preventDefault(); d.close("yes"); } });
      (field ?? [...d.querySelectorAll(".btns button")].at(-1)).focus({ preventScroll: true });
      d.scrollTop = 0; // it opens at its title
    });
  },

  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      app.toast(`Copied ${what}`);
    } catch {
      app.toast("The browser does not allow copying here", "bad");
    }
  },

  // notices are those of the system, on request.
  notices: {
    get can() { return "Notification" in self; },
    get on() { try { return app.notices.can && Notification.permission === "granted" && localStorage.getItem("quarry.notices") === "1"; } catch { return false; } },
    async flip() {
      const on = !app.notices.on && (await Notification.requestPermission()) === "granted";
      try { localStorage.setItem("quarry.notices", on ? "1" : ""); } catch { /* not kept */ }
      if (!on && Notification.permission === "denied") app.toast("The browser does not allow notifications here", "bad");
      return on;
    },
  },

  // openInEditor opens a file of the workspace; its path is a path id.
  openInEditor(path, line) {
    const { editor, dir, roots } = app.about;
    if (!editor.address) return;
    if (path.startsWith("\0")) { app.toast("This name is not UTF-8: an address can't hold it", "bad"); return; }
    // With several roots a path begins with the name of one.
    const root = roots.find((r) => path.startsWith(r.name + "/"));
    let full = (root ? `${root.dir}${path.slice(root.name.length)}` : `${dir}/${path}`).replaceAll("\\", "/");
    if (!full.startsWith("/")) full = "/" + full;
    const coded = full.split("/").map(encodeURIComponent).join("/");
    const a = h("a", { href: editor.address.replace("{path}", coded).replace("{line}", line || 1) });
    a.click();
  },
};

let current = null, titled = "";
const scroll = keepScroll();
const unanswered = []; // what is to be asked again: see whenBack
let owed = "", owing = 0; // an address that is not written yet, and when it will be

function settle() {
  clearTimeout(owing);
  if (owed && owed !== location.pathname + location.search) history.replaceState(history.state, "", owed);
  owed = "";
}

function viewOf(pathname) {
  const name = pathname.split("/")[1] || "search";
  return views[name] ? name : "search";
}

function show() {
  const name = viewOf(location.pathname);
  for (const a of document.querySelectorAll(".tabs a")) {
    if (a.dataset.view === name) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  if (current?.name !== name) {
    current?.view.leave?.();
    app.busy(false);
    current = { name, view: views[name] };
    const main = $("main");
    main.className = "";
    main.replaceChildren();
    document.documentElement.dataset.view = name;
    $("view").textContent = `${name[0].toUpperCase()}${name.slice(1)}`;
    if (name !== "search") $("q").blur(); // back from a search: the keys are this view's
    scrollTo(0, 0);
    current.view.enter(main);
  }
  current.view.update(new URL(location.href));
}

function onKey(e) {
  if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key === "f" && current.view.find?.()) { e.preventDefault(); return; }
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  // A dialog that was just closed keeps the focus until the browser draws again.
  const field = e.target.matches("input:not([type=checkbox]), textarea, select") && !e.target.closest("dialog");
  if (e.key === "Escape" && field) {
    if (current.view.escape?.(e.target)) { e.preventDefault(); return; }
    e.target.blur();
    $("main").focus({ preventScroll: true });
    return;
  }
  if (field) { current.view.fieldKey?.(e); return; }
  // A key that is held down decides once.
  if (e.repeat && current.view.once?.includes(e.key)) { e.preventDefault(); return; }
  const own = current.view.keys?.[e.key];
  // Enter and space belong to the button or link that has the focus.
  const pressable = e.target.closest("button, summary, a, input") && (e.key === "Enter" || e.key === " ");
  if (own && !pressable) { if (own(e) !== false) e.preventDefault(); return; }
  switch (e.key) {
    case "/": $("q").focus(); $("q").select(); break;
    case "1": app.go("/search" + (views.search.last ?? "")); break;
    case "2": app.go("/changes"); break;
    case "3": app.go("/review"); break;
    case "4": app.go("/activity"); break;
    case "5": app.go("/health"); break;
    case "w": if (!nextWaiting()) return; break;
    case "t": flipTheme(); break;
    case "?": showKeys(); break;
    default: if (!everywhere[e.key]) return; everywhere[e.key]();
  }
  e.preventDefault();
}

// tellNew shows a notification of the system for a proposal that came while nobody
// looked, if that was requested. It says nothing about files.
function tellNew(before, now) {
  if (!app.notices.on || !document.hidden) return;
  const had = new Set((before.open ?? []).map((p) => p.id)), fresh = (now.open ?? []).filter((p) => !had.has(p.id));
  if (!fresh.length) return;
  const note = new Notification("Quarry: a change waits for your decision", { body: `${now.waiting} waiting in ${app.about.name}`, tag: "quarry.waiting" });
  note.onclick = () => { focus(); app.go(`/review/${encodeURIComponent(fresh[0].id)}`); note.close(); };
}

// nextWaiting goes to the proposal whose agent gives up waiting first; from one that
// waits, to the next.
function nextWaiting() {
  const list = inTurn(app.live.review?.open ?? []);
  if (!list.length) { app.toast("Nothing waits for a decision", "info"); return true; }
  const at = list.findIndex((p) => location.pathname === `/review/${encodeURIComponent(p.id)}`);
  app.go(`/review/${encodeURIComponent(list[(at + 1) % list.length].id)}`);
  return true;
}

// inTurn sorts what waits: first those whose agent is still waiting, the nearest
// deadline before the others; then the oldest.
export function inTurn(list) {
  const now = Date.now(), left = (p) => { const until = new Date(p.until ?? 0).getTime(); return until > now && p.state !== "abandoned" ? until : Infinity; };
  return [...list].sort((a, b) => left(a) - left(b) || new Date(a.made) - new Date(b.made) || (a.id < b.id ? -1 : 1));
}

function flipTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "light" : "dark");
  post("/api/theme", { theme: root.dataset.theme }).catch(() => {}); // then it ends with this run
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("quarry.theme", theme); } catch { /* not kept */ }
}

const allKeys = [
  ["Everywhere", [["/", "search box"], ["1 2 3 4 5", "Search, Changes, Review, Activity, Health"], ["w", "next proposal that waits"], ["d", "definition and uses of a name in this line; or double-click it, or Alt-click"], ["t", "light or dark"], ["?", "these keys"]]],
  ["Search", [["j k", "next and previous hit"], ["n p", "next and previous file"], ["o", "open in the editor"], ["y", "copy path:line"], ["f", "filters"], ["m", "more matches"], ["z Z", "fold the file, all files"], ["enter", "into the file; j k are lines there"], ["ctrl f", "find in the file"], ["b", "who touched each line last"], ["v", "Markdown rendered"], ["esc", "leave the box, the file; close it"]]],
  ["Changes", [["j k", "next and previous entry"], ["n p", "next and previous file"], ["u", "undo"], ["U", "redo"], ["s", "side by side or unified"], ["x X", "more lines around a hunk; the whole definition"], ["g", "the file at the hunk"], ["z Z", "fold the file, all files"], [".", "show new changes"]]],
  ["Review", [["j k", "next and previous hunk"], ["n p", "next and previous file"], ["a r", "accept, refuse the hunk"], ["A", "accept what is not decided"], ["R", "refuse everything"], ["c", "comment on the hunk, or on the one just refused"], ["C", "comment on the whole"], ["v", "file viewed"], ["x X g", "more lines, the definition, the file"], ["e", "rules"], ["enter", "send the decision"]]],
  ["Activity", [["space", "pause and go on"]]],
];

function showKeys() {
  const d = h("dialog", { class: "ask keysheet", "aria-label": "All keys" }, h("h2", null, "Keys"),
    h("div", { class: "keygrid" }, allKeys.map(([title, list]) => h("section", null, h("h3", null, title),
      h("dl", null, list.map(([k, what]) => [h("dt", null, k.split(" ").map((x) => h("kbd", null, x))), h("dd", null, what)]))))),
    h("div", { class: "btns end" }, btn("Close", { cls: "primary", onclick: () => d.close() })));
  d.addEventListener("close", () => d.remove());
  document.body.append(d);
  d.showModal();
  d.scrollTop = 0; // the button that has the focus is at the end
}

// The live connection.
function onState(up, problem) {
  const { live } = app;
  const was = live.connected;
  live.connected = up;
  const el = $("live");
  el.replaceChildren(h("i", { class: up ? "dot" : "dot off" }), h("span", null, up ? "Live" : "Offline"));
  el.title = up ? "Connected: changes show as they are made" : "Not connected";
  if (problem) { app.banner = true; banner("This page's token is not valid any more.", "Start the page again with quarry ui and use the new address."); return; }
  if (!up && was) {
    live.since = Date.now();
    app.banner = true;
    banner("Not connected.", `The figures are from ${clock(Date.now())}. Start the server again with quarry ui.`, btn("Try now", { cls: "small", onclick: () => events.retry?.() }));
  }
  if (up && app.banner) {
    app.banner = false;
    $("bar").classList.remove("banner");
    $("bar").replaceChildren(...(app.barNodes ?? []).filter(Boolean));
    $("bar").removeAttribute("role");
  }
  document.documentElement.classList.toggle("offline", !up);
  current?.view.live?.("connection", { up });
  if (up && !was) for (const again of unanswered.splice(0)) again();
}

function banner(title, text, ...more) {
  const bar = $("bar");
  bar.classList.add("banner");
  bar.setAttribute("role", "alert");
  bar.replaceChildren(h("div", null, h("span", { class: "live" }, h("i", { class: "dot off" })), h("b", null, title), h("span", { class: "what" }, text), h("span", { class: "grow" }), more));
}

function onEvent(name, data) {
  if (name === "hello" && app.about && data.started !== app.about.started) {
    // Another server on the same port: what is shown may be of another folder.
    refreshAbout();
  }
  const before = app.live[name];
  if (name in app.live) app.live[name] = data;
  if (name === "index") where(data);
  if (name === "review") waiting(data, before);
  current?.view.live?.(name, data);
}

function where(index) {
  const parts = [app.about.name];
  switch (index.state) {
    case "ready": parts.push(`${n(index.files)} files indexed`, index.pending ? `${n(index.pending)} to read again` : "up to date"); break;
    case "indexing": parts.push(index.to_read ? `indexing, ${Math.floor((100 * index.read) / index.to_read)} %` : "indexing"); break;
    case "failed": parts.push("no index"); break;
    default: parts.push("no index: searches read the files");
  }
  $("where").textContent = parts.join(" · ");
}

function waiting(data, before) {
  const count = data.waiting, el = $("waiting");
  if (before) tellNew(before, data);
  app.live.review = data;
  app.title();
  const icon = `/assets/icon${count ? "-waiting" : ""}.svg`;
  if (!$("icon").href.endsWith(icon)) $("icon").href = icon;
  el.hidden = !count;
  el.textContent = count || "";
  el.setAttribute("aria-label", `${count} waiting`);
}

async function refreshAbout() {
  app.about = await get("/api/about");
  if (app.about.theme) setTheme(app.about.theme);
  $("root").firstElementChild.textContent = app.about.name;
  $("root").title = app.about.roots.map((r) => r.dir).join("\n") || app.about.dir;
  where(app.about.index);
  waiting(app.about.waiting);
}

function stranger() {
  $("live").replaceChildren(h("i", { class: "dot off" }), h("span", null, "No token"));
  $("main").className = "";
  $("main").replaceChildren(h("div", { class: "empty" }, h("h2", null, "This page needs its whole address"),
    h("p", null, "Quarry prints an address with a token after the # sign. It is kept for this tab alone, so another browser or a new window needs it again: copy it from the terminal, or start the page once more:"),
    command("quarry ui")));
}

const workerStays = () => $("main").replaceChildren(h("div", { class: "empty" }, h("h2", null, "Another program watches this address"),
  h("p", null, "A service worker that Quarry did not make sees every request of this page, and it can't be removed. Nothing was sent. Remove the data of this site in the browser's settings, or start the page on a free port:"), command("quarry ui")));

export async function start(all, keys) {
  views = all;
  everywhere = keys;
  switch (await removeWorkers()) {
    case "removed": return;
    case "stays": workerStays(); return;
  }
  if (!(await findToken())) { stranger(); return; }
  try {
    await refreshAbout();
  } catch (e) {
    if (e.status === 401) { stranger(); return; }
    $("main").replaceChildren(h("div", { class: "empty" }, h("h2", null, "The server does not answer"), h("p", null, "It ended, or it is starting. Start it again and reload this page:"), command("quarry ui"), btn("Reload", { cls: "primary", onclick: () => location.reload() })));
    return;
  }
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (e) => {
    const a = e.target.closest?.("a[href^='/']");
    if (!a || e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    const to = a.getAttribute("href");
    app.go(to === "/search" && current.name !== "search" ? "/search" + (views.search.last ?? "") : to);
  });
  addEventListener("popstate", () => {
    owed = ""; // of the entry that was left
    // A question is about what was shown when it was asked.
    for (const d of document.querySelectorAll("dialog[open]")) d.close("no");
    scroll.back(show);
  });
  addEventListener("pagehide", settle);
  for (const m of [wide, broad]) m.addEventListener("change", () => current?.view.resized?.());
  $("theme").addEventListener("click", flipTheme);
  $("find").addEventListener("submit", (e) => e.preventDefault());
  views.search.bindBox($("q"), $("case"), $("word"));
  show();
  if (workerRemoved()) app.toast("Another program had left a service worker on this address. It was removed before anything was sent.", "bad");
  events(onEvent, onState);
}
