package profile_test

import (
	"strings"
	"testing"

	"quarry/internal/profile"
)

// A server's instructions match the profile and the tools it serves.
func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		opts      profile.Options
		has, lack []string
	}{
		{profile.Options{}, []string{"unless asked for", "Every change can be undone.", ".git, .obsidian and", "- undo_change: "}, []string{".smarthole"}},
		{profile.Options{ReadOnly: true}, []string{"Nothing can be changed."}, []string{"undo", "write_file"}},
		{profile.Options{Profile: "vault"}, []string{"begin with a dot are omitted", ".smarthole", "- edit_file: "}, []string{"unless asked for", "ignored", "can be undone", "search_code"}},
		{profile.Options{Profile: "code"}, []string{"Search files by text or regex"}, []string{".smarthole"}},
		{profile.Options{Profile: "roo"}, []string{"Hidden and ignored files are omitted.", "Nothing can be changed."}, []string{"unless asked for", "read_file"}},
		{profile.Options{Profile: "godoctor"}, []string{"dot files are searched"}, []string{"Hidden"}},
		{profile.Options{Profile: "smcp"}, []string{"hidden ones are listed"}, []string{"unless asked for"}},
	} {
		text := profile.Instructions(c.opts.Profile, tools(t, nil, c.opts), nil, false)
		for _, s := range []string{"earch", "ymbols", "edit", "ndo"} {
			if name := c.opts.Profile; (name == "" || name == "code") && !c.opts.ReadOnly && !strings.Contains(text[:min(len(text), 250)], s) {
				t.Errorf("%+v: %q is not in the first 250 characters of %s", c.opts, s, text)
			}
		}
		for _, s := range c.has {
			if !strings.Contains(text, s) {
				t.Errorf("%+v: %q is missing in %s", c.opts, s, text)
			}
		}
		for _, s := range c.lack {
			if strings.Contains(text, s) {
				t.Errorf("%+v: %q is in %s", c.opts, s, text)
			}
		}
	}
}
