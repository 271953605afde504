import { app } from "./app.js";
import { h } from "./dom.js";
export const review = { enter(main) { main.append(h("div", { class: "empty" }, h("h2", null, "Nothing waits for a decision"))); app.bar("one"); app.keys(); }, update() {}, keys: {} };
