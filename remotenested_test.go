package quarry_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry"
	"quarry/fault"
	regime "quarry/internal/stress"
	"quarry/internal/zoekt/zoekttest"
	"quarry/search"
)

// nestedCorpus is repositories whose names nest, with files of the outer ones at
// the paths of the inner ones.
func nestedCorpus() map[string]map[string]string {
	corpus := map[string]map[string]string{}
	for _, name := range []string{"a", "a/b", "a/b/c", "a/lib/deep", "b"} {
		files := map[string]string{"b/x": "", "b/c/y": "", "lib/own.txt": "", "lib/deep/z": "", "A.txt": "", "c.txt": "", "b-side/q": "", "x": "", "b/c.go": "", "z": ""}
		for p := range files {
			files[p] = fmt.Sprintf("alpha session in %s of %s\nkilo beta\n", p, name)
		}
		corpus[name] = files
	}
	delete(corpus["a/b"], "b/x")
	corpus["a/b"]["c"] = "alpha at the name of a repository\n"
	delete(corpus["a/b"], "c.go")
	return corpus
}

// TestRemoteNested: where names nest the longest has the path, for whatever is
// asked, and however many of them are checked out.
func TestRemoteNested(t *testing.T) {
	regime.SkipShort(t)
	corpus := nestedCorpus()
	names := slices.Sorted(maps.Keys(corpus))
	owner := func(full string) string {
		longest := ""
		for _, n := range names {
			if (full == n || strings.HasPrefix(full, n+"/")) && len(n) > len(longest) {
				longest = n
			}
		}
		return longest
	}
	whole := t.TempDir() // what the tree should be
	for name, files := range corpus {
		for p, text := range files {
			if full := name + "/" + p; owner(full) == name {
				putFile(t, filepath.Join(whole, full), text)
			}
		}
	}
	local, err := quarry.Open(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	for _, checkouts := range []string{"", "a", "a/b", "a/b/c", "a a/b", "a a/b/c", "a/b a/lib/deep", "a a/b a/b/c a/lib/deep b"} {
		t.Run("checkouts "+checkouts, func(t *testing.T) {
			remote := nestedWorld(t, corpus, strings.Fields(checkouts))
			rng := rand.New(rand.NewPCG(3, 4))
			for range regime.N(60) {
				q := search.Query{Pattern: []string{"alpha", "of a", `\w+`, "beta"}[rng.IntN(4)], Detail: search.Lines}
				q.Paths = [][]string{nil, {"a"}, {"a/b"}, {"a/lib"}, {"A/B"}, {"a/b/c"}, {"a/lib/deep/z"}, {"A/lib/Own.txt"}, {"a/b/b-side"}, {"b"}, {"a/B/c/x"}}[rng.IntN(11)]
				q.MaxDepth, q.Limits.Lines = []int{0, 0, 1, 2, 3}[rng.IntN(5)], []int{0, 0, 3, 7}[rng.IntN(4)]
				q.Globs = [][]string{nil, nil, {"*.txt"}, {"a/b/**"}, {"!b/**"}}[rng.IntN(5)]
				if diff := diffResults(mustSearch(t, local, q), mustSearch(t, remote, q)); diff != "" {
					t.Fatalf("a query differs from a scan (-scan +remote):\n%+v\n%s", q, diff)
				}
			}
			for _, below := range []string{"", "a", "A", "a/b", "a/lib", "a/b/c"} {
				for _, kind := range []search.EntryKind{search.OnlyFiles, search.OnlyFolders, search.FilesAndFolders} {
					for _, depth := range []int{0, 1, 2} {
						q := search.FindQuery{Kind: kind, Scope: search.Scope{MaxDepth: depth, Paths: []string{below}}}
						if want, got := listed(t, local, q), listed(t, remote, q); want != got {
							t.Errorf("%+v lists\n%s\nwant\n%s", q, got, want)
						}
					}
				}
			}
			for _, name := range names {
				for p, text := range corpus[name] {
					full := name + "/" + p
					for _, given := range []string{full, strings.ToUpper(full)} {
						got, err := remote.Read(t.Context(), given, nil)
						if owner(full) == name && (err != nil || got.Path != full || strings.Join(got.Lines, "\n")+"\n" != text) {
							t.Errorf("read %s: %+v, %v", given, got, err)
						}
						if err == nil && got.Lines[0] == strings.SplitN(text, "\n", 2)[0] && owner(full) != name {
							t.Errorf("read %s: what %s has there", given, name)
						}
					}
				}
			}
			ranked, err := remote.SearchCode(t.Context(), search.CodeQuery{Query: "alpha session", Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			wanted, err := local.SearchCode(t.Context(), search.CodeQuery{Query: "alpha session", Limit: 100})
			if err != nil || ranked.Total != wanted.Total {
				t.Errorf("%d chunks are ranked, want %d", ranked.Total, wanted.Total)
			}
			nestedChanges(t, remote, strings.Fields(checkouts), owner)
		})
	}
}

// nestedWorld serves a corpus, and has some of it checked out.
func nestedWorld(t *testing.T, corpus map[string]map[string]string, checkouts []string) *quarry.Workspace {
	var served []zoekttest.Repo
	for name, files := range corpus {
		served = append(served, zoekttest.Repo{Name: name, Commit: "of-" + name, Files: files})
	}
	opts := quarry.ServersOptions{Servers: startServer(t, served...).Addr}
	for _, name := range checkouts {
		dir := t.TempDir()
		for p, text := range corpus[name] {
			putFile(t, filepath.Join(dir, p), text)
		}
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		opts.Checkouts = append(opts.Checkouts, quarry.Checkout{Repo: name, Workspace: ws})
	}
	ws, err := quarry.OpenServers(&opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func listed(t *testing.T, ws *quarry.Workspace, q search.FindQuery) string {
	t.Helper()
	r, err := ws.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range r.Entries {
		fmt.Fprintln(&b, e.Path, e.Folder)
	}
	return b.String()
}

// nestedChanges: a path is changed in the checkout that has it, and if a server
// has it, nowhere.
func nestedChanges(t *testing.T, remote *quarry.Workspace, checkouts []string, owner func(string) string) {
	for _, full := range []string{"a/x", "a/b/x", "a/b/c/x", "a/lib/own.txt", "a/lib/deep/z", "b/x"} {
		mine := slices.Contains(checkouts, owner(full))
		name := owner(full)
		for _, given := range []string{full, strings.ToUpper(name) + full[len(name):]} {
			c, err := remote.Write(t.Context(), given, []byte("changed by "+given+"\n"), nil)
			if mine != (err == nil) || err != nil && fault.CodeOf(err) != fault.ReadOnly {
				t.Errorf("write %s: %v", given, err)
			}
			if err != nil {
				continue
			}
			if !strings.HasPrefix(c.ID, owner(full)+":") || c.Paths[0] != full {
				t.Errorf("write %s: %+v", given, c)
			}
			if got, err := remote.Read(t.Context(), full, nil); err != nil || got.Lines[0] != "changed by "+given {
				t.Errorf("%s after the change: %+v, %v", full, got, err)
			}
		}
	}
	if slices.Contains(checkouts, "a") {
		if _, err := remote.Delete(t.Context(), "a/lib", nil); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("deleting a folder with a repository in it: %v", err)
		}
	}
}
