package vault

import (
	"strings"
	"testing"
)

func TestParseSettings(t *testing.T) {
	s, err := ParseSettings([]byte(`{"trashOption":"local","alwaysUpdateLinks":true,"newLinkFormat":"relative","useMarkdownLinks":true,
		"attachmentFolderPath":"./img","newFileLocation":"folder","newFileFolderPath":"Inbox","other":{"x":[1]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.TrashOption != TrashLocal || !s.AlwaysUpdateLinks || s.NewLinkFormat != Relative ||
		s.AttachmentFolderPath != "./img" {
		t.Errorf("got %+v", s)
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
	} {
		s, err := ParseSettings([]byte(c.json))
		if (err == nil) != (c.complaint == "") || err != nil && !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if s.TrashOption != def.TrashOption || s.NewLinkFormat != def.NewLinkFormat || s.AlwaysUpdateLinks {
			t.Errorf("%s: not the defaults: %+v", c.name, s)
		}
	}
	// One invalid value does not affect the others.
	s, err := ParseSettings([]byte(`{"trashOption":"moon","newLinkFormat":"absolute"}`))
	if err == nil || s.NewLinkFormat != Absolute {
		t.Errorf("got %v, %v", s.NewLinkFormat, err)
	}
}
