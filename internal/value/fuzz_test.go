package value

import (
	"math/rand/v2"
	"testing"
)

var fuzzTexts = []struct {
	format Format
	text   string
}{
	{JSON, "{\n  // c\n  \"a\": [1, {\"b\": null}], /* d */\n  \"e\": {},\n}\n"},
	{JSON, `{"a":1,"b":[],"a.b":"x"}`},
	{YAML, "a: &x {b: 1, c: [d, 'e']} # f\ng: *x\nh:\n- i: |\n    j\n\n  k: >-\n    l\n-\n  - m\n"},
	{YAML, "a: 1\n---\n# c\n? b\n: c\n...\n---\n\"d\": e\n  f\n"},
	{YAML, "\"a\": 'x''y'\r\nb:\r\n- 1\r\n- # c\r\n  z: \"\\u00e9\"\r\n"},
	{TOML, "a.b = 1\n[c] # d\ne = [ 'f', # g\n]\nh = { i = 1, j.k = 2 }\n[[l]]\n[l.m]\nn = \"\"\"o\"\"\"\n[[l]]\n"},
	{INI, "a=b\n[c]\nd : e\n  f\n; g\n\th\n"},
	{Header, "---\na: 1\ntags: [x, y]\nb:\n  - c\n---\nbody\n"},
}

// FuzzEdit checks that an accepted change keeps the bytes outside of it and every other
// value.
func FuzzEdit(f *testing.F) {
	for i, s := range fuzzTexts {
		f.Add(uint8(s.format), s.text, uint64(i))
	}
	f.Fuzz(func(t *testing.T, format uint8, text string, seed uint64) {
		d, err := Parse(Format(format%6), []byte(text))
		if err != nil {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 3 {
			holds(t, Format(format%6), []byte(text), someEdit(rng, d))
		}
	})
}
