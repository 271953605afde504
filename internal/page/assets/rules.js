// Rules for changes: which are accepted, wait for a person, or are refused. They are
// tried on the last changes before they can be saved.

import { get, post } from "./api.js";
import { app } from "./frame.js";
import { ago, btn, h, n, notice, pathNode, plural, safe } from "./dom.js";

const words = { accept: ["ok", "accepted"], ask: ["warn", "asked"], refuse: ["no", "refused"] };
const examples = "accept docs/**\nrefuse *.lock\nask lines>200\nask tool:delete_file";

export async function showRules() {
  let res;
  try { res = await get("/api/rules"); } catch (e) { app.fail(e); return; }
  if (!res.books.length) { app.toast("This page has no place for rules", "bad"); return; }
  const dialog = h("dialog", { class: "ask sheet rules", "aria-label": "Rules" }, h("h2", null, "Rules for changes of agents"),
    h("p", { class: "sub" }, "One a line: accept, ask or refuse, then path globs, tool:NAME, client:NAME, lines>N or lines<=N. Of the rules that fit the strictest counts, and a change is accepted only if all of it is. Lines are those that agents changed in a file since you last looked. A rule that names a client can't accept: the name is only its own word."),
    res.books.map((b) => book(b, res.read_only)),
    h("div", { class: "btns end" }, btn("Close", { cls: "ghost", onclick: () => dialog.close() })));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function book(b, readOnly) {
  const area = h("textarea", { class: "mono", rows: "6", spellcheck: "false", "aria-label": b.root ? `Rules of ${b.root}` : "Rules", placeholder: examples });
  area.value = b.rules.join("\n");
  const out = h("div", { class: "trial", "aria-live": "polite" }), save = btn("Save", { cls: "primary", disabled: true });
  let tried = null; // the rules that were tried, and the proof
  const lines = () => area.value.split("\n").map((l) => l.trim()).filter(Boolean);
  const changed = () => { save.disabled = !tried || JSON.stringify(tried.rules) !== JSON.stringify(lines()); };
  area.addEventListener("input", changed);
  const trial = btn("Try on the last 50 changes", { onclick: async () => {
    const rules = lines();
    try {
      const res = await post("/api/rules/try", { root: b.root, rules, tried: "" });
      tried = { rules, proof: res.tried };
      out.replaceChildren(...table(res));
    } catch (e) { tried = null; out.replaceChildren(notice("bad", "warn", h("p", { class: "pre" }, safe(e.message)))); }
    changed();
  } });
  save.addEventListener("click", async () => {
    try {
      const now = await post("/api/rules", { root: b.root, rules: tried.rules, tried: tried.proof });
      app.toast(`Saved: ${plural(now.rules.length, "rule")}. They count from now on.`);
      out.replaceChildren();
      tried = null;
      changed();
    } catch (e) { app.fail(e); }
  });
  return h("section", null, b.root ? h("h3", null, safe(b.root, true)) : null, area,
    h("p", { class: "sub sm" }, b.where ? ["In ", h("code", null, safe(b.where, true)), ". "] : "No rules yet. ", `What no rule fits is ${b.otherwise === "ask" ? "asked" : "made, unless the server was started with --review"}.`),
    b.problem ? notice("bad", "warn", h("p", { class: "pre" }, safe(b.problem)), h("p", null, "Until this is repaired, every change is asked.")) : null,
    h("div", { class: "btns" }, trial, readOnly ? null : save), out);
}

function table(res) {
  const count = (a) => `${n(res.counts[a] ?? 0)} ${words[a][1]}`;
  const head = h("p", null, h("b", null, `Of the last ${plural(res.changes.length, "change")} of agents: `), ["accept", "ask", "refuse"].map(count).join(", "), ".");
  if (!res.changes.length) return [head];
  return [head, h("div", { class: "tblbox", tabindex: "0", role: "group", "aria-label": "What the rules would have done" }, h("table", { class: "tbl stack" },
    h("thead", null, h("tr", null, ["What", "Change", "Rule", "Path", "When"].map((x) => h("th", null, x)))),
    h("tbody", null, res.changes.map((c) => h("tr", null, h("td", { "data-l": "What" }, h("span", { class: `tag ${words[c.action][0]}` }, words[c.action][1])), h("td", { "data-l": "Change" }, safe(c.summary || c.tool, true), " ", h("span", { class: "dim" }, safe(c.client, true))),
      h("td", { "data-l": "Rule" }, c.why ? h("code", null, safe(c.why, true)) : h("span", { class: "dim" }, "none fits")), h("td", { "data-l": "Path" }, c.at ? pathNode(c.at) : ""), h("td", { "data-l": "When", class: "nowrap" }, ago(c.time)))))))];
}
