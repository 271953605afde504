// Answers, for each line {"p": pattern, "f": flags, "t": [texts]} on standard
// input, with a line {"e": message} or {"m": [match or null for each text]}; a
// match is the list of [start, end] of its groups in code units, null for an
// unset one. The patterns come from the differential test in node_test.go.
const lines = require("readline").createInterface({ input: process.stdin });
const out = [];
lines.on("line", (line) => {
  const { p, f, t } = JSON.parse(line);
  let re;
  try {
    re = new RegExp(p, f + "d");
  } catch (e) {
    out.push(JSON.stringify({ e: e.message }));
    return;
  }
  const m = t.map((text) => {
    const r = re.exec(text);
    return r && Array.from(r.indices, (x) => x ?? null);
  });
  out.push(JSON.stringify({ m }));
});
lines.on("close", () => process.stdout.write(out.join("\n") + "\n"));
