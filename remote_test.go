package quarry_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/backend"
	"quarry/internal/notebook"
	"quarry/internal/notes"
	regime "quarry/internal/stress"
	"quarry/internal/zoekt/zoekttest"
	"quarry/match"
	"quarry/search"
)

// TestRemoteEqualsScan is what the backend promises: the answer to any query is
// that of a scan of the same commits in folders.
func TestRemoteEqualsScan(t *testing.T) {
	for _, x := range worlds {
		t.Run(x.name, func(t *testing.T) {
			w := x.make(t)
			remote, local := w.open(t, quarry.ServersOptions{}), w.local(t)
			rng := rand.New(rand.NewPCG(1, 2))
			hits := 0
			for i := range regime.N(300) {
				q := randomQuery(rng)
				want, wantErr := local.Search(t.Context(), q)
				got, err := remote.Search(t.Context(), q)
				if (err != nil) != (wantErr != nil) || err != nil && fault.CodeOf(err) != fault.CodeOf(wantErr) {
					t.Fatalf("query %d %+v: error %v, want %v", i, q, err, wantErr)
				}
				if err != nil {
					continue
				}
				hits += want.LinesMatched
				if diff := diffResults(want, got); diff != "" {
					t.Fatalf("query %d differs from a scan (-scan +remote):\n%+v\n%s", i, q, diff)
				}
			}
			if hits < regime.N(10_000) {
				t.Errorf("the queries found %d lines: they try too little", hits)
			}
		})
	}
}

// diffResults compares what is said of the files; how it was found out differs.
func diffResults(want, got *search.Result) string {
	for _, r := range []*search.Result{want, got} {
		r.Stats, r.Skipped = search.Stats{}, nil
		r.Denied, r.Secrets = 0, nil // servers are not asked for what the policy hides, so they can't count it
		// Folders that are passed over count as one each in a walk.
		for _, why := range []search.Reason{search.Hidden, search.Ignored, search.Protected, search.Filtered} {
			delete(r.SkippedCount, why)
		}
		if r.Stopped != "" { // how far ahead was looked
			r.SkippedCount = nil
		}
	}
	if shown(want) == shown(got) { // cmp takes most of the time otherwise
		return ""
	}
	return cmp.Diff(strings.Split(shown(want), "\n"), strings.Split(shown(got), "\n"))
}

// shown writes a result out.
func shown(r *search.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", r.Summary)
	for _, f := range r.Files {
		fmt.Fprintf(&b, "%q matched %d matches %d bytes %d\n", f.Path, f.Matched, f.Matches, f.Bytes)
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "\t%+q\n", fmt.Sprintf("%+v %s", l, l.Text))
		}
	}
	return b.String()
}

func oneOf[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

func randomQuery(rng *rand.Rand) search.Query {
	q := search.Query{Scope: randomScope(rng)}
	q.Match.Case = oneOf(rng, match.Sensitive, match.Sensitive, match.Insensitive, match.Smart)
	switch rng.IntN(10) {
	case 0, 1:
		q.Match.Syntax = match.Literal
		q.Pattern = oneOf(rng, "alpha", "task", "class", "kilo", "é", "naïve", "日本語", "foo(bar)", `"quoted"`, "repo:beta", "a.b", " ", "x", "σοφός", "session", "straße", "NOT-INDEXED", "nowhere")
	case 2, 3:
		q.Match.Syntax = match.ECMAScript
		q.Pattern = oneOf(rng, `(?<=alpha )\S+`, `(?!.*beta).*kilo`, `(\w)\1`, `\btask\b`, `[^\s]+é`, `(?<y>\d{4})-\d\d`, `todo(?=:)|TODO(?=:)`, `^\s*$`)
	case 4:
		q.Match.Syntax = match.Words
		q.Pattern = oneOf(rng, "alpha beta", "kilo", "session task class")
	default:
		q.Pattern = oneOf(rng, `alpha|beta`, `\bfunc\b.*return`, `[a-z]+\d`, `^alpha`, `beta$`, `\s{2,}`, `na.ve`, `(?i)ΣΟΦΟΣ`, `k\w+o`,
			`ta[sſ]k`, `\d{4}-\d{2}`, `caf.`, `^$`, `(?i)klass|class`, `\p{Greek}+`, `.`, `a\+b|a\.b`, `(?i:SESSION) `, `[[:upper:]]{3}`, `x{1,3}42?`, `^\tindent`, `end$`)
		if rng.IntN(4) == 0 {
			q.Patterns = []string{"return", `T\wSK`}
		}
	}
	q.Match.WholeWord, q.Match.WholeLine = rng.IntN(9) == 0, rng.IntN(15) == 0
	if rng.IntN(8) == 0 && q.Match.Syntax != match.Words {
		q.Match.Mode = match.Multiline
	}
	q.Invert = rng.IntN(12) == 0
	q.Each = len(q.Patterns) > 0 && !q.Invert && rng.IntN(2) == 0
	q.Spans, q.CountMatches = rng.IntN(2) == 0, rng.IntN(4) == 0
	q.Before, q.After = rng.IntN(3), rng.IntN(3)
	q.Detail = oneOf(rng, search.Lines, search.Lines, search.Lines, search.Counts, search.Files)
	if q.Detail == search.Files {
		q.FilesWithoutMatch = !q.Each && rng.IntN(3) == 0
	}
	switch rng.IntN(5) {
	case 0:
		q.Limits = search.Limits{Lines: 1 + rng.IntN(60), CountTo: oneOf(rng, 0, 100, 100_000)}
		q.Offset = rng.IntN(40)
	case 1:
		q.Limits = search.Limits{Files: 1 + rng.IntN(8), LinesPerFile: rng.IntN(4), CountTo: oneOf(rng, 0, 1_000_000)}
	case 2:
		if q.Detail == search.Lines {
			q.Limits = search.Limits{Blocks: 1 + rng.IntN(30), CountTo: oneOf(rng, 50, 100_000), LineBytes: oneOf(rng, 0, 20)}
			q.Offset = rng.IntN(10)
		}
	case 3:
		q.Limits = search.Limits{Bytes: 500 + rng.IntN(4000)}
	}
	return q
}

func randomScope(rng *rand.Rand) search.Scope {
	var s search.Scope
	switch rng.IntN(4) {
	case 0:
		s.Paths = []string{oneOf(rng, "alpha", "group", "group/gamma/src", "beta-x/src/pkg1", "alpha/crlf.txt", "group/gamma/build", "ALPHA/SRC",
			"alpha/.hidden", "nowhere", "alpha/bin/data.bin", "./beta-x/", "alpha/src/f00.go", "alpha/.env", "../x")}
	case 1:
		s.Paths = []string{"beta-x", "alpha/src"}
	}
	s.Dialect = oneOf(rng, search.Gitignore, search.Gitignore, search.Plain, search.Minimatch)
	if rng.IntN(2) == 0 {
		s.Globs = [][]string{
			{"*.go"}, {"*.go", "*.md"}, {"src/**"}, {"**/src/*.ts"}, {"!*.go"}, {"alpha/**"}, {"*.{go,md}"}, {"[a-m]*.txt"}, {"**/pkg1/**"},
			{"*.txt", "!latin1.txt"}, {"src"}, {"/src/f0?.*"}, {"group/*/src/**"}, {"**/*.GO"}, {"src/pkg1/"}, {"**"},
		}[rng.IntN(16)]
	}
	if rng.IntN(6) == 0 {
		s.Types = []string{"*.go", "*.ts"}
	}
	s.IncludeHidden, s.IncludeIgnored, s.StrictHidden = rng.IntN(4) == 0, rng.IntN(4) == 0, rng.IntN(8) == 0
	if rng.IntN(10) == 0 {
		s.Extra = []string{"f0*"}
	}
	if rng.IntN(6) == 0 {
		s.MaxDepth = 1 + rng.IntN(4)
	}
	return s
}

// TestRemoteFind compares path searches in the same way.
func TestRemoteFind(t *testing.T) {
	regime.SkipTiny(t)
	for _, x := range worlds {
		t.Run(x.name, func(t *testing.T) {
			w := x.make(t)
			remote, local := w.open(t, quarry.ServersOptions{}), w.local(t)
			rng := rand.New(rand.NewPCG(3, 4))
			found := 0
			for i := range 150 {
				q := search.FindQuery{Scope: randomScope(rng), Kind: oneOf(rng, search.OnlyFiles, search.OnlyFolders, search.FilesAndFolders)}
				if rng.IntN(3) == 0 {
					q.Limit, q.Offset = rng.IntN(20), rng.IntN(20)
				}
				want, wantErr := local.Find(t.Context(), q)
				got, err := remote.Find(t.Context(), q)
				if (err != nil) != (wantErr != nil) || err != nil && fault.CodeOf(err) != fault.CodeOf(wantErr) {
					t.Fatalf("query %d %+v: error %v, want %v", i, q, err, wantErr)
				}
				if err != nil {
					continue
				}
				found += want.Total
				type answer struct {
					Entries []search.Entry
					Total   int
					Stopped search.Stop
				}
				if diff := cmp.Diff(answer{want.Entries, want.Total, want.Stopped}, answer{got.Entries, got.Total, got.Stopped},
					cmpopts.IgnoreFields(search.Entry{}, "ModTime", "Size", "Mode"), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("query %d differs from a walk (-walk +remote):\n%+v\n%s", i, q, diff)
				}
			}
			if found < 500 {
				t.Errorf("the queries found %d paths: they try too little", found)
			}
		})
	}
}

// TestRemoteHostilePatterns: nothing in a pattern, path or glob can widen what
// is searched.
func TestRemoteHostilePatterns(t *testing.T) {
	for _, x := range worlds {
		t.Run(x.name, func(t *testing.T) {
			remote := x.make(t).open(t, quarry.ServersOptions{})
			for _, text := range []string{
				`x" or repo:beta-x`, `" repo:.* "`, `repo:beta`, `alpha) or (alpha`, `-not`, `or`, `lang:go`, `\"`, "alpha\x00beta", "alpha\nrepo:beta-x",
				`f:.*`, `type:repo`, `(`, `[`, `.*`, `\Qalpha\E`, "\xff\xfe", `case:yes alpha`, `sym:alpha`, `branch:HEAD alpha`,
			} {
				for _, syntax := range []match.Syntax{match.Literal, match.Rust} {
					q := search.Query{Pattern: text, Match: match.Options{Syntax: syntax}, Scope: search.Scope{Paths: []string{"alpha/src"}}}
					r, err := remote.Search(t.Context(), q)
					if err != nil {
						if code := fault.CodeOf(err); code != fault.InvalidPattern {
							t.Errorf("%q: %s: %v", text, code, err)
						}
						continue
					}
					for _, f := range r.Files {
						if !strings.HasPrefix(f.Path, "alpha/src/") {
							t.Errorf("%q in alpha/src found %s", text, f.Path)
						}
						for _, l := range f.Lines {
							if syntax == match.Literal && !strings.Contains(string(l.Text), text) {
								t.Errorf("%q found %q", text, l.Text)
							}
						}
					}
				}
				// As a path and as a glob.
				if _, err := remote.Read(t.Context(), "alpha/"+text, nil); err == nil {
					t.Errorf("a file called %q was read", text)
				}
				r, err := remote.Find(t.Context(), search.FindQuery{Scope: search.Scope{Globs: []string{text}, Paths: []string{"alpha"}}})
				if err == nil {
					for _, e := range r.Entries {
						if !strings.HasPrefix(e.Path, "alpha/") {
							t.Errorf("the glob %q in alpha found %s", text, e.Path)
						}
					}
				}
			}
		})
	}
}

// TestRemoteServerKilled: with a server gone in the middle, answers are those of
// the other one, say so, and name it.
func TestRemoteServerKilled(t *testing.T) {
	for _, x := range worlds {
		t.Run(x.name, func(t *testing.T) {
			w := x.make(t)
			remote := w.open(t, quarry.ServersOptions{Timeout: time.Minute})
			dead := strings.Split(w.servers, ",")[1]
			whole, err := remote.Search(t.Context(), search.Query{Pattern: "alpha"})
			if err != nil || !whole.Exact {
				t.Fatalf("before: %v", err)
			}
			killed := false
			for range 6 {
				began := time.Now()
				part, err := remote.Search(t.Context(), search.Query{Pattern: "alpha"})
				if took := time.Since(began); took > time.Minute {
					t.Errorf("a search took %s", took)
				}
				if err != nil {
					t.Fatal(err)
				}
				if killed {
					checkPartial(t, part, dead)
				}
				if !killed {
					w.kill()
					killed = true
				}
			}
			// What is asked for by name and can't be had is an error, not nothing.
			if _, err := remote.Search(t.Context(), search.Query{Pattern: "alpha", Scope: search.Scope{Paths: []string{"group"}}}); err == nil ||
				fault.CodeOf(err) == fault.NotFound {
				t.Errorf("a folder of the server that is gone: %v", err)
			}
			st, err := remote.Index().Status(t.Context())
			if err != nil || st.State != "failed" || !strings.Contains(st.Error, dead) {
				t.Errorf("status %+v, %v", st, err)
			}
		})
	}
}

func checkPartial(t *testing.T, r *search.Result, dead string) {
	t.Helper()
	if r.Exact || r.SkippedCount[search.Unreadable] == 0 || len(r.Skipped) == 0 || r.FilesMatched == 0 {
		t.Errorf("a part passes for all: %+v", r.Summary)
		return
	}
	named := false
	for _, k := range r.Skipped {
		named = named || k.Path == dead && k.Server
	}
	if !named {
		t.Errorf("%s is not named: %+v", dead, r.Skipped)
	}
	for _, f := range r.Files {
		if !strings.HasPrefix(f.Path, "alpha/") {
			t.Errorf("%s comes from the server that is gone", f.Path)
		}
	}
}

// TestRemoteServerHangs: one that accepts and never answers costs its deadline.
func TestRemoteServerHangs(t *testing.T) {
	regime.SkipTiny(t)
	good := startServer(t, zoekttest.Repo{Name: "alpha", Commit: "1", Files: map[string]string{"a.txt": "alpha\n"}})
	mute := startServer(t, zoekttest.Repo{Name: "beta", Commit: "2", Files: map[string]string{"b.txt": "alpha\n"}})
	w := &remoteWorld{servers: good.Addr + "," + mute.Addr}
	ws := w.open(t, quarry.ServersOptions{Timeout: 2 * time.Second})
	if r := mustSearch(t, ws, search.Query{Pattern: "alpha"}); r.FilesMatched != 2 || !r.Exact {
		t.Fatalf("%+v", r.Summary)
	}
	defer mute.Hang()()
	began := time.Now()
	r := mustSearch(t, ws, search.Query{Pattern: "alpha"})
	checkPartial(t, r, mute.Addr)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	good.Close()
	_, err := ws.Search(t.Context(), search.Query{Pattern: "alpha"})
	if !errors.Is(err, quarry.ErrServers) || !strings.Contains(err.Error(), good.Addr) || !strings.Contains(err.Error(), mute.Addr) {
		t.Errorf("no server at all: %v", err)
	}
}

// TestRemoteNotKept: what a server leaves out of its index is said, unless it
// can't matter.
func TestRemoteNotKept(t *testing.T) {
	s := startServer(t, zoekttest.Repo{Name: "r", Commit: "1", Files: map[string]string{
		"one": "\n", "two": "x\n", "big.txt": strings.Repeat("alpha\n", 400_000), "b.bin": "a\x00b", "t.txt": "alpha x\n",
	}})
	ws := (&remoteWorld{servers: s.Addr}).open(t, quarry.ServersOptions{})
	r := mustSearch(t, ws, search.Query{Pattern: "alpha"})
	if r.LinesMatched != 1 || r.Exact || r.SkippedCount[search.TooLarge] != 1 || r.SkippedCount[search.Unreadable] != 0 || r.SkippedCount[search.Binary] != 1 {
		t.Errorf("%+v", r.Summary)
	}
	r = mustSearch(t, ws, search.Query{Pattern: "x", Scope: search.Scope{Globs: []string{"!big.txt"}}})
	if r.LinesMatched != 1 || r.Exact || r.SkippedCount[search.Unreadable] != 2 {
		t.Errorf("a pattern that fits two bytes: %+v", r.Summary)
	}
	r = mustSearch(t, ws, search.Query{Pattern: "alpha", FilesWithoutMatch: true, Detail: search.Files, Scope: search.Scope{Globs: []string{"!big.txt"}}})
	if r.FilesMatched != 2 || !r.Exact {
		t.Errorf("files without: %+v", r.Summary)
	}
	for path, code := range map[string]fault.Code{"r/big.txt": fault.TooLarge, "r/b.bin": fault.NotText, "r": fault.IOError, "r/nowhere": fault.NotFound} {
		if _, err := ws.Read(t.Context(), path, nil); err == nil || path != "r" && fault.CodeOf(err) != code {
			t.Errorf("read %s: %v", path, err)
		}
	}
}

// TestRemoteRead: reading, describing and ranking go by the same paths.
func TestRemoteRead(t *testing.T) {
	for _, x := range worlds {
		t.Run(x.name, func(t *testing.T) {
			w := x.make(t)
			remote, local := w.open(t, quarry.ServersOptions{}), w.local(t)
			for _, path := range []string{"alpha/crlf.txt", "ALPHA/Latin1.txt", "group/gamma/bom.txt", "alpha/empty.txt", "beta-x/.gitignore"} {
				want, err := local.Read(t.Context(), path, &search.ReadOptions{Start: 2, MaxLines: 5})
				if err != nil {
					t.Fatal(err)
				}
				got, err := remote.Read(t.Context(), path, &search.ReadOptions{Start: 2, MaxLines: 5})
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s: %v\n%s", path, err, diff)
				}
				info, err := remote.Stat(t.Context(), path)
				if here, _ := local.Stat(t.Context(), path); err != nil || info.Size != here.Size || info.Path != here.Path || info.Folder {
					t.Errorf("stat %s: %+v, want %+v, %v", path, info, here, err)
				}
			}
			for _, path := range []string{"", "group", "group/gamma", "alpha/src"} {
				if info, err := remote.Stat(t.Context(), path); err != nil || !info.Folder {
					t.Errorf("stat %q: %+v, %v", path, info, err)
				}
			}
			for _, path := range []string{"alpha/.env", "alpha/nowhere", "nowhere/x", "../x", "alpha/bin/data.bin"} {
				_, want := local.Read(t.Context(), path, nil)
				if _, err := remote.Read(t.Context(), path, nil); err == nil || fault.CodeOf(err) != fault.CodeOf(want) {
					t.Errorf("read %s: %v, want %v", path, err, want)
				}
			}
			code, err := remote.SearchCode(t.Context(), search.CodeQuery{Query: "session class"})
			want, wantErr := local.SearchCode(t.Context(), search.CodeQuery{Query: "session class"})
			if err != nil || wantErr != nil || code.Total != want.Total || len(code.Chunks) != len(want.Chunks) {
				t.Errorf("ranked: %d of %d, want %d of %d, %v", len(code.Chunks), code.Total, len(want.Chunks), want.Total, err)
			}
			notes, err := notebook.Open(remote).Search(t.Context(), notebook.Query{Query: "kilo task"})
			wantNotes, _ := notebook.Open(local).Search(t.Context(), notebook.Query{Query: "kilo task"})
			// Servers send only notes that may match, so statistics differ and with them scores; the order must not.
			if diff := cmp.Diff(wantNotes.Notes, notes.Notes, cmpopts.IgnoreFields(notebook.Found{}, "Score")); err != nil || diff != "" {
				t.Errorf("notes: %v\n%s", err, diff)
			}
			r := mustSearch(t, remote, search.Query{Pattern: "alpha", Scope: search.Scope{Paths: []string{"group/gamma"}}})
			if !r.Stats.Remote || r.Stats.Commits["group/gamma"] != w.commits["group/gamma"] {
				t.Errorf("the answer names no commit: %+v", r.Stats)
			}
		})
	}
}

// TestRemoteRefusesChanges: files on servers stay as they are.
func TestRemoteRefusesChanges(t *testing.T) {
	s := startServer(t, zoekttest.Repo{Name: "r", Commit: "1", Files: map[string]string{"a.txt": "alpha\n"}})
	ws := (&remoteWorld{servers: s.Addr}).open(t, quarry.ServersOptions{})
	ctx := context.Background()
	calls := map[string]func() error{
		"edit": func() error {
			_, err := ws.Edit(ctx, "r/a.txt", []change.Edit{change.Edit{Old: "a", New: "b", Occurrence: change.First}}, nil)
			return err
		},
		"write":  func() error { _, err := ws.Write(ctx, "r/new", nil, nil); return err },
		"mkdir":  func() error { _, err := ws.Mkdir(ctx, "r/d", nil); return err },
		"move":   func() error { _, err := ws.Move(ctx, "r/a.txt", "r/b.txt", nil); return err },
		"delete": func() error { _, err := ws.Delete(ctx, "r/a.txt", nil); return err },
		"note": func() error {
			_, err := ws.Apply(ctx, change.Set{Ops: []change.Op{notes.Create(notes.New{Title: "x"})}})
			return err
		},
		"clean": func() error { _, err := ws.Clean(ctx); return err },
		"trash": func() error { _, _, err := ws.Trashed(ctx); return err },
		"empty": func() error { _, err := ws.EmptyTrash(ctx, time.Time{}); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, backend.ErrRemoteOnly) || fault.CodeOf(err) != fault.ReadOnly {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ws.Undo(ctx, "", nil); err == nil {
		t.Error("there was something to undo")
	}
}
