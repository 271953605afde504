// Runs the RegExp tests of test262 and writes, one JSON object a line, what
// they show of regular expressions: every exec with its result, every pattern
// that must be refused, and every property with its characters or strings.
//
//	node test262.js DIR
//
// What the tests of properties expect is taken from the tests, since node may
// know an older Unicode; all else from node, when the test passes in it.
"use strict";
const fs = require("fs"), path = require("path"), vm = require("vm");
const dir = process.argv[2];
const out = fs.openSync("/dev/stdout", "w");
const write = (o) => fs.writeSync(out, JSON.stringify(o) + "\n");
const seen = new Set();

const harness = (name) => fs.readFileSync(path.join(dir, "harness", name), "utf8");

// Inside of each test's realm: exec tells what it did.
const spy = `
	const $real = RegExp.prototype.exec;
	const $RegExp = RegExp;
	RegExp.prototype.exec = function (s) {
		const last = this.lastIndex, text = String(s);
		const m = $real.call(this, s);
		if ($real === Object.getPrototypeOf(/./).exec) return m;
		if (!Number.isSafeInteger(last)) return m;
		try { $exec(this.source, this.flags, text, last, m && [m.index, ...m]); } catch (e) {}
		return m;
	};
	globalThis.RegExp = new Proxy($RegExp, {
		construct(t, args, n) { try { return Reflect.construct(t, args, n); } catch (e) { if (e instanceof SyntaxError) $refuse(args); throw e; } },
		apply(t, self, args) { try { return Reflect.apply(t, self, args); } catch (e) { if (e instanceof SyntaxError) $refuse(args); throw e; } },
	});
`;
const properties = `
	const $R = (source, flags) => ({ source, flags });
	function buildString(a) { return a; }
	function testPropertyEscapes(re, text) { $property(re, text); }
	function testPropertyOfStrings(a) { $strings(a); }
	const testExtendedCharacterClass = testPropertyOfStrings;
`;

// Flags are options here: only patterns are refused.
const validFlags = (f) => typeof f === "string" && /^(?!.*(.).*\1)(?!.*u.*v|.*v.*u)[dgimsuvy]*$/.test(f);

function test(file) {
	const text = fs.readFileSync(file, "utf8");
	const meta = /\/\*---([\s\S]*?)---\*\//.exec(text)?.[1] ?? "";
	const rel = path.relative(dir, file);
	const negative = /negative:\s*\n\s*phase:\s*parse\s*\n\s*type:\s*SyntaxError/.test(meta);
	if (negative) {
		const body = text.slice(text.indexOf("---*/") + 5);
		const m = /^\s*(?:\$DONOTEVALUATE\(\);)?\s*\/((?:[^\/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*);?\s*$/.exec(body);
		if (m && validFlags(m[2])) write({ kind: "refuse", file: rel, source: m[1], flags: m[2] });
		return;
	}
	if (/flags:.*module|async/.test(meta)) return;
	const generated = /property-escapes[\\/]generated|unicodeSets[\\/]generated/.test(file);
	const records = [];
	const sandbox = vm.createContext({
		print() {},
		$exec(source, flags, text, last, result) { records.push({ kind: "exec", file: rel, source, flags, text, last, result }); },
		$refuse(args) {
			if (typeof args[0] === "string" && validFlags(args[1] === undefined ? "" : args[1]))
				records.push({ kind: "refuse", file: rel, source: args[0], flags: args[1] ?? "" });
		},
		$property(re, t) { records.push({ kind: "property", file: rel, source: re.source, flags: re.flags, chars: t.loneCodePoints, ranges: t.ranges }); },
		$strings(a) { records.push({ kind: "strings", file: rel, source: a.regExp.source, flags: a.regExp.flags, match: a.matchStrings, not: a.nonMatchStrings ?? [] }); },
	});
	const includes = [...(/includes:\s*\[([^\]]*)\]/.exec(meta)?.[1] ?? "").split(",")].map((s) => s.trim()).filter(Boolean);
	let source = spy + harness("assert.js") + harness("sta.js");
	for (const i of includes) source += generated && i === "regExpUtils.js" ? properties : harness(i);
	source += generated ? text.replace(/(?<=[\s(])\/(\^.*\$)\/([a-z]+)(?=,)/g, (_, s, f) => `$R(String.raw\`${s}\`, "${f}")`) : text;
	if (/flags:.*onlyStrict/.test(meta)) source = '"use strict";' + source;
	try {
		vm.runInContext(`(() => {${source}\n})()`, sandbox, { timeout: 20000 });
	} catch (e) {
		return; // node fails the test, or lacks the feature
	}
	for (const r of records) {
		const key = JSON.stringify([r.kind, r.source, r.flags, r.text, r.last, r.file && r.kind !== "exec" ? r.file : ""]);
		if (seen.has(key)) continue;
		seen.add(key);
		write(r);
	}
}

function walk(d) {
	for (const e of fs.readdirSync(d, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
		const p = path.join(d, e.name);
		if (e.isDirectory()) walk(p);
		else if (e.name.endsWith(".js") && !e.name.includes("_FIXTURE")) test(p);
	}
}
for (const d of ["test/built-ins/RegExp", "test/annexB/built-ins/RegExp", "test/language/literals/regexp"]) if (fs.existsSync(path.join(dir, d))) walk(path.join(dir, d));
