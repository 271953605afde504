package textedit

import (
	"errors"
	"testing"

	"quarry/change"
	"quarry/internal/textfile"
)

// A file of unknown encoding accepts only ASCII as new text. Real Windows-1252 accepts all of
// its characters.
func TestGuessedEncodings(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		guessed   bool
	}{
		{"GBK", "\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7 hello x\n", true},
		{"GBK, one word", "int x = 1; // \xd6\xd0\xce\xc4 comment\n", true},
		{"Shift-JIS", "\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd x\n", true},
		{"Shift-JIS, trail bytes in ASCII", "\x83\x65\x83\x58\x83\x67 x\n", true},
		{"KOI8-R", "\xf0\xd2\xc9\xd7\xc5\xd4 x\n", true},
		{"one byte without character", "caf\xe9 x \x81 th\xe9\n", false},
		{"French", "le caf\xe9 est d\xe9j\xe0 pr\xeat, \x93 x \x94\n", false},
		{"German", "M\xfcller \xfcbt f\xfcr gro\xdfe Z\xfcge x\n", false},
		{"a price", "x costs 5 \x80\n", false},
	} {
		d, err := textfile.New([]byte(c.raw))
		if err != nil || d.Encoding() != textfile.Windows1252 {
			t.Errorf("%s: read as %v, %v", c.name, d.Encoding(), err)
			continue
		}
		var guess *GuessError
		_, err = Apply(d, change.Edit{Old: "x", New: "\u00e9", Occurrence: change.First})
		if errors.As(err, &guess) != c.guessed || err != nil && !c.guessed {
			t.Errorf("%s: writing an accent: %v", c.name, err)
		}
		if _, err = Apply(d, change.Edit{Old: "x", New: "y", Occurrence: change.First}); err != nil {
			t.Errorf("%s: writing ASCII: %v", c.name, err)
		}
	}
}
