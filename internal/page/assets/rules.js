// Rules for changes: which are accepted, wait for a person, or are refused. They are
// tried on the last changes before they can be saved.

import { get, post } from "./api.js";
import { app } from "./frame.js";
import { ago, btn, h, n, notice, pathNode, plural, realPath, safe } from "./dom.js";

const words = { accept: ["ok", "accepted"], ask: ["warn", "asked"], refuse: ["no", "refused"], unknown: ["", "not known"] };
const examples = "accept docs/**\nrefuse *.lock\nask lines>200\nask tool:delete_file";

// ruleFor is a rule that accepts changes like a proposal: by its tool, of files of that
// kind in that folder. One that deletes is not for other files.
function ruleFor({ proposal: p, files }) {
  const root = p.id.includes("/") ? p.id.slice(0, p.id.lastIndexOf("/")) : "", within = (path) => realPath(path).slice(root ? root.length + 1 : 0);
  const paths = files.flatMap((f) => (f.old && f.old !== f.path ? [f.old, f.path] : [f.path])).map(within), names = paths.map((x) => x.split("/"));
  let depth = 0;
  while (names.every((x) => depth < x.length - 1 && x[depth] === names[0][depth])) depth++;
  const escape = (x) => x.replace(/[\\*?[\]{}]/g, "\\$&"), kinds = new Set(paths.map((x) => /\.[^./]+$/.exec(x)?.[0] ?? "")), deep = names.some((x) => x.length > depth + 1);
  const dir = "/" + names[0].slice(0, depth).map((x) => escape(x) + "/").join(""), kind = [...kinds][0];
  const globs = files.some((f) => f.kind === "delete") || (paths.length === 1 && !kind) ? paths.map((x) => `/${escape(x)}`) : [dir + (deep ? "**/" : "") + "*" + (kinds.size === 1 ? escape(kind) : "")];
  return { root, rule: `accept ${globs.map((x) => (/^[\w./*-]+$/.test(x) ? x : JSON.stringify(x))).join(" ")}${/^[\w-]+$/.test(p.tool) ? ` tool:${p.tool}` : ""}` };
}

// showRules shows the rules, with one more for a proposal that is tried at once.
export async function showRules(like) {
  const more = like && ruleFor(like);
  let res;
  try { res = await get("/api/rules"); } catch (e) { app.fail(e); return; }
  if (!res.books.length) { app.toast("This page has no place for rules", "bad"); return; }
  const dialog = h("dialog", { class: "ask sheet rules", "aria-label": "Rules" }, h("h2", null, "Rules for changes of agents"),
    h("p", { class: "sub" }, "One a line: accept, ask or refuse, then path globs, tool:NAME, client:NAME, lines>N or lines<=N. Of the rules that fit the strictest counts, and a change is accepted only if all of it is. Lines are those that agents changed in a file since you last looked. A rule that names a client can't accept: the name is only its own word."),
    res.books.map((b) => book(b, res.read_only, more?.root === b.root ? more.rule : "")),
    h("div", { class: "btns end" }, btn("Close", { cls: "ghost", onclick: () => dialog.close() })));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function book(b, readOnly, more) {
  const area = h("textarea", { class: "mono", rows: "6", spellcheck: "false", "aria-label": b.root ? `Rules of ${b.root}` : "Rules", placeholder: examples });
  area.value = [...b.rules, ...(more ? [more] : [])].join("\n");
  const out = h("div", { class: "trial", "aria-live": "polite" }), save = btn("Save", { cls: "primary", disabled: true });
  let tried = null; // the rules that were tried, and the proof
  const lines = () => area.value.split("\n").map((l) => l.trim()).filter(Boolean);
  const changed = () => { save.disabled = !tried || JSON.stringify(tried.rules) !== JSON.stringify(lines()); };
  area.addEventListener("input", changed);
  const tryThem = async () => {
    const rules = lines();
    try {
      const res = await post("/api/rules/try", { root: b.root, rules, tried: "" });
      tried = { rules, proof: res.tried };
      out.replaceChildren(...table(res));
    } catch (e) { tried = null; out.replaceChildren(notice("bad", "warn", h("p", { class: "pre" }, safe(e.message)))); }
    changed();
  };
  const trial = btn("Try on the last 50 changes", { onclick: tryThem }), where = h("span");
  const tell = (at) => where.replaceChildren(...(at ? ["In ", h("code", null, safe(at, true)), ". "] : ["No rules yet. "]));
  tell(b.where);
  if (more) tryThem();
  save.addEventListener("click", async () => {
    try {
      const now = await post("/api/rules", { root: b.root, rules: tried.rules, tried: tried.proof });
      app.toast(`Saved: ${plural(now.rules.length, "rule")}. They count from now on.`);
      tell(now.where);
      out.replaceChildren();
      tried = null;
      changed();
    } catch (e) { app.fail(e); }
  });
  return h("section", null, b.root ? h("h3", null, safe(b.root, true)) : null, area,
    h("p", { class: "sub sm" }, where, `What no rule fits is ${b.otherwise === "ask" ? "asked" : "made, unless the server was started with --review"}.`),
    b.problem ? notice("bad", "warn", h("p", { class: "pre" }, safe(b.problem)), h("p", null, "Until this is repaired, every change is asked.")) : null,
    h("div", { class: "btns" }, trial, readOnly ? null : save), out);
}

function table(res) {
  const count = (a) => `${n(res.counts[a] ?? 0)} ${words[a][1]}`;
  const head = h("p", null, h("b", null, `Of the last ${plural(res.changes.length, "change")} of agents: `), ["accept", "ask", "refuse", ...(res.counts.unknown ? ["unknown"] : [])].map(count).join(", "), ".");
  if (!res.changes.length) return [head];
  return [head, h("div", { class: "tblbox", tabindex: "0", role: "group", "aria-label": "What the rules would have done" }, h("table", { class: "tbl stack" },
    h("thead", null, h("tr", null, ["What", "Change", "Rule", "Path", "When"].map((x) => h("th", null, x)))),
    h("tbody", null, res.changes.map((c) => h("tr", null, h("td", { "data-l": "What" }, h("span", { class: `tag ${words[c.action][0]}` }, words[c.action][1])), h("td", { "data-l": "Change" }, safe(c.summary || c.tool, true), " ", h("span", { class: "dim" }, safe(c.client, true))),
      h("td", { "data-l": "Rule" }, c.why ? h("code", null, safe(c.why, true)) : h("span", { class: "dim" }, c.action === "unknown" ? "it depends on what was in the folder" : "none fits")), h("td", { "data-l": "Path" }, c.at ? pathNode(c.at) : ""), h("td", { "data-l": "When", class: "nowrap" }, ago(c.time)))))))];
}
