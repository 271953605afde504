// Where a reader was: each entry of the history keeps how far the page and its list
// were scrolled, and going back leads there again.

// patience is how long, in ms, content may take to come. Whoever scrolls or presses a
// key meanwhile stays where that leads.
const patience = 15_000;

export function keepScroll() {
  history.scrollRestoration = "manual";
  const places = new Map();
  let serial = 0, key = history.state?.key ?? "0", restoring = false;
  const list = () => document.querySelector(".list");
  const note = () => { if (!restoring) places.set(key, { y: scrollY, list: list()?.scrollTop ?? 0 }); };
  document.addEventListener("scroll", note, { passive: true, capture: true });
  for (const own of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(own, () => { restoring = false; }, { passive: true, capture: true });
  return {
    push(path) {
      note();
      key = `${Date.now()}-${++serial}`;
      history.pushState({ key }, "", path);
    },
    // back shows another entry of the history, and scrolls to its place as soon as
    // there is enough to scroll.
    back(show) {
      key = history.state?.key ?? "0";
      const to = places.get(key), since = performance.now();
      restoring = !!to;
      show();
      const step = () => {
        if (!restoring) return;
        if (scrollY !== to.y) scrollTo(0, to.y);
        const el = list();
        if (el && el.scrollTop !== to.list) el.scrollTop = to.list;
        const there = Math.abs(scrollY - to.y) < 2 && (!to.list || Math.abs((el?.scrollTop ?? 0) - to.list) < 2);
        // What is above may still grow: it stays in place for a while.
        if (performance.now() - since > (there ? 600 : patience)) { restoring = false; note(); return; }
        setTimeout(step, 16); // a frame may never come: the tab is hidden
      };
      if (to) setTimeout(step, 16);
    },
  };
}
