package scan

import (
	"math/rand/v2"
	"testing"

	"quarry/internal/textfile"
	"quarry/match"
)

// If a pattern reports that decoding adds no matches, this is true for every line. The
// patterns for which speed depends on it do report it.
func TestWindows1252Adds(t *testing.T) {
	for _, c := range []struct {
		pattern string
		fold    bool
		adds    bool
	}{
		{"foo", false, false}, {"foo", true, false}, {"sky", true, false}, {"foo|bar", false, false},
		{"Шерлок", false, false}, {"шерлок холмс", true, false}, {"Шерлок|foo", false, false}, {`Шерлок\s+\w+`, false, false},
		{`\w+ Ш|Я\d`, true, false}, {"$", false, false},
		{"café", false, true}, {"CAFÉ", true, true}, {`\w+`, false, true}, {`foo\w`, false, true}, {"€", false, true},
		{"œ", true, true}, {"Œ|foo", false, true}, {`(?-u:\xA9)`, false, true}, {`(?-u:\xE9)`, false, true}, {"Ÿ", true, true},
		{"µ", true, true}, {"ſ", true, true}, {"\u212a", true, true}, {"ſ", false, false}, {"[а-я]+é", false, true},
	} {
		opts := match.Options{}
		if c.fold {
			opts.Case = match.Insensitive
		}
		p := match.MustCompile(c.pattern, opts)
		if got := p.Windows1252Adds(); got && !c.adds {
			t.Errorf("%q: decoding is thought to add matches", c.pattern)
		} else if got {
			continue
		}
		m := p.NewMatcher()
		rng := rand.New(rand.NewPCG(1, 2))
		letters := []byte("foobarsky \xe9\xc9\xe0\x80\x9c\x8c\xa9\xc3\xb5\xff\x9f\xd0\xa8\xc5\xbf\xe2\x84\xaacaFOK")
		for range 20_000 {
			line := make([]byte, rng.IntN(8))
			for i := range line {
				line[i] = letters[rng.IntN(len(letters))]
			}
			decoded, _ := textfile.Windows1252.AppendDecoded(nil, line, true)
			if m.MatchLine(decoded) && !m.MatchLine(line) {
				t.Fatalf("%q matches %q decoded and not as it is", c.pattern, line)
			}
		}
		for b := range 256 {
			decoded, _ := textfile.Windows1252.AppendDecoded(nil, []byte{byte(b)}, true)
			if m.MatchLine(decoded) && !m.MatchLine([]byte{byte(b)}) {
				t.Fatalf("%q matches %q decoded and not as it is", c.pattern, []byte{byte(b)})
			}
		}
	}
}
