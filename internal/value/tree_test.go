package value

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

var treeTexts = []string{
	"",
	"a = 1\nb = 1_000\nc = 2.5\nd = true\ne = 1979-05-27T07:32:00Z\nf = [1, 'x', [ ], { y = 2 }]\n",
	"a.b.c = 'x'\na.b.d = \"\"\"two\nlines\"\"\"\n",
	"[a]\nx = 'é\\n'\n[a.b]\ny = \"\\u00e9\"\n[c.d.e]\n[c]\nz = 1\n",
	"[[p]]\nn = 1\n[[p]]\n[p.q]\nn = 2\n[[p.r]]\n[[p.r]]\n",
	"x = { a.b = 1, a.c = 2 }\n",
	"'a b' = 1\n\"a.b\" = 2\n\"\" = 3\n",
	"[fruit]\napple.color = 'red'\n[fruit.apple.texture]\nsmooth = true\n",
	"list = [ # one\n  'a', # two\n  'b',\n]\n",
	// Duplicates.
	"a = 1\na = 2\n",
	"[a]\n[a]\n",
	"[a]\n[[a]]\n",
	"[[a]]\n[a]\n",
	"a = {}\n[a.b]\n",
	"a = [{}]\n[[a]]\n",
	"a = [{}]\n[a.b]\n",
	"a = 1\n[a.b]\n",
	"a = {b = 1}\na.c = 2\n",
	"[a.b]\n[a]\nb.c = 1\n",
	"[a.b.c]\n[a]\nb.d = 1\n",
	"[a]\nb.c = 1\n[a.b]\n",
	"x = { a = 1, a = 2 }\n",
	// Invalid TOML.
	"a = \n", "[a\n", "a = [1\n", "a = 'x\n", "= 1\n", "a\n", "a = \"\\q\"\n",
}

// leaves reduces the trees of both parsers to a form that can be compared: texts, lists and
// tables by value, everything else by kind.
func leaves(v any) any {
	switch v := v.(type) {
	case *Node:
		switch v.Kind {
		case Map:
			out := map[string]any{}
			for _, m := range v.Members {
				out[m.Key] = leaves(m.Value)
			}
			return out
		case List:
			out := []any{}
			for _, e := range v.Items {
				out = append(out, leaves(e))
			}
			return out
		case Text:
			return v.Text
		}
		return "a leaf"
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = leaves(e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, leaves(e))
		}
		return out
	case string:
		return v
	case int64, float64, bool, time.Time, toml.LocalDate, toml.LocalDateTime, toml.LocalTime:
		return "a leaf"
	}
	return fmt.Sprintf("%T", v)
}

// Texts are parsed as by go-toml's decoder, and refused if the decoder refuses them.
func TestTree(t *testing.T) {
	for _, text := range treeTexts {
		want := map[string]any{}
		wantErr := toml.Unmarshal([]byte(text), &want)
		d, err := Parse(TOML, []byte(text))
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%q: %v, the decoder says %v", text, err, wantErr)
			continue
		}
		if err != nil {
			bad, _ := errors.AsType[*SyntaxError](err)
			if bad == nil || bad.Line < 1 {
				t.Errorf("%q: %v names no line", text, err)
			}
			continue
		}
		if diff := cmp.Diff(leaves(want), leaves(d.Root)); diff != "" {
			t.Errorf("%q (-decoder +tree):\n%s", text, diff)
		}
	}
}

func TestTreeNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"a = 1\n\n[b]\nc = 1\nc = 2\n": "line 5: c: it is set already",
		"[b]\n\n[b]\n":                 "line 3: b: it is set already",
	} {
		if _, err := Parse(TOML, []byte(text)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Every text that go-toml's decoder accepts gives the same tree. Other texts don't cause a panic.
func FuzzTree(f *testing.F) {
	for _, s := range treeTexts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(TOML, text)
		want := map[string]any{}
		if toml.Unmarshal(text, &want) != nil {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if diff := cmp.Diff(leaves(want), leaves(d.Root)); diff != "" {
			t.Errorf("%q (-decoder +tree):\n%s", text, diff)
		}
	})
}
