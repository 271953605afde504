package repos

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/fault"
	"quarry/internal/ignore"
	"quarry/internal/policy"
	"quarry/internal/remote"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
	"quarry/internal/zoekt"
	"quarry/internal/zoekt/zoekttest"
	"quarry/match"
)

// asking makes a client of servers.
func asking(t *testing.T, servers string) remote.Client {
	t.Helper()
	c, err := zoekt.New(servers, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func serve(t *testing.T, repos ...zoekttest.Repo) *zoekttest.Server {
	t.Helper()
	s, err := zoekttest.Start(repos...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func tree(t *testing.T, opts Options) *Tree {
	t.Helper()
	tr, err := New(&opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

func ask(t *testing.T, tr *Tree) *Question {
	t.Helper()
	q, err := tr.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// repo is a repository whose files have their own path as content.
func repo(name string, paths ...string) zoekttest.Repo {
	r := zoekttest.Repo{Name: name, Commit: "of-" + name, Files: map[string]string{}}
	for _, p := range paths {
		r.Files[p] = "text of " + p + "\n"
	}
	return r
}

func TestClean(t *testing.T) {
	for _, c := range []struct {
		given, want string
		bad         fault.Code
	}{
		{"", "", ""},
		{".", "", ""},
		{"/", "", ""},
		{"a/b", "a/b", ""},
		{"/a/b/", "a/b", ""},
		{"./a//b/../c", "a/c", ""},
		{`a\b`, "a/b", ""},
		{"a/..", "", ""},
		{"..", "", fault.OutsideRoot},
		{"a/../../b", "", fault.OutsideRoot},
		{"a\x00b", "", fault.InvalidArgument},
	} {
		got, err := Clean(c.given)
		if got != c.want || rootfs.KindOf(err) != c.bad {
			t.Errorf("Clean(%q) = %q, %v; want %q, %v", c.given, got, err, c.want, c.bad)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		checkouts []string
		want      string
	}{
		{[]string{"b", "a"}, ""},
		{[]string{"a", "b", "a"}, "checkout: a is named twice"},
		{[]string{"a/"}, `checkout: invalid repository name "a/"`},
		{[]string{""}, `checkout: invalid repository name ""`},
		{[]string{"../a"}, `checkout: invalid repository name "../a"`},
	} {
		got := ""
		if tr, err := New(&Options{Client: asking(t, "localhost:1"), Checkouts: c.checkouts}); err != nil {
			got = err.Error()
		} else {
			tr.Close()
		}
		if got != c.want {
			t.Errorf("checkouts %q: %q, want %q", c.checkouts, got, c.want)
		}
	}
}

// TestLocate: a path names a folder of repositories, a repository, or a file or
// folder in the one with the longest name; another case will do where nothing
// has the case that was given.
func TestLocate(t *testing.T) {
	policy, err := policy.New(policy.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t,
		repo("org/app", "main.go", "src/x.go", "src/X.go", "Doc/Read.me", ".env", "lib/shadowed.go"),
		repo("org/app/lib", "lib.go"), repo("Org2/tool", "t.go"), repo("here", "a.go"),
		repo("Case", "x"), repo("case", "x"))
	q := ask(t, tree(t, Options{Client: asking(t, s.Addr), Policy: policy, Checkouts: []string{"here", "deep/er/one"}}))
	for _, c := range []struct {
		given, path, repo, checkout, rel string
		file                             bool
		bad                              fault.Code
	}{
		{given: ""},
		{given: "org", path: "org"},
		{given: "ORG", path: "org"},
		{given: "deep/ER", path: "deep/er"},
		{given: "org/app", path: "org/app", repo: "org/app"},
		{given: "ORG/App", path: "org/app", repo: "org/app"},
		{given: "org/app/main.go", path: "org/app/main.go", repo: "org/app", rel: "main.go", file: true},
		{given: "org2/TOOL/T.go", path: "Org2/tool/t.go", repo: "Org2/tool", rel: "t.go", file: true},
		{given: "Case", path: "Case", repo: "Case"},
		{given: "case", path: "case", repo: "case"},
		{given: "org/app/src", path: "org/app/src", repo: "org/app", rel: "src"},
		{given: "org/app/doc", path: "org/app/Doc", repo: "org/app", rel: "Doc"},
		{given: "org/app/doc/read.ME", path: "org/app/Doc/Read.me", repo: "org/app", rel: "Doc/Read.me", file: true},
		{given: "org/app/src/X.go", path: "org/app/src/X.go", repo: "org/app", rel: "src/X.go", file: true},
		{given: "org/app/SRC/x.GO", repo: "org/app", bad: fault.AmbiguousPath},
		{given: "org/app/lib/lib.go", path: "org/app/lib/lib.go", repo: "org/app/lib", rel: "lib.go", file: true},
		{given: "org/app/lib/shadowed.go", bad: fault.NotFound},
		{given: "org/app/.env", bad: fault.ProtectedPath},
		{given: "org/ap", bad: fault.NotFound},
		{given: "nowhere", bad: fault.NotFound},
		{given: "../org", bad: fault.OutsideRoot},
		{given: "here/b.go", path: "here/b.go", checkout: "here", rel: "b.go"},
		{given: "HERE/b.go", path: "here/b.go", checkout: "here", rel: "b.go"},
		{given: "deep/er/one", path: "deep/er/one", checkout: "deep/er/one"},
	} {
		at, err := q.Locate(t.Context(), c.given)
		if rootfs.KindOf(err) != c.bad {
			t.Errorf("Locate(%q): %v, want %v", c.given, err, c.bad)
		}
		if err != nil {
			continue
		}
		name := ""
		if at.Repo != nil {
			name = at.Repo.Name
		}
		got := [...]any{at.Path, name, at.Checkout, at.Rel, at.IsFile}
		if want := [...]any{c.path, c.repo, c.checkout, c.rel, c.file}; got != want {
			t.Errorf("Locate(%q) = %q, want %q", c.given, got, want)
		}
	}
}

func listing(checkouts string, repos ...string) *Listing {
	l := &Listing{checkouts: strings.Fields(checkouts)}
	for _, r := range repos {
		name, size, _ := strings.Cut(r, ":")
		files := map[string]int{"": 1, "small": firstFiles / 2, "large": mostFiles}[size]
		l.Repos = append(l.Repos, remote.Repo{Name: name, Files: files})
	}
	slices.SortFunc(l.Repos, func(a, b remote.Repo) int { return comparePaths(a.Name, b.Name) })
	return l
}

// TestParts: what is asked about together is neighbours, not too many files at
// first, and never two that a third lies between.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name  string
		list  *Listing
		below string
		want  string
	}{
		{"nothing", listing(""), "", ""},
		{"small ones together", listing("", "a", "b", "c"), "", "a b c"},
		{"the first part is small", listing("", "a:small", "b:small", "c:small", "d:small"), "", "a b | c d"},
		{"a large one alone", listing("", "a", "b:large", "c"), "", "a | b | c"},
		{"nested ones together", listing("", "a:large", "a/x:large", "a/y:large"), "", "a a/x a/y"},
		{"a-b comes before what is in a", listing("", "a", "a-b", "a/x"), "", "a-b a a/x"},
		{"a checkout between", listing("b", "a", "c"), "", "a | [b] | c"},
		{"a checkout takes the place of its repository", listing("b", "a", "b", "c"), "", "a | [b] | c"},
		{"below a folder", listing("o/z p/z", "o/a", "oo", "p/a"), "o", "o/a | [o/z]"},
		{"in a checkout", listing("a", "a", "a/b", "a/c", "b"), "", "[a]{a/b | a/c} | b"},
		{"a checkout inside", listing("a/b", "a", "a/b", "a/b/c", "a/c", "b"), "", "a a/c b{[a/b]{a/b/c}}"},
		{"checkouts in one another", listing("a a/b", "a/b/c"), "", "[a]{[a/b]{a/b/c}}"},
	} {
		if got := showParts(c.list.parts(&Place{Path: c.below})); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	l := listing("a/b/d", "a", "a/b/c", "a/x")
	at := &Place{Path: "a/b", Repo: l.repo("a"), Rel: "b"}
	if got := showParts(l.parts(at)); got != "a a/b/c{[a/b/d]}" {
		t.Errorf("below a folder of a repository: %s", got)
	}
}

func showParts(list []Part) string {
	var out []string
	for _, p := range list {
		var names []string
		if p.Checkout != "" {
			names = append(names, "["+p.Checkout+"]")
		}
		for _, r := range p.Repos {
			names = append(names, r.Name)
		}
		s := strings.Join(names, " ")
		if len(p.Inside) > 0 {
			s += "{" + showParts(p.Inside) + "}"
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

// TestToChange: a change goes to the checkout with the longest name, whatever
// case it is written in, unless the folder of that case is there; and to none if
// a server has the longer name.
func TestToChange(t *testing.T) {
	one := serve(t, repo("a/b", "x"), repo("s", "x"))
	tr := tree(t, Options{Client: asking(t, one.Addr), Checkouts: []string{"a", "s/t", "deep"}, Find: func(checkout, rel string) (string, bool, error) {
		for _, has := range []string{"", "C", "C/x"} {
			if rel == "" || checkout == "deep" && has == rel {
				return rel, rel == "C/x", nil
			}
		}
		return "", false, &fault.PathError{Op: "resolve", Path: rel, Kind: fault.NotFound}
	}})
	for _, c := range []struct {
		given, checkout, rel string
		bad                  fault.Code
	}{
		{"a/x", "a", "x", ""},
		{"A/X/y", "a", "X/y", ""},
		{"a", "a", "", ""},
		{"a/b/x", "", "", ""},
		{"A/b/x", "", "", ""},
		{"a/B/new", "", "", ""},
		{"a/b", "", "", ""},
		{"s/x", "", "", ""},
		{"s/t/x", "s/t", "x", ""},
		{"S/T/x", "s/t", "x", ""},
		{"s/T/new", "s/t", "new", ""},
		{"nowhere/x", "", "", ""},
		{"../x", "", "", fault.OutsideRoot},
	} {
		checkout, rel, err := tr.ToChange(t.Context(), c.given)
		if checkout != c.checkout || rel != c.rel || rootfs.KindOf(err) != c.bad {
			t.Errorf("%s: %q in %q, %v; want %q in %q", c.given, rel, checkout, err, c.rel, c.checkout)
		}
	}
	one.Set(repo("deep/c", "x"), repo("deep/q/r", "x"))
	tr.relist()
	for given, want := range map[string]string{"deep/C/x": "deep", "deep/C/new/one": "deep", "deep/c/x": "", "DEEP/c/new": ""} {
		if got, _, err := tr.ToChange(t.Context(), given); got != want || err != nil {
			t.Errorf("%s: in %q, %v, want %q", given, got, err, want)
		}
	}
	if _, _, err := tr.ToChange(t.Context(), "deep/q"); rootfs.KindOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), "deep/q/r lies in it") {
		t.Errorf("a folder that a repository lies in: %v", err)
	}
	one.Close()
	tr.relist()
	if got, _, err := tr.ToChange(t.Context(), "deep/c/x"); got != "" || err != nil {
		t.Errorf("without servers the last names count: %q, %v", got, err)
	}
}

func TestNested(t *testing.T) {
	l := listing("a/here b", "a", "a-b", "a/x", "a/x/deep", "ab", "c")
	for name, want := range map[string]string{"a": "a/here a/x a/x/deep", "a/x": "a/x/deep", "a-b": "", "ab": "", "b": "", "gone": ""} {
		if got := strings.Join(l.nested(name), " "); got != want {
			t.Errorf("nested in %s: %s, want %s", name, got, want)
		}
	}
}

func TestDepthIn(t *testing.T) {
	for _, c := range []struct {
		at       Place
		checkout string
		most     int
		want     int
		ok       bool
	}{
		{Place{}, "a", 0, 0, true}, // no limit
		{Place{}, "a", 1, 0, false},
		{Place{}, "a", 2, 1, true},
		{Place{Path: "o"}, "o/a", 2, 1, true},
		{Place{}, "o/a", 2, 0, false},
		{Place{Path: "o/a/src", Checkout: "o/a", Rel: "src"}, "o/a", 1, 1, true},
	} {
		if got, ok := c.at.DepthIn(c.checkout, c.most); ok != c.ok || ok && got != c.want {
			t.Errorf("%d below %q in %s: %d, %v, want %d, %v", c.most, c.at.Path, c.checkout, got, ok, c.want, c.ok)
		}
	}
}

// TestFacts: ignore files are known by their folder, and so is what a server
// leaves out, once for a commit.
func TestFacts(t *testing.T) {
	r := zoekttest.Repo{Name: "r", Commit: "1", Files: map[string]string{
		".gitignore": "*.log\n", "sub/.ignore": "secret\n", "sub/.rgignore": "*.tmp\n", "not.ignore": "*.go\n",
		"tiny": "x\n", "bin": "a\x00b", "big": strings.Repeat("alpha\n", 400_000),
		"marker": "NOT-INDEXED: a text that begins like what a server keeps in place of one, but longer\n",
	}}
	s := serve(t, r)
	tr := tree(t, Options{Client: asking(t, s.Addr)})
	list, err := tr.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	repos := []*remote.Repo{&list.Repos[0]}
	if _, known := tr.factsOf(repos[0]); known {
		t.Error("known before it was asked for")
	}
	for range 2 {
		if err := tr.loadFacts(t.Context(), 0, repos); err != nil {
			t.Fatal(err)
		}
	}
	if s.Asked() != 2 { // the list, the facts
		t.Errorf("%d calls", s.Asked())
	}
	f, _ := tr.factsOf(repos[0])
	why := map[string]Why{}
	for path, a := range f.absent {
		why[path] = a.Why
	}
	if diff := cmp.Diff(map[string]Why{"tiny": Tiny, "bin": Binary, "big": TooLarge}, why); diff != "" {
		t.Errorf("what is absent (-want +got):\n%s", diff)
	}
	if got := f.absent["big"].Error(); got != "the server doesn't have it: it exceeds the maximum size limit" {
		t.Error(got)
	}
	kinds := map[string]int{}
	for dir, sets := range f.rules {
		kinds[dir] = len(sets)
	}
	if diff := cmp.Diff(map[string]int{"": 1, "sub": 2}, kinds); diff != "" || f.rules[""][0].Kind != ignore.Git {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// TestUnknownRules: an ignore file whose content no server has hides nothing, and
// is named with every answer that it may be about.
func TestUnknownRules(t *testing.T) {
	r := repo("r", "out/a.go", "out/deep/b.go", "in/c.go", "in/d.log", "gone/e.go")
	r.Files["out/.gitignore"], r.Files[".gitignore"], r.Files["gone/.ignore"] = "*\n", "*.log\n/gone/\n", "*"
	q := ask(t, tree(t, Options{Client: asking(t, serve(t, r).Addr)}))
	for _, c := range []struct {
		below, want, doubts string
		all                 bool
	}{
		{"r", "r/in/c.go r/out/a.go r/out/deep/b.go", "r/out/.gitignore", false},
		{"r/out/deep", "r/out/deep/b.go", "r/out/.gitignore", false},
		{"r/in", "r/in/c.go", "", false},
		{"r", "r/gone/e.go r/in/c.go r/in/d.log r/out/a.go r/out/deep/b.go", "", true},
	} {
		at, err := q.Locate(t.Context(), c.below)
		if err != nil {
			t.Fatal(err)
		}
		files, left, err := q.Candidates(t.Context(), &q.Parts(at)[0], q.Judge(at, &Want{Walk: walk.Options{NoIgnore: c.all}}))
		if err != nil {
			t.Fatal(err)
		}
		var got, doubts []string
		for _, f := range files {
			got = append(got, f.Path)
		}
		for _, k := range left.Skipped {
			doubts = append(doubts, k.Path)
			if !strings.HasSuffix(k.Err.Error(), "it hides nothing: the server doesn't keep files of one or two bytes") {
				t.Error(k.Err)
			}
		}
		if strings.Join(got, " ") != c.want || strings.Join(doubts, " ") != c.doubts || left.Count(walk.Unreadable) != len(doubts) {
			t.Errorf("below %s: %q, in doubt %q (%d)", c.below, got, doubts, left.Count(walk.Unreadable))
		}
	}
}

// TestForget: facts about commits that are gone don't pile up.
func TestForget(t *testing.T) {
	tr := tree(t, Options{Client: asking(t, "localhost:1")})
	l := listing("", "a", "b")
	l.Repos[0].Commit = "now"
	tr.facts[factsKey(&l.Repos[0])] = facts{}
	for i := range 100 {
		tr.facts["a\x00"+strings.Repeat("x", i)] = facts{}
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.forget(l)
	if _, kept := tr.facts[factsKey(&l.Repos[0])]; !kept || len(tr.facts) != 1 {
		t.Errorf("%d facts are left", len(tr.facts))
	}
}

// TestListShared: questions that come together, or one soon after the other,
// list the servers once.
func TestListShared(t *testing.T) {
	s := serve(t, repo("a", "x"), repo("../b", "x"))
	tr := tree(t, Options{Client: asking(t, s.Addr)})
	release := s.Hang()
	var all sync.WaitGroup
	list := func() {
		if l, err := tr.List(context.Background()); err != nil || len(l.Repos) != 1 || l.Repos[0].Name != "a" {
			t.Errorf("%+v, %v", l, err)
		}
	}
	all.Go(list)
	for s.Asked() == 0 {
		runtime.Gosched()
	}
	for range 8 {
		all.Go(list)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tr.List(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits for a list may leave: %v", err)
	}
	release()
	all.Wait()
	list()
	if s.Asked() != 1 {
		t.Errorf("%d calls", s.Asked())
	}
	tr.relist()
	list()
	if s.Asked() != 2 {
		t.Errorf("%d calls after relist", s.Asked())
	}
}

// TestCandidates: files come in path order over repositories and servers, with
// what a walk would leave out counted, and nothing of the server that is gone.
func TestCandidates(t *testing.T) {
	app := repo("app", "b.go", "a.go", "x.log", ".hidden", "lib/shadowed.go", "sub/c.go", "tiny")
	app.Files[".gitignore"], app.Files["tiny"] = "*.log\n", "x"
	one, two := serve(t, app), serve(t, repo("app/lib", "l.go"), repo("app-x", "z.go"))
	tr := tree(t, Options{Client: asking(t, one.Addr+","+two.Addr)})
	q := ask(t, tr)
	need := match.Need{Op: match.NeedOneOf, Texts: []match.NeedText{{Text: "text of"}}}
	for _, c := range []struct {
		below, want string
		kill        bool
	}{
		{"", "app-x/z.go app/a.go app/b.go app/lib/l.go app/sub/c.go app/tiny!", false},
		{"app", "app/a.go app/b.go app/lib/l.go app/sub/c.go app/tiny!", false},
		{"app/sub", "app/sub/c.go", false},
		{"", "app/a.go app/b.go app/sub/c.go app/tiny!", true},
	} {
		if c.kill {
			two.Close()
		}
		at, err := q.Locate(t.Context(), c.below)
		if err != nil {
			t.Fatal(err)
		}
		parts := q.Parts(at)
		if len(parts) != 1 {
			t.Fatalf("%d parts", len(parts))
		}
		files, left, err := q.Candidates(t.Context(), &parts[0], q.Judge(at, &Want{Need: need}))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			name := f.Path
			if f.Absent != nil {
				name += "!"
			}
			got = append(got, name)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("below %q: %s, want %s", c.below, got, c.want)
		}
		if want := len(at.Rel) == 0; (left.Count(walk.Ignored) == 1) != want || (left.Count(walk.Hidden) == 1) != want {
			t.Errorf("below %q: left out %v", c.below, left.Counts)
		}
	}
	if len(q.Failures) != 1 || q.Failures[0].Name != two.Addr || q.Err() != nil {
		t.Errorf("failures %v, %v", q.Failures, q.Err())
	}
	err := q.scatter(t.Context(), q.Parts(&Place{})[0].Repos, func(server int, _ []*remote.Repo) (func(), error) {
		if server != 0 {
			t.Error("the server that failed was asked again")
		}
		return func() {}, nil
	})
	if err != nil {
		t.Error(err)
	}
	one.Close()
	if _, err := tr.Ask(t.Context()); !errors.Is(err, ErrServers) {
		t.Errorf("no server is left: %v", err)
	}
}

// TestSilence: when no server answers, one sentence names all of them.
func TestSilence(t *testing.T) {
	tr := tree(t, Options{Client: asking(t, "127.0.0.1:1,127.0.0.1:2")})
	_, err := tr.Ask(t.Context())
	var failed remote.Failure
	if !errors.Is(err, ErrServers) || !errors.As(err, &failed) {
		t.Fatalf("%v", err)
	}
	got := strings.ReplaceAll(err.Error(), withoutAddress(failed.Err).Error(), "refused")
	if got != "no server answered: 127.0.0.1:1 (refused), 127.0.0.1:2 (refused); check the addresses, and that the servers run and can be reached from here" {
		t.Error(got)
	}
}

// TestBatches: contents come in the order of the files, and an end by whoever
// reads them ends the fetching.
func TestBatches(t *testing.T) {
	r := repo("r")
	var files []File
	for i := range 400 {
		p := string(rune('a'+i/26)) + string(rune('a'+i%26))
		r.Files[p] = "text of " + p
	}
	s := serve(t, r)
	q := ask(t, tree(t, Options{Client: asking(t, s.Addr)}))
	for p := range r.Files {
		f, ok := q.FileAt("r/" + p)
		if !ok || f.Rel != p {
			t.Fatalf("%+v", f)
		}
		files = append(files, f)
	}
	files[7].Absent = &Absence{Why: Tiny}
	n, sizes := 0, []int{}
	for b := range q.Batches(t.Context(), files) {
		sizes = append(sizes, len(b.Files))
		for i := range b.Files {
			if d := b.Doc(i); n == 7 && d != nil || n != 7 && (d == nil || string(d.Content) != "text of "+files[n].Rel || d.Commit != r.Commit) {
				t.Errorf("file %d: %+v", n, d)
			}
			n++
		}
	}
	if diff := cmp.Diff([]int{16, 32, 64, 128, 128, 32}, sizes); diff != "" || n != len(files) {
		t.Errorf("%d files, batches of %v", n, sizes)
	}
	for range q.Batches(t.Context(), files) {
		break
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range q.Batches(gone, files) {
		t.Error("a batch for who is gone")
	}
}

// TestSizes: a size is that of the content, and 0 where the server has a note
// in its place. What only begins like such a note is a text.
func TestSizes(t *testing.T) {
	r := repo("r", "a")
	r.Files["bin"] = "a\x00b"
	r.Files["marker"] = notIndexed + strings.Repeat("x", 100)
	q := ask(t, tree(t, Options{Client: asking(t, serve(t, r).Addr)}))
	var files []File
	for _, p := range []string{"r/marker", "r/bin", "r/a"} {
		f, _ := q.FileAt(p)
		files = append(files, f)
	}
	got, err := q.Sizes(t.Context(), files)
	if want := []int64{int64(len(r.Files["marker"])), 0, int64(len(r.Files["a"]))}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestKnown: who has a repository checked out learns the checksums of its
// files, fetched once for a commit, and which could match.
func TestKnown(t *testing.T) {
	r := repo("r", "a", "b")
	s := serve(t, r, repo("other", "a"))
	tr := tree(t, Options{Client: asking(t, s.Addr), Checkouts: []string{"r", "unserved"}})
	q := ask(t, tr)
	need := match.Need{Op: match.NeedOneOf, Texts: []match.NeedText{{Text: "text of b"}}}
	for range 2 {
		k, err := q.Known(t.Context(), "r", need)
		if err != nil {
			t.Fatal(err)
		}
		want := &Known{Commit: "of-r", Sums: map[string]uint64{
			"a": Checksum([]byte(r.Files["a"])), "b": Checksum([]byte(r.Files["b"])),
		}, Matches: map[string]bool{"b": true}}
		if diff := cmp.Diff(want, k); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if s.Asked() != 4 { // list, sums, and two questions
		t.Errorf("%d calls", s.Asked())
	}
	for name, need := range map[string]match.Need{"unserved": need, "r": {}} {
		if k, err := q.Known(t.Context(), name, need); k != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, k, err)
		}
	}
	s.Set(zoekttest.Repo{Name: "r", Commit: "newer", Files: r.Files})
	if k, err := q.Known(t.Context(), "r", need); k != nil || err != nil {
		t.Errorf("the sums are of another commit: %+v, %v", k, err)
	}
}
