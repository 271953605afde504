// What happens, as the tabs hear it. A browser has six connections to a server,
// so one tab listens for all: the one that holds a lock. It tells the others.

import { Problem, distrust, request, sharedName, texts } from "./api.js";

const silence = 25000; // the server says something every 10 s

// listen reads the stream of events until the token is refused or the signal
// ends it. EventSource can't send a header, so it is read by hand.
async function listen(onEvent, onState, signal) {
  let wait = 500;
  while (!signal?.aborted) {
    const stop = new AbortController();
    const end = () => stop.abort();
    let timer = 0;
    const alive = () => { clearTimeout(timer); timer = setTimeout(end, silence); };
    signal?.addEventListener("abort", end);
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
      if (e instanceof Problem && e.status === 401) { onState(false, true); return; }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
    if (signal?.aborted) return;
    distrust();
    onState(false);
    await new Promise((resolve) => { events.woken = resolve; setTimeout(resolve, wait); });
    wait = Math.min(wait * 1.6, 8000);
  }
}

// events tells what happens until the page is closed. onState hears whether the
// server can be reached, and whether it refused the token.
export async function events(onEvent, onState) {
  events.retry = () => events.woken?.();
  self.addEventListener("online", () => events.retry());
  const shown = (f) => document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && f());
  if (!navigator.locks || !self.crypto?.subtle || !("BroadcastChannel" in self)) {
    shown(() => events.retry());
    listen(onEvent, onState);
    return;
  }
  const name = await sharedName(), channel = new BroadcastChannel(name);
  const last = new Map(); // what was heard last, by name
  let state = null, heard = Date.now(), leads = false, over = false;
  const take = (m) => {
    heard = Date.now();
    if (m.event) { last.set(m.event, m.data); onEvent(m.event, m.data); }
    if (m.state) { state = m.state; over ||= state.refused; onState(state.up, state.refused); }
  };
  const tell = (m) => { take(m); channel.postMessage(m); };

  // lead waits until this tab is the one that listens.
  let waiting = null;
  const lead = async (steal) => {
    const end = new AbortController();
    waiting?.abort();
    waiting = steal ? null : new AbortController();
    try {
      await navigator.locks.request(name, steal ? { steal } : { signal: waiting.signal }, async () => {
        leads = true;
        await listen((event, data) => tell({ event, data }), (up, refused) => tell({ state: { up, refused: !!refused } }), end.signal);
      });
    } catch (e) {
      end.abort();
      if (leads) { leads = false; lead(false); } // another tab has taken it
    }
  };
  channel.addEventListener("message", ({ data: m }) => {
    if (m.ask) {
      if (!leads) return;
      channel.postMessage({ to: m.ask, state });
      for (const [event, data] of last) channel.postMessage({ to: m.ask, event, data });
    } else if (m.retry) {
      if (leads) events.woken?.();
    } else if (!m.to || m.to === me) take(m);
  });
  const me = crypto.randomUUID();
  events.retry = () => { if (leads) events.woken?.(); else channel.postMessage({ retry: true }); };
  // The tab that listens may have been stopped: one that is seen takes over.
  const check = () => {
    if (!leads && !over && document.visibilityState === "visible" && Date.now() - heard > silence) { heard = Date.now(); lead(true); }
  };
  setInterval(check, 5000);
  shown(() => { check(); if (!state?.up) events.retry(); });
  lead(false);
  if (!leads) channel.postMessage({ ask: me });
}
