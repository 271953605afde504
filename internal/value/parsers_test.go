package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"quarry/internal/splice"
	"quarry/internal/stress"
)

// parsers are programs that read a list of YAML documents, and print a list with the key and
// value of each, as {"a": [kind, text]}.
var parsers = []struct{ name, program, script string }{
	{"PyYAML (YAML 1.1)", "python3", `
import sys, json, yaml
def show(v): return ['text', v] if isinstance(v, str) else ['number', ''] if isinstance(v, (int, float)) and not isinstance(v, bool) else [type(v).__name__, str(v)]
def read(t):
    try: d = yaml.safe_load(t)
    except Exception as e: return ['error', str(e)]
    return [[show(k), show(v[0] if isinstance(v, list) else v)] for k, v in d.items()]
print(json.dumps([read(t) for t in json.load(sys.stdin)]))`},
	{"js-yaml 3 (YAML 1.1)", "node", nodeParser("js-yaml3", "load")},
	{"js-yaml 4 (YAML 1.2)", "node", nodeParser("js-yaml4", "load")},
	{"yaml (YAML 1.2)", "node", nodeParser("yaml", "parse")},
}

func nodeParser(module, function string) string {
	return `
const need = require('module').createRequire((process.env.QUARRY_NPM || '.') + '/'), lib = need('` + module + `');
const show = v => typeof v === 'string' ? ['text', v] : typeof v === 'number' ? ['number', ''] : [typeof v, String(v)];
const read = t => { try { return Object.entries(lib.` + function + `(t)).map(([k, v]) => [show(k), show(Array.isArray(v) ? v[0] : v)]); } catch (e) { return ['error', String(e)]; } };
let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log(JSON.stringify(JSON.parse(s).map(read))));`
}

// scalarPieces are combined to texts that some parser may take for another type.
var scalarPieces = []string{"0", "1", "7", "8", "12", "59", "60", "1999", "_", ",", ".", ":", "-", "+", "e", "E", "x", "o", "b", "f", "T", "t", "Z", " ", "\t", "~", "=", "<<", "yes", "No", "on", "OFF", "y", "N", "null", "True", "inf", "NaN", ".inf", "01", "02", "#", "'", `"`, "\\", "!", "&", "*", "?", "|", ">", "%", "@", "`", "{", "}", "[", "]", "\n", "é", "\u0085", "\u2028", "\ufeff", "\x00", "\x7f", "😀", "a"}

// Parsers of YAML 1.1 and 1.2 read written texts as the same texts, whether they are values,
// items or keys, and numbers as the same numbers.
func TestScalarsByParsers(t *testing.T) {
	run := stress.Start(t, "scalars read by other parsers", 20_000, 200_000)
	type written struct {
		text, key string
		number    bool
	}
	var docs []string
	var want []written
	var seeds []int
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		var b strings.Builder
		for range 1 + rng.IntN(6) {
			b.WriteString(scalarPieces[rng.IntN(len(scalarPieces))])
		}
		w := written{text: b.String(), key: "k"}
		v := Str(w.text)
		if w.number = rng.IntN(10) == 0; w.number {
			w.text = fmt.Sprintf("%d%s", rng.IntN(1000), []string{"", ".5", "e3", "E-2", ".25e+7"}[rng.IntN(5)])
			v = &Node{Kind: Number, Text: w.text}
		}
		e := Edit{At: Keys("k"), Value: v}
		doc := []string{"k: x\n", "k: [x]\n", "k:\n  - x\n", "k: 'x'\n", "%YAML 1.2\n---\nk: x\n"}[rng.IntN(5)]
		switch {
		case strings.ContainsAny(doc, "-[") && !strings.HasPrefix(doc, "%"):
			e.At = append(e.At, Step{Kind: ByIndex})
		case rng.IntN(4) == 0 && !w.number && !strings.HasPrefix(doc, "%"):
			e, w.key, w.text = Edit{At: Keys("k"), Rename: w.text}, w.text, "x"
		}
		out, err := Apply(YAML, []byte(doc), e)
		if err != nil {
			continue // e.g. a text with NUL
		}
		after, err := splice.Apply([]byte(doc), out)
		if err != nil {
			t.Fatal(err)
		}
		// js-yaml 3 and PyYAML warn about version 1.2, so drop the directive, which another
		// test covers.
		docs, want, seeds = append(docs, strings.TrimPrefix(string(after), "%YAML 1.2\n---\n")), append(want, w), append(seeds, int(seed))
	}
	in, err := json.Marshal(docs)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, p := range parsers {
		cmd := exec.Command(p.program, map[string]string{"python3": "-c", "node": "-e"}[p.program], p.script)
		var said bytes.Buffer
		cmd.Stdin, cmd.Stderr, cmd.Env = bytes.NewReader(in), &said, os.Environ()
		out, err := cmd.Output()
		if err != nil {
			t.Logf("%s is not asked: %v (QUARRY_NPM names node_modules)", p.name, err)
			continue
		}
		var got [][]any
		if err := json.Unmarshal(out, &got); err != nil || len(got) != len(docs) {
			t.Fatalf("%s: %v, %d of %d answers", p.name, err, len(got), len(docs))
		}
		asked++
		for i, w := range want {
			value := []any{"text", w.text}
			if w.number {
				value = []any{"number", ""}
			}
			if wanted := []any{[]any{[]any{"text", w.key}, value}}; !reflect.DeepEqual(wanted, got[i]) {
				t.Errorf("%s, seed %d: %q is read as %v, not as %q: %q", p.name, seeds[i], docs[i], got[i], w.key, w.text)
			}
		}
		t.Logf("%s: %d documents", p.name, len(docs))
	}
	if asked == 0 {
		t.Skip("neither python3 with PyYAML nor node with js-yaml is there")
	}
}
