package vault

import (
	"strings"
	"testing"
)

func TestParseSettings(t *testing.T) {
	s, err := ParseSettings([]byte(`{"trashOption":"local","alwaysUpdateLinks":true,"newLinkFormat":"relative","useMarkdownLinks":true,
		"attachmentFolderPath":"./img","newFileLocation":"folder","newFileFolderPath":"Inbox","userIgnoreFilters":["Archive/","/\\.tmp\\.md$/"],"other":{"x":[1]}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.TrashOption != TrashLocal || !s.AlwaysUpdateLinks || s.NewLinkFormat != Relative || !s.UseMarkdownLinks ||
		s.AttachmentFolderPath != "./img" || s.NewFileLocation != "folder" || s.NewFileFolderPath != "Inbox" {
		t.Errorf("got %+v", s)
	}
	for path, want := range map[string]bool{"Archive/a.md": true, "archive/b/c.md": true, "A/Archive/a.md": false, "x.tmp.md": true, "x.md": false} {
		if s.Ignored(path) != want {
			t.Errorf("Ignored(%q) = %v", path, !want)
		}
	}
}

func TestParseSettingsIsLenient(t *testing.T) {
	def := DefaultSettings()
	for _, c := range []struct{ name, json, complaint string }{
		{"missing", "", ""},
		{"empty object", "{}", ""},
		{"byte order mark", "\ufeff{}", ""},
		{"null values", `{"trashOption":null,"alwaysUpdateLinks":null}`, ""},
		{"broken", `{"trashOption":`, "app.json"},
		{"not an object", `[1]`, "app.json"},
		{"unknown value", `{"trashOption":"moon"}`, `"moon" is none of system, local, none`},
		{"wrong type", `{"alwaysUpdateLinks":"yes"}`, "alwaysUpdateLinks"},
		{"wrong type of a choice", `{"newLinkFormat":7}`, "newLinkFormat"},
		{"look-around", `{"userIgnoreFilters":["/(?=a)/"]}`, "userIgnoreFilters"},
		{"filters of the wrong type", `{"userIgnoreFilters":"x"}`, "userIgnoreFilters"},
	} {
		s, err := ParseSettings([]byte(c.json), nil)
		if (err == nil) != (c.complaint == "") || err != nil && !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if s.TrashOption != def.TrashOption || s.NewLinkFormat != def.NewLinkFormat || s.AlwaysUpdateLinks || s.Ignored("a.md") {
			t.Errorf("%s: not the defaults: %+v", c.name, s)
		}
	}
	// One bad value leaves the others.
	s, err := ParseSettings([]byte(`{"trashOption":"moon","newLinkFormat":"absolute"}`), nil)
	if err == nil || s.NewLinkFormat != Absolute {
		t.Errorf("got %v, %v", s.NewLinkFormat, err)
	}
	// The caller's regular expressions are used.
	s, err = ParseSettings([]byte(`{"userIgnoreFilters":["/x/",""]}`), func(e string) (func(string) bool, error) {
		return func(p string) bool { return p == e+"!" }, nil
	})
	if err != nil || !s.Ignored("x!") || s.Ignored("x") {
		t.Errorf("the compile function was not used: %v", err)
	}
}
