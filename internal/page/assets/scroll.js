// Where a reader was: each entry of the history keeps which row stood at the top of
// the page and of its list, and going back leads there again. A number of pixels would
// not do: the browser guesses the height of rows that it has not drawn, so the same
// number shows another row each time.

// patience is how long, in ms, content may take to come. Whoever scrolls or presses a
// key meanwhile stays where that leads.
const patience = 15_000;
const rows = ".file, .dfile, .call, .entry";

export function keepScroll() {
  history.scrollRestoration = "manual";
  const places = new Map();
  let serial = 0, key = history.state?.key ?? "0", restoring = false, steps = 0;
  // note is called while what is left still shows.
  const note = () => { if (!restoring) places.set(key, scrollers().map(placeOf)); };
  for (const own of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(own, () => { restoring = false; }, { passive: true, capture: true });
  return {
    push(path) {
      note();
      restoring = false;
      key = `${Date.now()}-${++serial}`;
      history.pushState({ key }, "", path);
    },
    // back shows another entry of the history, and scrolls to its place as soon as
    // there is enough to scroll.
    back(show) {
      note();
      key = history.state?.key ?? "0";
      const to = places.get(key), since = performance.now(), mine = ++steps; // another step back ends this one
      restoring = !!to;
      show();
      const step = () => {
        if (!restoring || mine !== steps) return;
        const all = scrollers();
        const there = to.map((place, i) => !all[i] || scrollBackTo(all[i], place)).every(Boolean);
        // What is above may still grow: it stays in place for a while.
        if (performance.now() - since > (there ? 600 : patience)) { restoring = false; return; }
        setTimeout(step, 16); // a frame may never come: the tab is hidden
      };
      if (to) setTimeout(step, 16);
    },
  };
}

// scrollers are the page and, where there is room for both, its list.
function scrollers() {
  const list = document.querySelector(".list");
  const own = list && getComputedStyle(list).overflowY !== "visible";
  return own ? [document.scrollingElement, list] : [document.scrollingElement];
}

// rowsOf are the rows that move with a scroller.
function rowsOf(el) {
  const [page, list] = scrollers(), all = [...el.querySelectorAll(rows)];
  return el === page && list ? all.filter((row) => !list.contains(row)) : all;
}

// topOf is where a scroller begins in the window.
const topOf = (el) => (el === document.scrollingElement ? 0 : el.getBoundingClientRect().top);
const nameOf = (row) => row.file?.path ?? row.dataset.id ?? row.id;

function placeOf(el) {
  const y = el.scrollTop;
  if (!y) return { y };
  const top = topOf(el), all = rowsOf(el), i = all.findIndex((row) => row.getBoundingClientRect().bottom > top);
  return i < 0 ? { y } : { y, i, name: nameOf(all[i]), from: all[i].getBoundingClientRect().top - top };
}

// scrollBackTo scrolls as far as it can, and says whether that is the place.
function scrollBackTo(el, { y, i, name, from }) {
  let row;
  if (name !== undefined) {
    const all = rowsOf(el);
    row = all[i] && nameOf(all[i]) === name ? all[i] : all.find((r) => nameOf(r) === name) ?? all[i];
  }
  const away = () => (row ? row.getBoundingClientRect().top - topOf(el) - from : y - el.scrollTop);
  const by = away();
  if (Math.abs(by) >= 1) el.scrollTop += by;
  return (row || name === undefined) && Math.abs(away()) < 2;
}
