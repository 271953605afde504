package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/MCP.md and the policy have the same names.
func TestDocumentedNames(t *testing.T) {
	text, err := os.ReadFile("../../docs/MCP.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "### Files that look like secrets\n")
	section, _, end := strings.Cut(section, "\n## ")
	if !ok || !end {
		t.Fatal("docs/MCP.md has no section about files that look like secrets")
	}
	p, err := New(Rules{})
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	documented, backups, checked := map[string]bool{}, []string{}, 0
	if _, after, ok := strings.Cut(section, "Their backups"); ok {
		line, _, _ := strings.Cut(after, " after it")
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			backups = append(backups, m[1])
		}
	}
	if len(backups) != len(backupExtensions) {
		t.Errorf("backups in docs: %q, in the policy: %q", backups, backupExtensions)
	}
	check := func(glob string, want class) {
		documented[glob] = true
		for _, as := range []string{"", "x", "Ä-1"} {
			for _, dir := range []string{"", "deep/er/"} {
				for _, tail := range append([]string{""}, backups...) {
					if want == plainName && tail != "" {
						continue // a backup of an example is closed
					}
					name := dir + strings.ReplaceAll(glob, "*", as) + tail
					checked++
					got := plainName
					switch {
					case p.Path(name, false) == Secret:
						got = secretName
					case p.ByContent(name):
						got = suspectName
					}
					if got != want && !(glob == "*.env" && as == "") {
						t.Errorf("%s is %d, documented as %d (%s)", name, got, want, glob)
					}
				}
			}
		}
	}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		want := secretName
		if strings.Contains(cells[2], "if a line") {
			want = suspectName
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			check(m[1], want)
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			check(m[1], plainName)
		}
	}
	var all []string
	for _, n := range secretPrefixes {
		all = append(all, n+"*")
	}
	for _, n := range secretExtensions {
		all = append(all, "*"+n)
	}
	all = append(append(all, secretNames[:]...), suspectNames[:]...)
	for _, n := range openExtensions {
		all = append(all, ".env"+n)
	}
	for _, n := range secretInFolder {
		all = append(all, n[0]+"/"+n[1])
	}
	for _, name := range all {
		if !documented[name] {
			t.Errorf("docs/MCP.md does not name %s", name)
		}
	}
	if len(all) < 25 || checked < 800 {
		t.Errorf("%d names, %d cases: too few", len(all), checked)
	}
}
