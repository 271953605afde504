package toolset_test

import (
	"strings"
	"testing"

	"quarry/toolset"
)

func TestNew(t *testing.T) {
	for _, p := range append(toolset.Profiles(), "") {
		all, err := toolset.New(nil, &toolset.Options{Profile: p})
		if err != nil {
			t.Fatalf("profile %q: %v", p, err)
		}
		safe, err := toolset.New(nil, &toolset.Options{Profile: p, ReadOnly: true})
		if err != nil {
			t.Fatalf("profile %q, read only: %v", p, err)
		}
		for _, tl := range all.Tools() {
			if tl.Hints.ReadOnly && safe.Lookup(tl.Name) == nil {
				t.Errorf("profile %q: read only has no %s", p, tl.Name)
			}
		}
		for _, tl := range safe.Tools() { // some tools are read-only versions of tools that also change files
			if !tl.Hints.ReadOnly {
				t.Errorf("profile %q: read only has %s, which changes files", p, tl.Name)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		opts toolset.Options
		want string
	}{
		{toolset.Options{Profile: "emacs"}, `unknown profile "emacs"`},
		{toolset.Options{Tools: []string{"read_file", "format_disk"}}, `no tool "format_disk"`},
	} {
		if _, err := toolset.New(nil, &c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v) = %v, want %s", c.opts, err, c.want)
		}
	}
}
