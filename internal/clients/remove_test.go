package clients

import (
	"errors"
	"testing"
)

func TestRemove(t *testing.T) {
	code, codex := &Client{key: "s"}, &Client{key: "s", toml: true}
	for _, c := range []struct {
		client       *Client
		before, want string
	}{
		{code, `{"s": {"quarry": {}}}`, `{"s": {}}`},
		{code, "{\n  \"s\": {\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n  }\n}\n", "{\n  \"s\": {\n  }\n}\n"},
		{code, "{\"s\": {\n  \"a\": 1,\n  \"quarry\": {} // ours\n}}", "{\"s\": {\n  \"a\": 1\n}}"},
		{code, "{\"s\": {\n  \"quarry\": {}, // ours\n  \"a\": 1 // theirs\n}}", "{\"s\": {\n  \"a\": 1 // theirs\n}}"},
		{code, "{\"s\": {\n  \"a\": 1,\n  // about it\n  \"quarry\": {},\n}, \"t\": [1, 2,]}", "{\"s\": {\n  \"a\": 1,\n  // about it\n}, \"t\": [1, 2,]}"},
		{code, "{\"s\": {\"a\": 1, \"quarry\": {}, \"b\": 2}}", "{\"s\": {\"a\": 1, \"b\": 2}}"},
		{code, "{\r\n\t\"s\": {\r\n\t\t\"a\": 1,\r\n\t\t\"quarry\": {}\r\n\t}\r\n}", "{\r\n\t\"s\": {\r\n\t\t\"a\": 1\r\n\t}\r\n}"},
		{codex, "model = \"x\"\n\n[s.quarry]\ncommand = \"q\"\nargs = []\n", "model = \"x\"\n"},
		{codex, "[s.quarry]\ncommand = \"q\"\n\n[s.other]\ncommand = \"o\"\n", "\n[s.other]\ncommand = \"o\"\n"},
	} {
		got, err := c.client.Remove([]byte(c.before), "quarry")
		if err != nil || string(got) != c.want {
			t.Errorf("%s\ngives %v\n%s\nwant\n%s", c.before, err, got, c.want)
		}
	}
	for _, text := range []string{"", "{}", `{"s": {}}`, `{"s": {"a": 1}}`} {
		if _, err := code.Remove([]byte(text), "quarry"); !errors.Is(err, ErrNoEntry) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{`{"s": {"quarry": {}}`, `[1]x`} {
		if _, err := code.Remove([]byte(text), "quarry"); err == nil || errors.Is(err, ErrNoEntry) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Removing an added entry restores the previous text.
func TestRemoveUndoesSet(t *testing.T) {
	for _, client := range All {
		texts := []string{"{\n  // mine\n  \"theme\": \"dark\",\n  \"" + client.key + "\": {\n    \"other\": {\"command\": \"x\"} // keep\n  }\n}\n"}
		if client.toml {
			texts = []string{"# mine\ntheme = \"dark\"\n\n[" + client.key + ".other] # keep\ncommand = \"x\"\nargs = []\n"}
		}
		for _, before := range texts {
			with, err := client.Set([]byte(before), "quarry", &Entry{Command: "q", Args: []string{"mcp"}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := client.Remove(with, "quarry")
			if err != nil || string(got) != before {
				t.Errorf("%s: %v\n%s\nwant\n%s", client.Name, err, got, before)
			}
		}
	}
}
