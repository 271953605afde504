package vault

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"quarry/fault"
)

// Values of trashOption: where deleted files go.
const (
	TrashSystem = "system"
	TrashLocal  = "local"
	TrashNone   = "none"
)

// LinkFormat is how a new link refers to its target.
type LinkFormat string

// Values of newLinkFormat.
const (
	Shortest LinkFormat = "shortest" // only the name, if it is unambiguous
	Relative LinkFormat = "relative" // from the linking note's folder
	Absolute LinkFormat = "absolute" // from the top of the vault
)

// Settings are the settings in .obsidian/app.json that affect changes. The zero value is
// not valid; start from [DefaultSettings] or [ParseSettings].
type Settings struct {
	TrashOption          string     // system, local or none
	AlwaysUpdateLinks    bool       // moves rewrite links without asking
	NewLinkFormat        LinkFormat // shortest, relative or absolute
	AttachmentFolderPath string     // "/" is the top of the vault, "./" the note's folder
}

// DefaultSettings returns the settings that Obsidian uses if app.json is missing.
func DefaultSettings() Settings {
	return Settings{TrashOption: TrashSystem, NewLinkFormat: Shortest, AttachmentFolderPath: "/"}
}

// ParseSettings parses app.json. A setting that is missing, unknown or of the wrong type
// keeps its default. The error lists the invalid values; the settings are usable despite
// the error. Empty input is valid, since a new vault has no app.json.
func ParseSettings(data []byte) (Settings, error) {
	s := DefaultSettings()
	data = []byte(strings.TrimPrefix(string(data), bom))
	if strings.TrimSpace(string(data)) == "" {
		return s, nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return s, fmt.Errorf("app.json: %w", err)
	}
	var errs []error
	field := func(key string, into any) {
		v, ok := raw[key]
		if !ok || string(v) == "null" {
			return
		}
		if err := json.Unmarshal(v, into); err != nil {
			errs = append(errs, fmt.Errorf("app.json: %s: %s is not usable, the default is used", key, fault.Clip(string(v), 60)))
		}
	}
	oneOf := func(key string, into *string, allowed ...string) {
		v := *into
		field(key, &v)
		for _, a := range allowed {
			if v == a {
				*into = v
				return
			}
		}
		errs = append(errs, fmt.Errorf("app.json: %s: %q is none of %s, the default is used", key, fault.Clip(v, 60), strings.Join(allowed, ", ")))
	}
	format := string(s.NewLinkFormat)
	oneOf("trashOption", &s.TrashOption, TrashSystem, TrashLocal, TrashNone)
	oneOf("newLinkFormat", &format, string(Shortest), string(Relative), string(Absolute))
	s.NewLinkFormat = LinkFormat(format)
	field("alwaysUpdateLinks", &s.AlwaysUpdateLinks)
	field("attachmentFolderPath", &s.AttachmentFolderPath)
	return s, errors.Join(errs...)
}
