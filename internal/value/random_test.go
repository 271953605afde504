package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"quarry/internal/splice"
	"quarry/internal/stress"
)

// somePath returns the path to a random value of a document.
func somePath(rng *rand.Rand, d *Doc) Path {
	var p Path
	n := d.Root
	for {
		count := len(n.Members) + len(n.Items)
		if count == 0 || len(p) > 0 && rng.IntN(3) == 0 {
			return p
		}
		if i := rng.IntN(count); n.Kind == Map {
			if n.Members[i].odd {
				return p
			}
			p, n = append(p, Step{Key: n.Members[i].Key}), n.Members[i].Value
		} else {
			p, n = append(p, Step{Kind: ByIndex, Index: i}), n.Items[i]
		}
	}
}

var someValues = []string{
	`1`, `-2.5`, `true`, `null`, `"x"`, `""`, `"a b"`, `"yes"`, `"12"`, `"a: b # c"`, `"- x"`, `"l1\nl2\n"`, `" s "`, `"é\u2028\u0000\u007f"`, `"'\"\\"`, `"---"`,
	`"\n\n x\n"`, `[]`, `{}`, `[1, "b", [2]]`, `{"k": 1}`, `{"k": {"l": [1, {"m": "x\ny"}]}, "n o": null}`, `[{"a": 1, "b": [2]}, 3]`, `"#x"`, `"2024-01-02"`, `"*a"`, `"\t"`, `"1_000"`, `"0o7"`, `1e3`,
}

var someKeys = []string{"new", "a", "b", "k", "x y", "a.b", "yes", "12", "é", "-", "#", "a:", "\"", "'", "", "<<", "?", "[", "null", "---"}

// someEdit returns a random change of a document.
func someEdit(rng *rand.Rand, d *Doc) Edit {
	e := Edit{At: somePath(rng, d)}
	switch rng.IntN(6) {
	case 0:
		e.Delete = true
		return e
	case 1:
		e.Rename = someKeys[rng.IntN(len(someKeys))]
		if e.Rename != "" {
			return e
		}
	case 2:
		e.At = append(e.At, Step{Key: someKeys[rng.IntN(len(someKeys))]})
	case 3:
		e.At = append(e.At, Step{Kind: Next})
	}
	e.Value, _ = FromJSON([]byte(someValues[rng.IntN(len(someValues))]))
	return e
}

// holds checks that an accepted change leaves the bytes outside of it and the other values
// unchanged, and that a refused change has a reason.
func holds(t testing.TB, format Format, text []byte, e Edit) (made bool) {
	t.Helper()
	d, err := Parse(format, text)
	if err != nil {
		return false
	}
	out, err := Apply(format, text, e)
	if err != nil {
		var refused *Refused
		var missing *MissingError
		if !errors.As(err, &refused) && !errors.As(err, &missing) {
			t.Fatalf("%s of %q: %v has no reason", e.At, text, err)
		}
		return false
	}
	after, err := splice.Apply(text, out)
	if err != nil {
		t.Fatal(err)
	}
	now, err := Parse(format, after)
	if err != nil {
		t.Fatalf("%s of %q gives %q: %v", e.At, text, after, err)
	}
	// Independent parsers must read the result, if they can read the original text.
	switch format {
	case JSON:
		if json.Valid(text) && !json.Valid(after) {
			t.Fatalf("%s of %q gives %q, which is not JSON", e.At, text, after)
		}
	case TOML:
		var was, is map[string]any
		if toml.Unmarshal(text, &was) == nil {
			if err := toml.Unmarshal(after, &is); err != nil {
				t.Fatalf("%s of %q gives %q: %v", e.At, text, after, err)
			}
			if diff := cmp.Diff(leaves(is), leaves(now.Root)); diff != "" {
				t.Fatalf("%s of %q gives %q (-decoder +tree):\n%s", e.At, text, after, diff)
			}
		}
	}
	switch n, err := now.Find(e.At); {
	case e.Delete || e.Rename != "" || e.At[len(e.At)-1].Kind == Next:
	case err != nil:
		t.Fatalf("%s of %q gives %q: %v", e.At, text, after, err)
	case n.JSON("", "") != e.Value.JSON("", "") && n.JSON("", "") != yamlNumbers(e.Value).JSON("", "") && format != INI:
		t.Fatalf("%s of %q gives %q: it is %s, not %s", e.At, text, after, n.JSON("", ""), e.Value.JSON("", ""))
	}
	// Every other value that has bytes of its own keeps them.
	if lost := kept(d.Root, now.Root, text, after, e.At); lost != "" {
		t.Fatalf("%s of %q gives %q: %s changed", e.At, text, after, lost)
	}
	return len(out) > 0
}

// kept compares the bytes of all scalars that are not on the path of a change. It returns the
// first that differs.
func kept(a, b *Node, text, after []byte, at Path) string {
	if len(at) == 0 {
		return ""
	}
	if a.Kind != b.Kind || len(a.Items) > len(b.Items) || len(a.Members) > len(b.Members) {
		return ""
	}
	for i, m := range a.Members {
		switch {
		case at[0].Kind == ByKey && at[0].Key == m.Key:
			if s := kept(m.Value, b.Members[i].Value, text, after, at[1:]); s != "" {
				return s
			}
		case m.Value.scalar() && !bytes.Equal(m.Value.In(text), b.Members[i].Value.In(after)) && b.Members[i].Key == m.Key:
			return fmt.Sprintf("%q", m.Key)
		}
	}
	for i, item := range a.Items {
		switch {
		case at[0].Kind == ByIndex && at[0].Index == i:
			if s := kept(item, b.Items[i], text, after, at[1:]); s != "" {
				return s
			}
		case item.scalar() && !bytes.Equal(item.In(text), b.Items[i].In(after)):
			return fmt.Sprintf("[%d]", i)
		}
	}
	return ""
}

// writer generates documents of one format, with comments, odd spacing and all ways of writing values.
type writer struct {
	rng *rand.Rand
	b   bytes.Buffer
	eol string
}

func (w *writer) pick(list ...string) string { return list[w.rng.IntN(len(list))] }

func (w *writer) scalar(inFlow bool) string {
	s := w.pick("1", "true", `"q # x"`, `"a\tb"`, "2.5", "'it''s'", "x", "a-b c", "null")
	if inFlow {
		s = w.pick("1", "true", `"q, ]"`, "'x'", "x")
	}
	return s
}

func (w *writer) comment() string { return w.pick("", "", " # c", "  # [x]: 'y'") }

func (w *writer) yamlMap(indent string, depth int) {
	for i := range 1 + w.rng.IntN(4) {
		if w.rng.IntN(6) == 0 {
			w.b.WriteString(w.pick("", indent+"# remark: x") + w.eol)
		}
		key := fmt.Sprintf("%s%d", w.pick("a", "k", "x y", `"q`), i)
		if key[0] == '"' {
			key += `"`
		}
		w.b.WriteString(indent + key + ":")
		w.yamlValue(indent, depth)
	}
}

func (w *writer) yamlValue(indent string, depth int) {
	step := w.pick("  ", "    ", " ")
	switch n := w.rng.IntN(10); {
	case n == 0 && depth > 0:
		w.b.WriteString(w.comment() + w.eol)
		w.yamlMap(indent+step, depth-1)
	case n <= 2 && depth > 0:
		w.b.WriteString(w.comment() + w.eol)
		if w.rng.IntN(2) == 0 {
			indent += step
		}
		for range 1 + w.rng.IntN(3) {
			switch w.rng.IntN(3) {
			case 0:
				w.b.WriteString(indent + "- " + w.scalar(false) + w.comment() + w.eol)
			case 1:
				w.b.WriteString(indent + "- p: 1" + w.comment() + w.eol + indent + "  q: 2" + w.eol)
			default:
				w.b.WriteString(indent + "-")
				w.yamlValue(indent, depth-1)
			}
		}
	case n == 3:
		w.b.WriteString(w.pick(" |", " >-", " |+", " |-") + w.comment() + w.eol + indent + step + "text # x" + w.eol + w.eol + indent + step + " more: y" + w.eol)
	case n == 4:
		w.b.WriteString(" [" + w.scalar(true) + w.pick(", ", ",", " , ") + w.scalar(true) + w.pick("", ",", ", # c"+w.eol+indent+"   ") + "]" + w.comment() + w.eol)
	case n == 5:
		w.b.WriteString(" {m: " + w.scalar(true) + ", \"n\": [" + w.scalar(true) + "]" + w.pick("", ", o") + "}" + w.comment() + w.eol)
	case n == 6:
		w.b.WriteString(w.comment() + w.eol)
	case n == 7:
		w.b.WriteString(" one" + w.eol + indent + step + "two" + w.comment() + w.eol)
	default:
		w.b.WriteString(w.pick(" ", "   ") + w.scalar(false) + w.comment() + w.eol)
	}
}

func (w *writer) json(depth int, indent string) {
	gap := func() string { return w.pick("", " ", "\n"+indent, " /* c */ ", " // d\n") }
	n := w.rng.IntN(4)
	if depth == 0 {
		n = 0
	}
	switch n {
	case 1, 2:
		w.b.WriteString("{" + gap())
		for i := range w.rng.IntN(4) {
			if i > 0 {
				w.b.WriteString("," + gap())
			}
			fmt.Fprintf(&w.b, "%q:%s", fmt.Sprint(w.pick("a", "b", "x.y"), i), gap())
			w.json(depth-1, indent+"  ")
			w.b.WriteString(gap())
		}
		w.b.WriteString("}")
	case 3:
		w.b.WriteString("[" + gap())
		for i := range w.rng.IntN(4) {
			if i > 0 {
				w.b.WriteString("," + gap())
			}
			w.json(depth-1, indent+"  ")
			w.b.WriteString(gap())
		}
		w.b.WriteString("]")
	default:
		w.b.WriteString(w.pick("1", "2.50", "true", "null", `"x"`, `"\u00e9"`, `"// n"`))
	}
}

func (w *writer) toml() {
	pairs := func(prefix string) {
		for i := range w.rng.IntN(4) {
			key := fmt.Sprintf("%s%s%d", prefix, w.pick("a", "d.a", "\"q.r\"."), i)
			w.b.WriteString(w.pick("", "  ") + key + w.pick(" = ", "=") + w.pick("1", "'x'", `"y # z"`, "[1, 2]", "[\n  1, # c\n  2,\n]", "{ a = 1, b.c = 2 }", "{}", "1979-05-27", `"""m
n"""`, "[[1], {x = 2}]") + w.comment() + w.eol)
		}
		w.b.WriteString(w.pick("", "", w.eol, "# remark"+w.eol))
	}
	pairs("")
	for i := range w.rng.IntN(5) {
		w.b.WriteString(w.pick(fmt.Sprintf("[t%d]", i), fmt.Sprintf("[t%d.u]", i), "[[l]]", fmt.Sprintf("[l.s%d]", i), "[[l.m]]", fmt.Sprintf("[ 'x y'.z%d ]", i)) + w.comment() + w.eol)
		pairs("")
	}
}

func (w *writer) ini() {
	for i := range 1 + w.rng.IntN(6) {
		w.b.WriteString(w.pick("", "", "; c\n", "# d\n", fmt.Sprintf("[s%d]\n", i)))
		fmt.Fprintf(&w.b, "%sk%d%s%s\n", w.pick("", "", "\t"), i, w.pick("=", " = ", ": "), w.pick("x", "", "a b", `"q"`, "1\n    2"))
	}
}

// TestRandom makes random changes to random documents of every format.
func TestRandom(t *testing.T) {
	run := stress.Start(t, "values by path", 60_000, 10_000_000)
	made, tried := map[Format]int{}, map[Format]int{}
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		format := []Format{JSON, YAML, TOML, INI, Header}[rng.IntN(5)]
		w := &writer{rng: rng, eol: "\n"}
		if rng.IntN(5) == 0 {
			w.eol = "\r\n"
		}
		switch format {
		case JSON:
			w.json(3, "  ")
		case TOML:
			w.toml()
		case INI:
			w.ini()
		case Header:
			w.b.WriteString("---" + w.eol)
			w.yamlMap("", 2)
			w.b.WriteString("---" + w.eol + "body: x" + w.eol)
		default:
			w.yamlMap("", 3)
		}
		text := w.b.Bytes()
		if rng.IntN(8) == 0 {
			text = append([]byte(mark), text...)
		}
		d, err := Parse(format, text)
		if err != nil {
			continue
		}
		for range 4 {
			tried[format]++
			if holds(t, format, text, someEdit(rng, d)) {
				made[format]++
			}
		}
	}
	for _, f := range []Format{JSON, YAML, TOML, INI, Header} {
		t.Logf("%s: %d of %d changes made", f, made[f], tried[f])
		if made[f]*4 < tried[f] {
			t.Errorf("%s: only %d of %d changes were made", f, made[f], tried[f])
		}
	}
}
