package clients

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"quarry/internal/value"
)

// Setting a value keeps every other byte.
func TestSetMember(t *testing.T) {
	entry := map[string]any{"command": "q"}
	for _, c := range []struct{ name, before, after string }{
		{"no file", "", "{\n  \"servers\": {\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n  }\n}\n"},
		{"an empty object", "{}", "{\n  \"servers\": {\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n  }\n}"},
		{"beside others", "{\n  \"servers\": {\n    \"a\": 1\n  }\n}\n",
			"{\n  \"servers\": {\n    \"a\": 1,\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n  }\n}\n"},
		{"replacing", "{\"servers\": {\"quarry\": {\"old\": [1, 2]}, \"b\": 2}}", "{\"servers\": {\"quarry\": {\n      \"command\": \"q\"\n    }, \"b\": 2}}"},
		{"with tabs", "{\n\t\"x\": 1,\n\t\"servers\": {\n\t\t\"a\": 1\n\t}\n}",
			"{\n\t\"x\": 1,\n\t\"servers\": {\n\t\t\"a\": 1,\n\t\t\"quarry\": {\n\t\t\t\"command\": \"q\"\n\t\t}\n\t}\n}"},
		{"a remark behind the last member", "{\n  \"servers\": {\n    \"a\": 1 // mine, {\n    /* the end */\n  }\n}",
			"{\n  \"servers\": {\n    \"a\": 1, // mine, {\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n    /* the end */\n  }\n}"},
		{"a trailing comma", "{\n  \"servers\": {\n    \"a\": 1,\n  },\n}",
			"{\n  \"servers\": {\n    \"a\": 1,\n    \"quarry\": {\n      \"command\": \"q\"\n    },\n  },\n}"},
		{"only a comment", "{\n  // nothing yet\n}\n",
			"{\n  // nothing yet\n  \"servers\": {\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n  }\n}\n"},
		{"on one line", `{"a":1}`, "{\"a\":1,\n  \"servers\": {\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n  }\n}"},
		{"Windows line endings", "{\r\n  \"servers\": {\r\n    \"a\": 1\r\n  }\r\n}\r\n",
			"{\r\n  \"servers\": {\r\n    \"a\": 1,\r\n    \"quarry\": {\r\n      \"command\": \"q\"\r\n    }\r\n  }\r\n}\r\n"},
		{"a byte order mark", "\xef\xbb\xbf{}", "\xef\xbb\xbf{\n  \"servers\": {\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n  }\n}"},
		{"numbers keep their digits", "{\"n\": 12345678901234567890.10}", "{\"n\": 12345678901234567890.10,\n  \"servers\": {\n    \"quarry\": {\n      \"command\": \"q\"\n    }\n  }\n}"},
	} {
		got, err := setMember(value.JSON, []byte(c.before), []string{"servers", "quarry"}, entry)
		if err != nil || string(got) != c.after {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.after)
		}
	}
}

// Invalid or ambiguous settings are refused.
func TestSetMemberRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"cut off": `{"servers": {`, "a list": `[]`, "a word": `hello`, "two values": `{} {}`, "servers is a list": `{"servers": []}`,
		"servers twice": `{"servers": {}, "servers": {}}`, "a name twice in it": `{"servers": {"quarry": 1, "quarry": 2}}`,
		"an endless comment": `{ /* `, "single quotes": `{'a': 1}`, "no comma": `{"a": 1 "b": 2}`, "a bare name": `{a: 1}`,
		"too deep": strings.Repeat(`{"a":`, 500), "an escape that is none": `{"a": "\q"}`, "a line in a string": "{\"a\": \"x\ny\"}",
	} {
		if got, err := setMember(value.JSON, []byte(text), []string{"servers", "quarry"}, 1); err == nil {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
}

// For any text, either only the one value differs in the result, or the change is
// refused.
func FuzzSetMember(f *testing.F) {
	for _, s := range []string{"", "{}", `{"servers":{"a":1,},}`, "{\n\t// x\n\t\"servers\": {} /* y */ // z\n}", `{"a":[1,{"b":null}],"servers":{"quarry":2}}`, "{\"a\":1/**/}", "{\"a\":1//\n}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := setMember(value.JSON, text, []string{"servers", "quarry"}, "new")
		if err != nil {
			return
		}
		d, err := value.Parse(value.JSON, got)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		var after map[string]any
		plain := json.NewDecoder(strings.NewReader(d.Root.JSON("", "")))
		plain.UseNumber()
		err = plain.Decode(&after)
		if servers, _ := after["servers"].(map[string]any); err != nil || servers["quarry"] != "new" {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		again, err := setMember(value.JSON, got, []string{"servers", "quarry"}, "new")
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q, then %q: %v", got, again, err)
		}
		// For plain JSON the parser agrees with encoding/json.
		var std map[string]any
		dec := json.NewDecoder(bytes.NewReader(got))
		dec.UseNumber()
		if json.Valid(got) && dec.Decode(&std) == nil && !reflect.DeepEqual(std, after) {
			t.Fatalf("%q: %v, but %v by encoding/json", got, after, std)
		}
		for _, line := range bytes.Split(text, []byte("\n")) {
			if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("//")) && !bytes.Contains(got, line) {
				t.Fatalf("%q became %q: a comment is gone", text, got)
			}
		}
	})
}
