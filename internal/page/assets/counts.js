// How many files and lines each change of a list changes. They are asked for as entries
// come into sight: counting reads the change.

import { get } from "./api.js";
import { plural } from "./dom.js";
import { pm } from "./diffview.js";

// counts is an observer of entries of a list; it fills in their counts.
export function counts(list) {
  const wanted = new Set();
  let timer = 0;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const ids = [...wanted].slice(0, 100);
      for (const id of ids) wanted.delete(id);
      if (!ids.length) return;
      try {
        const res = await get("/api/counts", { ids: ids.join(",") });
        for (const [id, [add, del, files]] of Object.entries(res.counts)) {
          const el = list.querySelector(`[data-id="${CSS.escape(id)}"]`), of = el?.querySelector(".files");
          el?.querySelector(":scope > .pm").replaceChildren(pm(add, del));
          if (of && !of.textContent) of.textContent = plural(files, "file");
        }
      } catch { /* the list stands without them */ }
      if (wanted.size) soon();
    }, 40);
  };
  const seen = new IntersectionObserver((es) => {
    for (const e of es) if (e.isIntersecting) { seen.unobserve(e.target); wanted.add(e.target.dataset.id); soon(); }
  }, { rootMargin: "200px" });
  return seen;
}
