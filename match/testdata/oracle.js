// Reads patterns with flags and texts, one JSON object a line, and answers
// with all their matches: for each the spans of its groups in code units.
"use strict";
const lines = require("readline").createInterface({ input: process.stdin });
const out = [];
lines.on("line", (line) => {
	const { p, f, t } = JSON.parse(line);
	let re;
	try {
		re = new RegExp(p, f + "dg");
	} catch (e) {
		out.push(JSON.stringify({ e: e.message }));
		return;
	}
	const m = t.map((text) => Array.from(text.matchAll(re), (m) => m.indices.map((s) => s ?? null)));
	out.push(JSON.stringify({ m }));
});
lines.on("close", () => process.stdout.write(out.join("\n") + "\n"));
