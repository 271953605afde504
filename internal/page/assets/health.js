// How the index, the journal and the searches are doing.

import { get } from "./api.js";
import { app } from "./frame.js";
import { ago, bytes, clock, h, icon, ms, n, notice, plural, s, safe } from "./dom.js";

let els, timer = 0, number = 0, visit = 0, data = null, checks = null, at = 0;

function enter(main) {
  main.className = "health";
  els = { main };
  visit++;
  data = checks = null;
  app.title("Health");
  app.keys(["/", "search"], ["1 2 3 4 5", "views"], ["t", "theme"], ["?", "all keys"]);
  app.bar("one", h("span", { class: "dim" }, "Checking"));
  main.append(h("div", { class: "wait wide" }, "Checking"));
  load();
  runChecks();
  timer = setInterval(() => { if (document.visibilityState === "visible" && app.live.connected) load(); else bar(); }, 2000);
}

function leave() { clearInterval(timer); number++; visit++; }

async function load() {
  const mine = ++number;
  try {
    const res = await get("/api/health");
    if (mine !== number) return;
    data = res;
    at = Date.now();
    draw();
  } catch (e) {
    if (mine === number && !data) els.main.replaceChildren(notice("bad", "warn", h("p", null, h("b", null, "The figures can't be read.")), h("p", null, safe(e.message))));
  }
}

async function runChecks() {
  const mine = visit;
  let found;
  try { found = (await get("/api/checks")).checks; } catch (e) {
    found = [{ ok: false, what: e.message }];
    app.whenBack(e, () => { if (mine === visit) runChecks(); });
  }
  if (mine !== visit) return; // they take a while: another view may be shown
  checks = found;
  if (data) draw();
}

function bar() {
  const bad = (checks ?? []).filter((c) => !c.ok && !c.note).length, notes = (checks ?? []).filter((c) => c.note).length;
  const ix = data?.index;
  const tag = ix?.state === "failed" || bad ? h("span", { class: "tag warn" }, icon("warn"), bad ? plural(bad, "problem") : "no index") : ix?.state === "indexing" ? h("span", { class: "tag warn" }, "index is being built") : h("span", { class: "tag ok" }, icon("check"), "healthy");
  app.bar("one", tag, h("span", { class: "sub" }, checks === null ? "checking" : notes ? `${plural(notes, "thing")} to look at` : ""), h("span", { class: "grow" }), h("div", { class: "status", role: "status" }, at ? ["checked ", h("b", null, `${Math.max(0, Math.round((Date.now() - at) / 1000))} s`), " ago"] : ""));
}

const card = (title, more, body, cls = "") => h("section", { class: `card ${cls}` }, h("div", { class: "chead" }, h("h2", null, title), more), body);
const kv = (list) => h("dl", { class: "kv" }, list.filter(Boolean).map(([k, v]) => [h("dt", null, k), h("dd", null, v)]));

const quantile = (list, q) => (list.length ? list[Math.min(list.length - 1, Math.floor(q * list.length))] : 0);

function times() {
  const list = data.searches;
  if (!list.length) return card("Search time", null, h("div", { class: "cbody" }, h("p", { class: "sub" }, "No search was made on this page yet. Press ", h("kbd", null, "/"), " to make the first.")), "wide");
  const total = list.map((x) => x.total).sort((a, b) => a - b), first = list.filter((x) => x.first).map((x) => x.first).sort((a, b) => a - b);
  const scans = list.filter((x) => x.scan).length, slowest = total.at(-1), median = quantile(total, 0.5);
  // Heights are logarithmic: 0.3 ms is nothing, 1,000 ms is all of it.
  const y = (v) => 100 * Math.max(0.02, Math.min(1, Math.log10(Math.max(v, 0.3) / 0.3) / Math.log10(1000 / 0.3)));
  const bars = list.map((x, i) => s("rect", { x: 10 * (60 - list.length + i) + 1.5, y: (100 - y(x.total)).toFixed(1), width: 7, height: y(x.total).toFixed(1), class: x.scan ? "slow" : "" }, s("title", null, `${ms(x.total)}${x.scan ? ", files were read" : ""}`)));
  const lines = [[1, ""], [10, ""], [50, "goal"], [500, ""]].map(([v, cls]) => { const el = h("div", { class: `y ${cls}` }, h("span", null, v)); el.style.bottom = `${y(v)}%`; return el; });
  const big = (v, label) => h("div", null, h("b", null, v), h("span", null, label));
  return card("Search time", h("span", { class: "dim sm" }, `last ${plural(list.length, "search", "searches")} of this page, milliseconds to the full answer`), h("div", { class: "cbody" },
    h("div", { class: "big" }, big(ms(median), "median"), big(ms(quantile(total, 0.95)), "95 of 100 are faster"), big(ms(slowest), "slowest"), first.length ? big(ms(quantile(first, 0.5)), "median to the first match") : null),
    h("div", { class: "plot" }, lines, s("svg", { class: "spark", viewBox: "0 0 600 100", preserveAspectRatio: "none", role: "img", "aria-label": `Milliseconds to the full answer of the last ${list.length} searches, logarithmic. Median ${ms(median)}, slowest ${ms(slowest)}.` }, bars)),
    h("div", { class: "axis" }, h("span", null, "60 searches ago"), h("span", null, "now")),
    h("div", { class: "key" }, h("span", null, h("i"), "from the index"), h("span", { class: "slow" }, h("i"), scans ? `fallback scan: ${n(scans)}` : "fallback scan"), h("span", { class: "goal" }, h("i"), "goal: 50 ms"))), "wide");
}

function indexCard(ix = data.index, of = "") {
  const tag = { ready: h("span", { class: "tag ok" }, icon("check"), ix.pending ? "up to date, some files to read again" : "up to date"), indexing: h("span", { class: "tag warn" }, "being built"), failed: h("span", { class: "tag bad" }, "failed") }[ix.state] ?? h("span", { class: "tag" }, "none");
  return card(of ? ["Index of ", safe(of)] : "Index", [h("span", { class: "grow" }), tag], h("div", { class: "cbody" }, kv([
    ["Files", ix.state === "ready" ? n(ix.files) : ix.to_read ? `${n(ix.read)} of ${n(ix.to_read)} read` : "none"],
    ix.text_bytes ? ["Text", bytes(ix.text_bytes)] : null,
    ix.disk_bytes ? ["Index size", `${bytes(ix.disk_bytes)}${ix.text_bytes ? `, ${((100 * ix.disk_bytes) / ix.text_bytes).toFixed(1)} % of the text` : ""}`] : null,
    ["Pending", plural(ix.pending, "file")],
    ix.state === "ready" ? ["Freshness", ix.freshness === "event" ? `by events, ${plural(ix.watches, "folder")} watched` : "the tree is compared before each answer"] : null,
    ix.unwatched ? ["Not watched", `${plural(ix.unwatched, "part")} of the tree, compared before each answer`] : null,
    ix.updated ? ["Last full comparison", `${clock(ix.updated)}, ${ago(ix.updated)}`] : null,
    ix.pid ? ["Owner", ix.remote ? `process ${ix.pid}; this page asks it` : `this page, process ${ix.pid}`] : null,
    ix.error ? ["Error", safe(ix.error)] : null])));
}

// What needs a look comes first; all that is well is one line.
function sorted() {
  const well = checks.filter((c) => c.ok).map((c) => c.what);
  return [...checks.filter((c) => !c.ok && !c.note), ...checks.filter((c) => c.note), ...(well.length ? [{ ok: true, what: `Nothing to repair: ${well.join(", ")}.` }] : [])];
}

function checksCard() {
  const body = checks === null ? h("p", { class: "sub" }, "Checking") : checks.length === 0 ? h("p", { class: "sub" }, "Nothing to check here.")
    : h("ul", { class: "checks" }, sorted().map((c) => h("li", { class: c.ok ? "" : "w" }, icon(c.ok ? "check" : c.note ? "info" : "warn"), h("span", null, safe(c.what), c.fix ? h("span", { class: "sub" }, " ", safe(c.fix)) : null))));
  return card("Checks", [h("span", { class: "grow" }), h("span", { class: "dim sm" }, "as ", h("code", null, "quarry doctor"))], h("div", { class: "cbody" }, body));
}

// recordingCard says what is recorded of other programs, and what is not covered.
function recordingCard() {
  const r = data.recording ?? {};
  const tag = r.problem ? h("span", { class: "tag bad" }, "not recorded") : r.on ? h("span", { class: "tag ok" }, icon("check"), "recorded") : h("span", { class: "tag" }, "off");
  return card("Other programs", [h("span", { class: "grow" }), tag], h("div", { class: "cbody" }, kv([
    r.problem ? ["Problem", safe(r.problem)] : null,
    r.on ? ["Covered", plural(r.files, "file")] : ["Changes", "quarry ui, or quarry serve --record, records them"],
    r.on ? ["Space", `${bytes(r.bytes)} of ${bytes(r.max_bytes)}`] : null,
    r.too_large ? ["Too large", `${plural(r.too_large, "file")}: texts over 4 MB, binary files over 1 MB`] : null,
    r.over_budget ? ["Beyond the limit", `${plural(r.over_budget, "file")}: record.max-size`] : null,
    r.unreadable ? ["Can't be read", plural(r.unreadable, "file")] : null,
    r.omitted ? ["Not recorded", `${plural(r.omitted, "change")} of such files, or of files that are rewritten all the time`] : null,
    r.unwatched ? ["Not watched", `${plural(r.unwatched, "folder")}: changes there are found when the log is read`] : null])));
}

function journalCard() {
  const j = data.journal;
  return card("Journal", [h("span", { class: "grow" }), j.error ? h("span", { class: "tag bad" }, "can't be read") : j.damaged ? h("span", { class: "tag warn" }, plural(j.damaged, "damaged record")) : h("span", { class: "tag ok" }, icon("check"), "readable")], h("div", { class: "cbody" }, kv([
    j.error ? ["Error", safe(j.error)] : ["Changes kept", n(j.changes)], j.newest ? ["Newest", `${new Date(j.newest).toLocaleString("en-GB")}, ${ago(j.newest)}`] : null, j.oldest ? ["Oldest", `${new Date(j.oldest).toLocaleString("en-GB")}, ${ago(j.oldest)}`] : null, j.dropped ? ["Dropped", `${n(j.dropped)} by the caps on size and age`] : null])));
}

function rulesCard() {
  const yes = (v) => (v ? "yes" : h("span", { class: "tag no" }, icon("x"), "no"));
  return card("Policy", [h("span", { class: "grow" }), h("span", { class: "dim sm" }, "as agents have it")], h("div", { class: "tblbox", tabindex: "0", role: "group", "aria-label": "Policy" }, h("table", { class: "tbl" },
    h("thead", null, h("tr", null, h("th", null, "Path"), h("th", null, "Read"), h("th", null, "Write"), h("th", null, "Rule"))),
    h("tbody", null, data.rules.map((r) => h("tr", null, h("td", null, h("span", { class: "path" }, safe(r.path, true))), h("td", null, yes(r.read)), h("td", null, yes(r.write)), h("td", { class: "dim" }, safe(r.why, true))))))));
}

function clientsCard() {
  const list = data.clients;
  if (!list) return null;
  const rows = list.map((c) => h("tr", null, h("td", { "data-l": "Client" }, h("b", null, safe(c.name, true)), " ", h("span", { class: "dim" }, safe([c.version, c.transport].filter(Boolean).join(", "), true))), h("td", { "data-l": "Profile" }, c.profile || h("span", { class: "dim" }, "none")), h("td", { "data-l": "Access" }, c.read_only ? "read" : "read, write"),
    h("td", { "data-l": "Review" }, c.review ? h("span", { class: "tag ok" }, icon("check"), "on") : h("span", { class: "dim" }, c.read_only ? "not needed" : "off")), h("td", { "data-l": "Calls", class: "r" }, n(c.calls)), h("td", { "data-l": "Changes", class: "r" }, n(c.changes)), h("td", { "data-l": "Last call", class: "nowrap" }, c.last_tool ? [h("code", null, safe(c.last_tool, true)), " ", ago(c.last)] : h("span", { class: "dim" }, "none yet"))));
  return card("Connected clients", h("span", { class: "tag num" }, n(list.length)), list.length ? h("div", { class: "tblbox", tabindex: "0", role: "group", "aria-label": "Clients" }, h("table", { class: "tbl stack" }, h("thead", null, h("tr", null, ["Client", "Profile", "Access", "Review"].map((x) => h("th", null, x)), h("th", { class: "r" }, "Calls"), h("th", { class: "r" }, "Changes"), h("th", null, "Last call"))), h("tbody", null, rows)))
    : h("div", { class: "cbody" }, h("p", { class: "sub" }, "No agent is connected to this folder now.")), "wide");
}

function rootCard() {
  return card("This page", null, h("div", { class: "cbody" }, kv([...(data.roots.length ? data.roots.map((r) => [safe(r.name), h("span", { class: "path" }, safe(r.dir, true))]) : [["Folder", h("span", { class: "path" }, safe(data.dir, true))]]), ["Program", `quarry ${data.version}`], ["Running since", `${new Date(data.started).toLocaleString("en-GB")}`], ["Reached at", `${location.host}, this machine only`]])));
}

function draw() {
  bar();
  const building = data.index.state === "indexing"
    ? h("div", { class: "wide" }, notice("", "info", h("p", null, h("b", null, data.index.to_read ? `The index is being built: ${Math.floor((100 * data.index.read) / data.index.to_read)} %.` : "The index is being built.")), h("p", { class: "sub" }, "Searches are complete but slower: they read the files."))) : null;
  const top = scrollY, focus = document.activeElement?.getAttribute("aria-label");
  els.main.replaceChildren(...[building, times(), clientsCard(), ...(data.roots.length ? data.roots.map((r) => indexCard(r.index, r.name)) : [indexCard()]), checksCard(), journalCard(), recordingCard(), rulesCard(), rootCard()].filter(Boolean));
  if (focus) els.main.querySelector(`[aria-label="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  scrollTo(0, top);
}

export const health = { enter, leave, update() {}, live(name) { if (name === "index" || name === "clients") load(); }, keys: {} };
