// The state of a proposal in words: what it does, whether it waits, and for how long.

import { ago, h, icon, s, safe, said } from "./dom.js";

export const isOpen = (state) => state === "waiting" || state === "abandoned" || state === "applying";

// titleOf is what a proposal is called: the agent's own words, or what it does, as
// something to be done.
const verbs = { created: "create", overwrote: "overwrite", deleted: "delete", moved: "move", replaced: "replace", inserted: "insert", appended: "append", prepended: "prepend", changed: "change", restored: "restore", made: "make" };
export const titleOf = (p) => (p.quoted ? p.summary : p.summary.replace(/^\w+/, (w) => verbs[w] ?? w).replace(/, updated (\d+ links? in )/, ", update $1"));
export const proposed = (p) => (p.quoted ? said(p) : h("span", null, safe(titleOf(p), true)));

// blockedPaths are the files of which a part can't be accepted any more.
export const blockedPaths = (p) => Object.entries(p.since ?? {}).filter(([, hunks]) => hunks.length).map(([path]) => path);

// does is what the proposal comes to; the summary is the agent's own.
export const does = (p) => h("span", { class: p.does.startsWith("deletes") ? "tag bad" : "" }, p.does);

const states = { accepted: ["ok", "check", "accepted"], refused: ["no", "x", "refused"], withdrawn: ["", "", "withdrawn"], applying: ["warn", "", "applying"], abandoned: ["warn", "", "agent has gone"] };

export function stateTag(p) {
  if (p.state === "partly") return h("span", { class: "tag" }, `${p.yes} of ${p.hunks} accepted`);
  const [cls, ic, label] = states[p.state] ?? [];
  return label ? h("span", { class: `tag ${cls}` }, ic ? icon(ic) : null, label) : null;
}

export function since(t) {
  const sec = Math.max(0, Math.floor((Date.now() - new Date(t)) / 1000));
  return sec < 3600 ? `${Math.floor(sec / 60)}:${String(sec % 60).padStart(2, "0")}` : ago(t);
}

export function waitClock(p) {
  const until = new Date(p.until).getTime(), made = new Date(p.made).getTime(), left = (until - Date.now()) / 1000;
  if (p.state === "abandoned") return []; // its tag says so
  if (left <= 0 || until <= made) return ["the agent went on; it hears the decision with its next call"];
  const share = Math.min(1, Math.max(0, 1 - (until - Date.now()) / Math.max(1, until - made)));
  return [s("svg", { class: "ring", viewBox: "0 0 20 20", "aria-hidden": "true" }, s("circle", { class: "track", cx: 10, cy: 10, r: 8 }), s("circle", { class: "fill", cx: 10, cy: 10, r: 8, "stroke-dasharray": `${(share * 50.3).toFixed(1)} 50.3` })), ` the agent waits ${since(p.made)} of ${Math.round((until - made) / 1000)} s`];
}
