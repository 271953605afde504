package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/cli/printing"
)

var anyCode = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// diff, log, edit and doctor print colours on a terminal. In a pipe, with NO_COLOR and on a dumb
// terminal they print the same text without colours. Text from files can't add escape codes.
func TestPaintOnlyOnTerminals(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("XDG_RUNTIME_DIR", home)
	with := func(more ...string) map[string]string {
		env := map[string]string{"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home}
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "a.txt": "one\n\x1b[31mtwo\n"})
	edit := onTerminal(with(), "edit", "a.txt", "--old", "one", "--new", "three", "--diff")
	if edit.code != 0 || !strings.Contains(edit.out, printing.Good+"+three"+printing.Reset+"\n") || !strings.Contains(edit.out, printing.Bad+"-one"+printing.Reset+"\n") ||
		!strings.Contains(edit.out, ` \x1b[31mtwo`) {
		t.Fatalf("edit: exit code %d, %q %s", edit.code, edit.out, edit.err)
	}
	log := onTerminal(with(), "log")
	id, _, _ := strings.Cut(strings.TrimPrefix(log.out, printing.Good), printing.Reset)
	writeTree(t, dir, map[string]string{".ignore": "*\n"})
	for _, args := range [][]string{{"log"}, {"diff", id}, {"edit", "a.txt", "--old", "three", "--new", "four", "--dry-run"}, {"doctor", "--proc", "/none"}} {
		coloured := onTerminal(with(), args...)
		if !anyCode.MatchString(coloured.out) {
			t.Errorf("%q has no colour: %q %s", args, coloured.out, coloured.err)
		}
		want := anyCode.ReplaceAllString(coloured.out, "")
		for name, env := range map[string]map[string]string{"NO_COLOR": with("NO_COLOR", "1"), "a dumb terminal": with("TERM", "dumb")} {
			if diff := cmp.Diff(want, onTerminal(env, args...).out); diff != "" {
				t.Errorf("%q, %s:\n%s", args, name, diff)
			}
		}
	}
}
