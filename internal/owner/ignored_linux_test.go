package owner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/internal/stress"
	"quarry/search"
)

// Ignored files are indexed and watched while there are few. If there are many, they are
// dropped. All the time, every answer equals that of a scan.
func TestIgnoredFilesComeAndGo(t *testing.T) {
	h := &house{t: t, r: stress.Rand(1), dir: filepath.Join(t.TempDir(), "ws"), state: t.TempDir(), marks: map[string]string{}}
	h.must(os.Mkdir(h.dir, 0o755))
	h.put(".gitignore", "build/\n*.o\n")
	h.put("src/a.c", "int alpha;\n")
	h.put("src/a.o", "alpha object\n")
	h.must(os.MkdirAll(filepath.Join(h.dir, "build/empty"), 0o755))
	ws := h.open(&quarry.Options{}, &quarry.IndexOptions{Dir: t.TempDir(), MaxIgnored: 40})
	h.must(ws.Index().Wait(t.Context()))
	scan := h.open(&quarry.Options{}, nil)
	step := func(what string, indexed bool) {
		t.Helper()
		for _, also := range []bool{true, false} {
			q := search.Query{Pattern: "alpha", Scope: search.Scope{IncludeIgnored: also}}
			got, plan := h.ask(ws, q)
			want, _ := h.ask(scan, q)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, ignored files %v, plan %q: scan and index differ (-scan +index):\n%s", what, also, plan, d)
			}
			if by := strings.HasPrefix(plan, "index"); by != (indexed || !also) {
				t.Errorf("%s, ignored files %v: answered by %q", what, also, plan)
			}
		}
	}
	step("at first", true)
	h.put("build/empty/new.txt", "alpha in a folder that was empty\n")
	step("a file in a folder that had none", true)
	h.put("build/made/later/x.txt", "alpha\n")
	step("a folder that came", true)
	h.put("build/made/later/x.txt", "changed, alpha twice\nalpha\n")
	step("a change", true)
	h.put("src/.gitignore", "!a.o\n")
	step("a rule that shows one", true)
	h.must(os.Remove(filepath.Join(h.dir, "src/.gitignore")))
	h.must(os.RemoveAll(filepath.Join(h.dir, "build/empty")))
	step("a folder that went", true)
	for i := range 50 {
		h.put(fmt.Sprintf("build/many/%d/x.txt", i), "alpha\n")
	}
	step("too many", false)
	h.put("build/many/7/x.txt", "beta\n")
	step("a change that nobody watches", false)
	h.must(os.RemoveAll(filepath.Join(h.dir, "build/many")))
	h.put("build/made/later/x.txt", "alpha, unwatched\n")
	h.put(".gitignore", "build/\n*.o\n# swept again\n") // the sweep after this change counts them
	step("few again", false)
	step("taken in again", true)
	h.put("build/made/later/x.txt", "alpha, watched\n")
	step("a change after that", true)
}
