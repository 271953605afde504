// The undo of several changes. The person is asked first, and asked again where files
// changed since.

import { get, post } from "./api.js";
import { app } from "./frame.js";
import { appendLazily, fileCard } from "./diffview.js";
import { h, n, pathNode, plural, safe } from "./dom.js";

// undoSince goes back to right after c, undoing the changes of one client or of all: who
// made them, and what becomes of the files, is shown first. It reports whether the person
// wanted it.
export async function undoSince(c, client, others = false) {
  const at = `/api/back/${encodeURIComponent(c.id)}`, how = { by: client, others: others ? "1" : "" };
  let plan;
  try { plan = await get(at, how); } catch (e) { app.fail(e); return false; }
  if (plan.conflicts) {
    const body = h("div", null, h("p", null, "Files are not as these changes left them:"),
      h("ul", { class: "conflicts" }, plan.conflicts.slice(0, 12).map((p) => h("li", null, pathNode(p.path), " ", safe(p.reason)))),
      h("p", null, "They can stay as they are while the other files go back."));
    if (others || !(await app.ask("Go back with the other files?", body, "Show what happens"))) return false;
    return undoSince(c, client, true);
  }
  if (plan.nothing) { app.toast("Nothing after this change is left to undo", "info"); return false; }
  const body = h("div", null, h("p", null, "All of it is one change, which can be undone."),
    h("ul", { class: "plain" }, plan.authors.map((a) => h("li", null, safe(a.name, true), h("span", { class: "dim" }, `: ${plural(a.changes, "change")}`)))),
    plan.warnings?.map((w) => h("p", { class: "sub" }, safe(w))));
  appendLazily(body, plan.files, (f, i) => fileCard(f, i, (k) => get(at, { ...how, file: k + 1 })));
  if (!(await app.ask("Undo everything after this change?", body, `Undo ${plural(plan.authors.reduce((n, a) => n + a.changes, 0), "change")}`, true))) return false;
  app.busy(true);
  try {
    await post(at, { by: client, others });
    app.toast("Undone: the files are as they were then");
  } catch (e) { app.fail(e); } finally { app.busy(false); }
  return true;
}

// undoSession undoes all changes of a session; it reports whether the person wanted it.
export async function undoSession({ client, changes, undo }) {
  const text = `${plural(undo.length, "change")} of ${client} ${undo.length === 1 ? "is" : "are"} undone, the newest first. Each undo can be undone.`;
  if (!(await app.ask("Undo all of this session?", h("p", null, text), `Undo ${plural(undo.length, "change")}`, true))) return false;
  await undoAll(undo, changes);
  return true;
}

// undoAll undoes changes, newest first. Where files of one changed since, it asks
// whether the other files of that and of the older ones are to be undone.
async function undoAll(ids, todo, others = false, undone = 0) {
  app.busy(true);
  let left = 0, at = 0;
  try {
    for (; at < ids.length; at += 100) {
      const res = await post("/api/undo", { ids: ids.slice(at, at + 100), others });
      undone += res.done.length;
      left += res.left.length;
    }
    app.toast(`Undone: ${plural(undone, "change")}${left ? `; ${n(left)} left, their files changed since` : ""}`, left ? "bad" : "check");
    return;
  } catch (e) {
    undone += e.body?.done?.length ?? 0;
    const rest = ids.slice(ids.indexOf(e.body?.failed));
    if (!e.body?.conflicts || others || !rest.length) { app.toast(`Stopped after ${plural(undone, "change")}: ${e.message}`, "bad"); return; }
    const stuck = todo.find((x) => x.id === e.body.failed);
    app.busy(false);
    const body = h("div", null, h("p", null, `${plural(undone, "change")} ${undone === 1 ? "was" : "were"} undone. Then files had changed since`, stuck ? [" “", safe(stuck.summary, true), "”:"] : ":"),
      h("ul", { class: "conflicts" }, e.body.conflicts.slice(0, 12).map((p) => h("li", null, pathNode(p.path), " ", safe(p.reason)))),
      h("p", null, `The other files of this and of the older changes can be undone; these stay as they are.`));
    if (!(await app.ask("Undo the other files?", body, "Undo the others"))) { app.toast(`Stopped after ${plural(undone, "change")}`, "info"); return; }
    await undoAll(rest, todo, true, undone);
  } finally { app.busy(false); }
}
