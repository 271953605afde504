package printing

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// JSON for a terminal has the same value and only characters that show.
func TestJSONOnTerminal(t *testing.T) {
	value := "plain é 日 \x1b[2J \u009b \u202e \U000e0041 \x7f \ufeff 🙂"
	var b bytes.Buffer
	enc := json.NewEncoder(JSONWriter(&b, true))
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u009b\u202e\U000e0041\x7f\ufeff") || !strings.Contains(b.String(), "é 日") {
		t.Errorf("printed %q", b.String())
	}
	var got string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got != value {
		t.Errorf("read back %q, %v", got, err)
	}
}
