package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/profile"
)

// TestBestCode checks which results search_code shows in the profile code.
func TestBestCode(t *testing.T) {
	files := answersTree()
	files["store_test.go"] = "package store\n\n// TestOpen opens a store.\nfunc TestOpen(t *testing.T) {\n\tvar s Store\n\ts.Open()\n}\n"
	r := openTree(t, &profile.Options{Profile: "code"}, files)
	got := callText(t, r, "search_code", `{"query":"open a store"}`)
	if !strings.HasPrefix(got, "## store.go:10-18 Store.Open\n// Open opens a store.\n") || strings.Contains(got, "package store") || strings.Contains(got, "Found ") {
		t.Errorf("the method first, no package line:\n%s", got)
	}
	if !strings.HasSuffix(got, "\n- store.go:5-8 struct Store\n- store_test.go:3-7 TestOpen") {
		t.Errorf("tests are named last:\n%s", got)
	}
	if got := callText(t, r, "search_code", `{"query":"open a store","show":"places"}`); !strings.HasPrefix(got, "- store.go:10-18 Store.Open: func (s *Store) Open(") || strings.Contains(got, "##") {
		t.Errorf("places with signatures:\n%s", got)
	}
	var long strings.Builder
	long.WriteString("package flush\n\n// flushEverything writes every page of the journal.\nfunc flushEverything() {\n")
	for i := range 60 {
		fmt.Fprintf(&long, "\tpage(%d) // journal\n", i)
	}
	long.WriteString("}\n")
	files["flush.go"] = long.String()
	for i := range 30 {
		files[fmt.Sprintf("pages/p%02d.go", i)] = fmt.Sprintf("package pages\n\n// p%d is a page that nobody opens.\nfunc p%d() int { return %d }\n", i, i, i)
	}
	r = openTree(t, &profile.Options{Profile: "code"}, files)
	got = callText(t, r, "search_code", `{"query":"flush everything journal"}`)
	if !strings.Contains(got, "\n … lines 23-65") || strings.Contains(got, "page(30)") {
		t.Errorf("one block can't take the answer:\n%s", got)
	}
	if strings.Count(got, "flushEverything") != 3 { // its location, its comment and its first line
		t.Errorf("a function that is ranked in pieces is there once:\n%s", got)
	}
	if strings.Contains(got, "\n## pages/p") {
		t.Errorf("far from the best:\n%s", got)
	}
	if small := callText(t, r, "search_code", `{"query":"flush everything journal","budget":100}`); !strings.Contains(small, "## flush.go") || len(small) > len(got) {
		t.Errorf("the best is shown with any budget:\n%s", small)
	}
	got = callText(t, r, "search_code", `{"query":"page that nobody opens","budget":300}`)
	if len(got) > 1600 || !strings.Contains(got, "pages/p") {
		t.Errorf("a budget of 300 tokens: %d bytes\n%s", len(got), got)
	}

	long.Reset()
	long.WriteString("package drain\n\n// drainQueue empties it.\nfunc drainQueue() {\n")
	for i := range 34 {
		fmt.Fprintf(&long, "\tstep%d()\n", i)
	}
	long.WriteString("\tsendHeartbeat(now)\n}\n")
	files["drain.go"] = long.String()
	r = openTree(t, &profile.Options{Profile: "code"}, files)
	if got = callText(t, r, "search_code", `{"query":"drain queue heartbeat"}`); !strings.Contains(got, "sendHeartbeat(now)") || !strings.Contains(got, "func drainQueue() {") || !strings.Contains(got, "\n … lines 7-3") {
		t.Errorf("of a long function its head and the lines that have the words:\n%s", got)
	}
}
