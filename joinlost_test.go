package quarry_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"quarry"
	"quarry/internal/zoekt/zoekttest"
	"quarry/search"
)

// A server that doesn't answer is missing from the answer; the roots behind it
// are not.
func TestJoinLostServer(t *testing.T) {
	server := startServer(t, zoekttest.Repo{Name: "org/greeter", Commit: "1", Files: map[string]string{"readme.md": "TODO: polite\n"}})
	gone := startServer(t)
	gone.Close()
	rem, err := quarry.OpenServers(&quarry.ServersOptions{Servers: server.Addr + "," + gone.Addr})
	if err != nil {
		t.Fatal(err)
	}
	root := func(name, text string) quarry.Root {
		dir := t.TempDir()
		putFile(t, filepath.Join(dir, "x.go"), text)
		ws, err := quarry.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return quarry.Root{Name: name, Workspace: ws}
	}
	const text = "package x\n\n// TODO: polite\nfunc Loc() {}\n"
	ws, err := quarry.Join(root("first", "package x\n\n// TODO: polite\n"), quarry.Root{Name: "rem", Workspace: rem}, root("last", text))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	ctx := context.Background()
	for _, c := range []struct {
		name    string
		limits  search.Limits
		want    []string
		total   int
		stopped search.Stop
	}{
		{"all", search.Limits{}, []string{"first/x.go", "rem/org/greeter/readme.md", "last/x.go"}, 3, ""},
		{"cut before the server", search.Limits{Files: 1, CountTo: 10}, []string{"first/x.go"}, 3, search.StopFiles},
		{"cut behind the server", search.Limits{Files: 2, CountTo: 10}, []string{"first/x.go", "rem/org/greeter/readme.md"}, 3, search.StopFiles},
	} {
		r, err := ws.Search(ctx, search.Query{Pattern: "TODO: polite", Limits: c.limits})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		for i := range r.Files {
			got = append(got, r.Files[i].Path)
		}
		if !slices.Equal(got, c.want) || r.FilesMatched != c.total || r.Exact || r.Stopped != c.stopped {
			t.Errorf("%s: %q, %d in all, exact %v, stopped %q; want %q, %d in all, not exact, stopped %q",
				c.name, got, r.FilesMatched, r.Exact, r.Stopped, c.want, c.total, c.stopped)
		}
		if len(r.Skipped) != 1 || !r.Skipped[0].Server {
			t.Errorf("%s: skipped %v, want the server", c.name, r.Skipped)
		}
	}
	syms, err := ws.Symbols(ctx, search.SymbolQuery{Name: "Loc"})
	if err != nil || len(syms.Symbols) != 1 {
		t.Errorf("Symbols: %v, %v; want the definition in the last root", syms, err)
	}
	// Every kind of search calls the lost server by the same name.
	code, err := ws.SearchCode(ctx, search.CodeQuery{Query: "polite"})
	if err != nil || len(code.Skipped) != 1 || code.Skipped[0].Path != "rem/"+gone.Addr {
		t.Errorf("SearchCode skipped %v, %v; want rem/%s", code, err, gone.Addr)
	}
}
