package owner_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"quarry"
	"quarry/internal/owner"
	"quarry/internal/stress"
	"quarry/search"
)

// bareHouse is a house with an empty folder and a folder for indexes.
func bareHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, r: stress.Rand(1), dir: filepath.Join(t.TempDir(), "ws"), state: t.TempDir(), marks: map[string]string{}}
	h.must(os.Mkdir(h.dir, 0o755))
	h.makeHome()
	return h
}

// A search waits while a stored index is being opened.
func TestSearchWaitsForOpening(t *testing.T) {
	stress.SkipTiny(t)
	h := bareHouse(t)
	for i := range 300 {
		h.put(fmt.Sprintf("d%d/f%d.txt", i%10, i), fmt.Sprintf("word%d\n", i))
	}
	o := &quarry.Options{AllowAny: true}
	h.keep(o).Close()
	h.put("d1/f1.txt", "changedword\n")
	for range 5 {
		ws := h.open(o, &quarry.IndexOptions{Home: h.makeHome(), Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket()})
		if got, st := h.paths(ws, "changedword"); got != "d1/f1.txt" || !st.Plan.Indexed() {
			t.Errorf("the first search found %q by %q, want the index to answer", got, st.Plan.Kind)
		}
		ws.Close()
	}
}

// Without an owner, a command uses a stored index if that is faster than a scan, and sees
// all changes made since.
func TestStoredIndexWithoutOwner(t *testing.T) {
	stress.SkipTiny(t)
	files := stress.Size(1_000, 10_000)
	defer owner.LendFrom(owner.LendFrom(files))
	h := bareHouse(t)
	for i := range files * 106 / 100 {
		h.put(fmt.Sprintf("d%d/f%d.txt", i%50, i), fmt.Sprintf("common word%d\n", i))
	}
	h.put("k.pem", "rareword\n")
	h.put(".git/x", "rareword\n")
	for _, trusted := range []bool{true, false} {
		o := &quarry.Options{AllowAny: true, Trusted: trusted}
		h.keep(o).Close()
		h.put("d1/new.txt", "rareword\n")
		h.put("d2/f2.txt", "rareword\n")
		h.must(os.RemoveAll(filepath.Join(h.dir, "d3")))
		ask := h.open(o, &quarry.IndexOptions{Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket(), Ask: true})
		want := "d1/new.txt d2/f2.txt"
		if trusted {
			want += " k.pem"
		}
		if got, st := h.paths(ask, "rareword"); got != want || !st.Plan.Indexed() {
			t.Errorf("trusted %v: found %q by %q, want %q by the index", trusted, got, st.Plan.Kind, want)
		}
		if _, st := h.paths(ask, "common"); !st.Plan.Scanned() {
			t.Errorf("what is in every file was searched by %q", st.Plan.Kind)
		}
		if got, _ := h.paths(ask, "word103"); strings.Contains(got, "d3/") {
			t.Errorf("a folder that is gone: %q", got)
		}
		ask.Close()
		h.put(".gitignore", "!*/\n") // includes .git again, for views that may show it
		if trusted {
			ask := h.open(o, &quarry.IndexOptions{Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket(), Ask: true})
			if got, st := h.paths(ask, "rareword"); !strings.HasPrefix(got, ".git/x") {
				t.Errorf("found %q by %q, want .git/x too", got, st.Plan.Kind)
			}
			ask.Close()
		}
		h.must(os.Remove(filepath.Join(h.dir, ".gitignore")))
	}
}

// A client waits only once for a suspended owner. It uses the owner again once that
// responds.
func TestSuspendedOwnerIsRemembered(t *testing.T) {
	stress.SkipTiny(t)
	h := bareHouse(t)
	h.put("f.txt", "needle\n")
	h.must(os.MkdirAll(filepath.Dir(h.socket()), 0o700))
	l, err := net.Listen("unix", h.socket())
	h.must(err)
	defer l.Close()
	var asked atomic.Int32
	conns := make(chan net.Conn, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			conns <- c
		}
	}()
	ws := h.open(&quarry.Options{AllowAny: true}, &quarry.IndexOptions{Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket(), Ask: true})
	for i := range 20 {
		if got, _ := h.paths(ws, "needle"); got != "f.txt" {
			t.Fatalf("search %d found %q", i, got)
		}
	}
	if n := asked.Load(); n != 2 { // the search, and the connection that waits for a response
		t.Errorf("the silent owner was asked %d times, want 2", n)
	}
	(<-conns).Close()
	waiting := <-conns
	waiting.Write([]byte{0, 0, 0, 0, 'a'})
	for asked.Load() == 2 { // until the owner is used again
		if _, err := ws.Search(t.Context(), search.Query{Pattern: "needle"}); err != nil {
			t.Fatal(err)
		}
	}
}
