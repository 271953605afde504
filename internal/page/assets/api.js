// The way to the server. The token comes in the fragment of the first address,
// stays in sessionStorage, and is sent as a header with every request.

const key = "quarry.token";

function takeToken() {
  const m = /^#token=([\w-]+)$/.exec(location.hash);
  if (m) {
    sessionStorage.setItem(key, m[1]);
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(key) || "";
}

let token = takeToken();

// A second tab has no token of its own: it asks the others of this origin.
const tabs = "BroadcastChannel" in self ? new BroadcastChannel("quarry.token") : null;
tabs?.addEventListener("message", (e) => {
  if (e.data?.ask && token) tabs.postMessage({ token });
});

export function findToken() {
  if (token || !tabs) return Promise.resolve(token);
  return new Promise((resolve) => {
    const end = (t) => { clearTimeout(timer); tabs.removeEventListener("message", hear); resolve(t); };
    const hear = (e) => {
      if (typeof e.data?.token !== "string") return;
      token = e.data.token;
      sessionStorage.setItem(key, token);
      end(token);
    };
    const timer = setTimeout(() => end(""), 400);
    tabs.addEventListener("message", hear);
    tabs.postMessage({ ask: true });
  });
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

async function request(path, params, init = {}) {
  const res = await fetch(address(path, params), {
    ...init, cache: "no-store", credentials: "omit", redirect: "error",
    headers: { "X-Quarry-Token": token, ...init.headers },
  });
  if (res.ok) return res;
  let body = null;
  try { body = await res.json(); } catch { /* no body */ }
  throw new Problem(res.status, body);
}

export const get = async (path, params, signal) => (await request(path, params, { signal })).json();

export const post = async (path, body) =>
  (await request(path, null, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })).json();

async function* texts(res) {
  const reader = res.body.getReader(), decoder = new TextDecoder(); // a TextDecoderStream is one more queue on the way
  try {
    for (;;) {
      const { value, done } = await reader.read();
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

// events listens to the server until the page is closed. EventSource can't
// send a header, so the stream is read by hand.
export async function events(onEvent, onState) {
  let wait = 500;
  let woken = null;
  const wake = () => woken?.();
  self.addEventListener("online", wake);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && wake());
  events.retry = wake;
  for (;;) {
    const stop = new AbortController();
    let timer = 0;
    const alive = () => { clearTimeout(timer); timer = setTimeout(() => stop.abort(), 25000); };
    try {
      alive();
      const res = await request("/api/events", null, { signal: stop.signal });
      onState(true);
      wait = 500;
      let rest = "";
      for await (const text of texts(res)) {
        alive();
        const parts = (rest + text).split("\n\n");
        rest = parts.pop();
        for (const p of parts) {
          const name = /^event: (.*)$/m.exec(p)?.[1];
          const data = /^data: (.*)$/m.exec(p)?.[1];
          if (name && data) onEvent(name, JSON.parse(data));
        }
      }
    } catch (e) {
      if (e instanceof Problem && e.status === 401) { onState(false, e); return; }
    }
    clearTimeout(timer);
    onState(false);
    await new Promise((resolve) => { woken = resolve; setTimeout(resolve, wait); });
    wait = Math.min(wait * 1.6, 8000);
  }
}
