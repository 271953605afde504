// The way to the server. The token comes in the fragment of the first address, or
// for a ticket in it, which is used up by that. It stays in sessionStorage, and is
// sent as a header with every request.

const key = "quarry.token", ticketKey = "quarry.ticket";

function takeToken() {
  const m = /^#(token|ticket)=([\w-]+)$/.exec(location.hash);
  if (m) {
    sessionStorage.setItem(m[1] === "token" ? key : ticketKey, m[2]);
    history.replaceState(history.state, "", (location.pathname === "/enter" ? "/search" : location.pathname) + location.search);
  }
  return sessionStorage.getItem(key) || "";
}

let token = takeToken();

function forget() {
  token = "";
  sessionStorage.removeItem(key);
}

// A second tab has no token of its own: it asks the others of this origin.
const tabs = "BroadcastChannel" in self ? new BroadcastChannel("quarry.token") : null;
tabs?.addEventListener("message", (e) => {
  if (e.data?.ask && token) tabs.postMessage({ token });
});

// enter gives the ticket and gets the token. Only an answer uses a ticket up.
async function enter() {
  const ticket = sessionStorage.getItem(ticketKey);
  if (!ticket) return;
  const res = await fetch(address("/api/enter"), { ...ours, method: "POST", headers: { "X-Quarry-Token": ticket } }).catch(() => null);
  if (res) sessionStorage.removeItem(ticketKey);
  if (!res?.ok) return;
  ({ token } = await res.json());
  sessionStorage.setItem(key, token);
}

// findToken takes the first token that the server knows: a tab may still hold
// one of an earlier run.
export async function findToken() {
  await enter();
  if (token || !tabs) return token;
  return new Promise((resolve) => {
    const tried = new Set();
    let open = 0, over = false;
    const end = (t) => { clearTimeout(timer); tabs.removeEventListener("message", hear); resolve(t); };
    const hear = async (e) => {
      const t = e.data?.token;
      if (typeof t !== "string" || tried.has(t)) return;
      tried.add(t);
      open++;
      const known = await fetch(address("/api/about"), { ...ours, headers: { "X-Quarry-Token": t } }).then((res) => res.ok, () => false);
      open--;
      if (known && !token) {
        token = t;
        sessionStorage.setItem(key, token);
        end(token);
      } else if (over && !open) end(token);
    };
    const timer = setTimeout(() => { over = true; if (!open) end(""); }, 400);
    tabs.addEventListener("message", hear);
    tabs.postMessage({ ask: true });
  });
}

// sharedName is the same for all tabs with this token, and does not tell it.
export async function sharedName() {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("quarry.events " + token));
  return "quarry.events." + Array.from(new Uint8Array(sum, 0, 8), (b) => b.toString(16).padStart(2, "0")).join("");
}

// A service worker sees each request of the page, with the token. Quarry has
// none: one that is here was left on the port by another program. removeWorkers
// reports whether there was one; the page is then loaded again, or says that it
// can't get rid of it.
export async function removeWorkers() {
  const { serviceWorker: sw } = navigator;
  if (!sw) return "";
  let list = [];
  try { list = await sw.getRegistrations(); } catch { /* not allowed here, as workers are */ }
  if (!list.length && !sw.controller) return "";
  const times = Number(sessionStorage.getItem("quarry.worker") ?? 0) + 1;
  await Promise.allSettled(list.map((r) => r.unregister()));
  if (times > 2) return "stays";
  sessionStorage.setItem("quarry.worker", times);
  location.reload();
  return "removed";
}

// workerRemoved reports, once, that removeWorkers did so before this load.
export function workerRemoved() {
  const was = sessionStorage.getItem("quarry.worker");
  sessionStorage.removeItem("quarry.worker");
  return !!was;
}

// Problem is an answer that says what went wrong.
export class Problem extends Error {
  constructor(status, body) {
    const e = body?.error ?? {};
    super(e.message || (status === 401 ? "this page's token is not valid any more" : `the server answered ${status}`));
    this.status = status;
    this.code = e.code || "";
    this.hint = e.hint || "";
    this.body = body;
  }
}

function address(path, params) {
  const u = new URL(path, location.origin);
  for (const [k, v] of Object.entries(params ?? {})) if (v !== undefined && v !== "" && v !== null) u.searchParams.set(k, v);
  return u;
}

// doubt says that the server was lost. Another program may have the port when it
// answers again, so it has to prove that it knows the token before it gets it.
let doubt = false;
export function distrust() { doubt = true; }

async function prove() {
  if (!self.crypto?.subtle) { doubt = false; return; }
  const bytes = new TextEncoder(), nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  const res = await fetch(address("/api/hello", { nonce }), ours).catch(lost);
  const proof = res.ok ? (await res.json().catch(() => null))?.proof : "";
  const key = await crypto.subtle.importKey("raw", bytes.encode(token), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const want = Array.from(new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(`quarry hello ${location.host} ${nonce}`))), (b) => b.toString(16).padStart(2, "0")).join("");
  if (proof === want) { doubt = false; return; }
  if (!/^[0-9a-f]{64}$/.test(proof ?? "")) lost(new Error("another program")); // ours may come back
  forget();
  throw new Problem(401, null);
}

// lost words what a browser says when there was no answer, or not all of it.
function lost(e) {
  if (e.name !== "AbortError") doubt = true;
  throw e.name === "AbortError" ? e : new Problem(0, { error: { message: "the server does not answer", hint: "start it again with quarry ui" } });
}

const ours = { cache: "no-store", credentials: "omit", redirect: "error" };

export async function request(path, params, init = {}) {
  if (doubt && token) await prove();
  const res = await fetch(address(path, params), { ...init, ...ours, headers: { "X-Quarry-Token": token, ...init.headers } }).catch(lost);
  if (res.ok) return res;
  if (res.status === 401) forget(); // other tabs are not to get it
  let body = null;
  try { body = await res.json(); } catch { /* no body */ }
  throw new Problem(res.status, body);
}

export const get = async (path, params, signal) => (await request(path, params, { signal })).json();

export const post = async (path, body) =>
  (await request(path, null, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })).json();

export async function* texts(res) {
  const reader = res.body.getReader(), decoder = new TextDecoder(); // a TextDecoderStream is one more queue on the way
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(lost);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// stream hands over the JSON lines of an answer, those of one packet together.
export async function stream(path, params, signal, take) {
  const res = await request(path, params, { signal });
  let rest = "";
  for await (const text of texts(res)) {
    const parts = (rest + text).split("\n");
    rest = parts.pop();
    if (parts.length) take(parts.map((p) => JSON.parse(p)));
  }
}
