package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

// Arguments that decoding would change are refused: a\xff.txt must not become a\ufffd.txt.
func TestTextIsNotChanged(t *testing.T) {
	ran := ""
	tl := &Tool{Name: "write", Params: []Param{{Name: "path", Kind: String}}}
	for _, c := range []struct {
		raw string
		ok  bool
	}{
		{`{"path": "a` + "\xff" + `.txt"}`, false}, {`{"path": "` + "\xc0\xaf" + `"}`, false}, {`{"path": "` + "\xed\xa0\x80" + `"}`, false},
		{`{"path": "a\ud800.txt"}`, false}, {`{"path": "\uDC00"}`, false}, {`{"path": "\udc00\ud800"}`, false}, {`{"path": "\ud83d\ud83d\ude00"}`, false}, {`{"path": "\ud83dx"}`, false},
		{`{"\ud800": "a"}`, false}, {`"{\"path\": \"a\\ud800\"}"`, false},
		{`{"path": "a\ufffd.txt"}`, true}, {`{"path": "\ud83d\ude00"}`, true}, {`{"path": "\\ud800"}`, true}, {`{"path": "\u0041\n\\"}`, true}, {`{"path": "é\ufffd😀"}`, true},
	} {
		args, err := tl.decode(json.RawMessage(c.raw))
		if (err == nil) != c.ok {
			t.Errorf("%q: %v, %q", c.raw, err, args.String("path"))
		}
		if err != nil && !strings.Contains(err.Error(), "the arguments ") {
			t.Errorf("%q: %v", c.raw, err)
		}
		if ran = args.String("path"); !c.ok && ran != "" {
			t.Errorf("%q is read as %q", c.raw, ran)
		}
	}
}
