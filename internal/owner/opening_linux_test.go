package owner_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/internal/stress"
	"quarry/search"
)

// Changes made while an owner begins to watch and sweep folders are in its first answers:
// changes of files and rules, and folders that are made, deleted and moved.
func TestChangesWhileOpening(t *testing.T) {
	run := stress.Start(t, "changes while an index is opened", 10, 2_000)
	for seed := range run.Cases() {
		h := newHouse(t, seed)
		for i := range 150 {
			h.write(fmt.Sprintf("t%d/s%d/f.txt", i%10, i))
		}
		h.makeHome()
		o := &quarry.Options{AllowAny: true, Trusted: seed%2 == 0}
		h.keep(o).Close() // stores an index
		stop, began := make(chan struct{}), make(chan struct{})
		var wait sync.WaitGroup
		wait.Go(func() { h.meddle(began, stop) })
		<-began
		ws := h.keep(o)
		close(stop)
		wait.Wait()
		scan := h.open(o, nil)
		for _, word := range []string{"alpha", "moved_word", "zeta"} {
			for _, ignored := range []bool{false, true} {
				q := search.Query{Pattern: word, Scope: search.Scope{IncludeIgnored: ignored, IncludeHidden: h.r.IntN(2) == 0}}
				got, plan := h.ask(ws, q)
				want, _ := h.ask(scan, q)
				if d := cmp.Diff(want, got); d != "" {
					run.Violation(seed, "trusted %v, query %+v, plan %q: scan and index differ (-scan +index):\n%s", o.Trusted, q, plan, d)
				}
				run.Tried(1)
				if shows := o.Trusted && h.showsGit(scan, q.Scope); !strings.HasPrefix(plan, "index") != shows {
					run.Violation(seed, "trusted %v, query %+v: answered by %q; .git is shown: %v", o.Trusted, q, plan, shows)
				}
			}
		}
		scan.Close()
		ws.Close()
	}
}

// showsGit reports whether a search shows .git, which is never indexed: hidden files are
// requested, or a rule such as !*/ includes it again.
func (h *house) showsGit(ws *quarry.Workspace, s search.Scope) bool {
	h.t.Helper()
	found, err := ws.Find(h.t.Context(), search.FindQuery{Scope: s, Kind: search.OnlyFolders})
	h.must(err)
	return slices.ContainsFunc(found.Entries, func(e search.Entry) bool { return path.Base(e.Path) == ".git" })
}

// meddle changes the tree until stop is closed. It closes began after it has started.
func (h *house) meddle(began, stop chan struct{}) {
	at := func(rel string) string { return filepath.Join(h.dir, rel) }
	for i := 0; ; i++ {
		if i == 20 {
			close(began)
		}
		select {
		case <-stop:
			return
		default:
		}
		a, b := h.r.IntN(10), h.r.IntN(150)
		dir := fmt.Sprintf("t%d/s%d", b%10, b)
		switch h.r.IntN(7) {
		case 0:
			os.Rename(at(dir), at(fmt.Sprintf("t%d/m%d", a, h.r.IntN(20))))
		case 1:
			os.MkdirAll(at(fmt.Sprintf("t%d/new%d/deep", a, i%50)), 0o755)
			os.WriteFile(at(fmt.Sprintf("t%d/new%d/deep/x.txt", a, i%50)), []byte("moved_word alpha\n"), 0o644)
		case 2:
			os.RemoveAll(at(dir))
		case 3:
			os.MkdirAll(at(dir), 0o755)
			os.WriteFile(at(dir+"/f.txt"), fmt.Appendf(nil, "zeta %d\n", i), 0o644)
		case 4:
			os.WriteFile(at(fmt.Sprintf("t%d/.gitignore", a)), []byte([]string{"s1*\n", "*.txt\n", "\n", "new*/\n"}[h.r.IntN(4)]), 0o644)
		case 5:
			os.WriteFile(at("d2/.git/info/exclude"), []byte([]string{"a.go\n", "\n"}[h.r.IntN(2)]), 0o644)
		default:
			if f, err := os.OpenFile(at(dir+"/f.txt"), os.O_WRONLY|os.O_APPEND, 0); err == nil {
				f.WriteString("moved_word\n")
				f.Close()
			}
		}
	}
}
