package fuzzy

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/stress"
)

var tree = []string{
	"README.md", "docs/SEARCH.md", "internal/cli/search.go", "internal/cli/searchFlags.go", "internal/index/snapshot.go",
	"internal/searcher/find.go", "internal/searcher/server-find.go", "net/core/dev_addr_lists.c", "net/ipv4/tcp_input.c",
	"net/ipv4/tcp_output.c", "net/sched/sch_fq_codel.c", "src/Größe/Übung.txt", "web/userProfileCard.tsx", "web/user-profile.test.tsx",
}

func TestRank(t *testing.T) {
	for _, c := range []struct{ name, query, want string }{
		{"name", "tcp_input.c", "net/ipv4/tcp_input.c"},
		{"stem", "find", "internal/searcher/find.go"},
		{"stem in another case", "SEARCH", "docs/SEARCH.md"},
		{"up to the first dot", "user-profile", "web/user-profile.test.tsx"},
		{"folder and stem", "cli/search", "internal/cli/search.go"},
		{"folder and stem, apart", "net/tcp_out", "net/ipv4/tcp_output.c"},
		{"backslashes", `internal\index\snapshot.go`, "internal/index/snapshot.go"},
		{"words in any order", "input tcp net", "net/ipv4/tcp_input.c"},
		{"words of a name in any order", "lists-addr-dev", "net/core/dev_addr_lists.c"},
		{"prefix", "snap", "internal/index/snapshot.go"},
		{"initials", "dal", "net/core/dev_addr_lists.c"},
		{"initials of humps", "upc", "web/userProfileCard.tsx"},
		{"a word", "codel", "net/sched/sch_fq_codel.c"},
		{"a hump", "card", "web/userProfileCard.tsx"},
		{"another letter", "snapahot", "internal/index/snapshot.go"},
		{"a letter more", "snappshot", "internal/index/snapshot.go"},
		{"a letter less", "snpshot", "internal/index/snapshot.go"},
		{"letters exchanged", "snapsoht", "internal/index/snapshot.go"},
		{"a typo in one of several words", "tpc input", "net/ipv4/tcp_input.c"},
		{"a typo in a folder", "serrcher/find", "internal/searcher/find.go"},
		{"_ for -", "server_find", "internal/searcher/server-find.go"},
		{"- for _", "tcp-output", "net/ipv4/tcp_output.c"},
		{"a blank for _", "tcp output", "net/ipv4/tcp_output.c"},
		{"scattered letters", "sfqcdl", "net/sched/sch_fq_codel.c"},
		{"other alphabets", "übung", "src/Größe/Übung.txt"},
		{"a letter that is composed otherwise", "u\u0308bung", "src/Größe/Übung.txt"},
		{"folder of another alphabet", "GRÖSSE/üb", ""},
		{"nothing", "kubernetes", ""},
	} {
		q, err := Compile(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if list, _ := q.Rank(tree, 1, 0, 0); len(list) > 0 {
			got = tree[list[0].Index]
		}
		if got != c.want {
			t.Errorf("%s: %q finds %q, want %q", c.name, c.query, got, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for query, want := range map[string]string{"": "empty", " / ": "empty", "*": "empty", strings.Repeat("a ", 17): "more than 16", strings.Repeat("a", 2000): "longer than"} {
		if _, err := Compile(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%.20q): %v, want %q", query, err, want)
		}
	}
}

// If a name equals the query, names with typos are dropped.
func TestExactNameEndsTypos(t *testing.T) {
	paths := []string{"a/tests.go", "b/test.go"}
	q, _ := Compile("test.go")
	if list, _ := q.Rank(paths, 1, 0, 0); len(list) != 1 || list[0].Index != 1 {
		t.Errorf("%v, want b/test.go alone", list)
	}
}

// The result depends only on the paths: not on their order, the number of workers, or the
// previously examined path.
func TestDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command: install Go")
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no source of Go beside its command: install Go from go.dev")
	}
	paths := listTree(t, root)
	shuffled := slices.Clone(paths)
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	names := func(q *Query, paths []string, workers int) (list []string) {
		all, _ := q.Rank(paths, workers, 0, 0)
		for _, m := range all {
			list = append(list, paths[m.Index])
			if scoreOf(q, paths[m.Index]) != m.Score {
				t.Errorf("%s: score %d by itself, %d in the list", paths[m.Index], scoreOf(q, paths[m.Index]), m.Score)
			}
		}
		return list
	}
	right, n := 0, 0
	for _, k := range kinds {
		for _, a := range asks(k, paths, 12) {
			q, err := Compile(a.query)
			if err != nil {
				t.Fatal(err)
			}
			want := names(q, paths, 1)
			if diff := cmp.Diff(want, names(q, shuffled, 3)); diff != "" {
				t.Errorf("%q:\n%s", a.query, diff)
			}
			n++
			if len(want) > 0 && want[0] == a.want {
				right++
			}
		}
	}
	if right*10 < n*8 {
		t.Errorf("%d of %d queries have the path they were made of first, want 80 %%", right, n)
	}
}

func FuzzScore(f *testing.F) {
	f.Add("tcp in", "net/ipv4/tcp_input.c")
	f.Add("ä/İ", "Ä/i̇x.go")
	f.Add("a/b c.d", "/a//b.c.d/")
	f.Fuzz(func(t *testing.T, query, path string) {
		q, err := Compile(query)
		if err != nil {
			return
		}
		first := scoreOf(q, path)
		if again := scoreOf(q, path); again != first || first < 0 {
			t.Errorf("%q in %q: %d, then %d", query, path, first, again)
		}
	})
}

// scoreOf returns the score of one path alone; 0 means no match.
func scoreOf(q *Query, s string) int {
	var p path
	return q.score(&p, s, 0)
}

// The letter masks of names, and ordering by numbers, only save work and don't change results.
func TestShortcuts(t *testing.T) {
	rng := stress.Rand(7)
	word := func() string {
		return []string{"tcp", "input", "Sched", "fair", "a", "é", "drv", "net_x", "i2c-core", "b.c", "main"}[rng.IntN(11)]
	}
	for range 3000 {
		var paths []string
		for range 1 + rng.IntN(30) {
			p := word()
			for range rng.IntN(4) {
				p += []string{"/", "/", "_", "-", "."}[rng.IntN(5)] + word()
			}
			paths = append(paths, p)
		}
		text := word()
		for range rng.IntN(3) {
			text += []string{" ", "/", "_", ""}[rng.IntN(4)] + word()
		}
		if cut := rng.IntN(len(text)); rng.IntN(2) == 0 && cut > 0 {
			text = text[:cut-1] + text[cut:] // a typo
		}
		q, err := Compile(text)
		if err != nil {
			continue
		}
		for _, s := range paths {
			fast, slow := path{}, path{all: true}
			if a, b := q.score(&fast, s, 0), q.score(&slow, s, 0); a != b {
				t.Fatalf("%q on %q: %d, and %d when all letters are thought to be there", text, s, a, b)
			}
		}
		var list []Match
		for i := range paths {
			list = append(list, Match{Index: i, Score: 1 + rng.IntN(3)})
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b Match) int {
			if a.Score != b.Score {
				return b.Score - a.Score
			}
			if n := len(paths[a.Index]) - len(paths[b.Index]); n != 0 {
				return n
			}
			return strings.Compare(paths[a.Index], paths[b.Index])
		})
		got := sorted(list, paths)
		for i := range got {
			if got[i].Score != want[i].Score || paths[got[i].Index] != paths[want[i].Index] {
				t.Fatalf("place %d is %q, want %q", i, paths[got[i].Index], paths[want[i].Index])
			}
		}
	}
}

// The first matches equal the start of the sorted list, even among equal scores.
func TestFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var paths []string
	for range 6000 {
		var p string
		for range 1 + rng.IntN(3) {
			p += string(rune('a'+rng.IntN(3))) + string(rune('a'+rng.IntN(26))) + "/"
		}
		paths = append(paths, p+"ab"[:1+rng.IntN(2)]+string(rune('a'+rng.IntN(26)))+".c")
	}
	for _, query := range []string{"a", "ab", "c", "a b", "b/a", "abz"} {
		q, err := Compile(query)
		if err != nil {
			t.Fatal(err)
		}
		all, n := q.Rank(paths, 1, 0, 0)
		if n != len(all) {
			t.Errorf("%q: %d counted, %d listed", query, n, len(all))
		}
		for _, keep := range []int{1, 2, 20, 999, len(all), len(all) + 1} {
			some, total := q.Rank(paths, 2, 0, keep)
			if total != n {
				t.Errorf("%q: %d of %d counted", query, total, n)
			}
			var got, want []string
			for _, m := range some {
				got = append(got, paths[m.Index])
			}
			for _, m := range all[:min(max(keep, 0), n)] {
				want = append(want, paths[m.Index])
			}
			if keep > 0 && !slices.Equal(got, want) {
				t.Errorf("%q: the first %d differ from the full list", query, keep)
			}
		}
	}
}

// A query of folder names matches the files below; files with that name come first.
func TestPartsOfPaths(t *testing.T) {
	paths := []string{
		"README.md", "docs/a/very/deep/folder/of/documents/about_something_else_with_a_long_name.md", "docs/index.md", "internal/cli/docs_test.go", "internal/index/docs.go", "internal/notes/searcher.go",
		"internal/searcher/code.go", "internal/searcher/deep/part.go", "internal/searcher/searcher_test.go", "searcher/internal/x.go",
	}
	const fits = 6000 // search.FuzzyFits
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"internal/searcher", []string{"internal/notes/searcher.go", "internal/searcher/searcher_test.go", "internal/searcher/code.go", "internal/searcher/deep/part.go"}},
		{"internal/searcher/", []string{"internal/notes/searcher.go", "internal/searcher/searcher_test.go", "internal/searcher/code.go", "internal/searcher/deep/part.go"}},
		{"docs", []string{"internal/index/docs.go", "internal/cli/docs_test.go", "docs/index.md", "docs/a/very/deep/folder/of/documents/about_something_else_with_a_long_name.md"}},
		{"searcher/deep", []string{"internal/searcher/deep/part.go"}},
	} {
		q, err := Compile(c.query)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := q.Rank(paths, 1, fits, 0)
		var got []string
		for _, m := range list {
			got = append(got, paths[m.Index])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
}

// Joined prefixes of the words of a path are found.
func TestGlued(t *testing.T) {
	paths := []string{
		"kernel/sched/core.c", "kernel/sched/cpufreq.c", "kernel/power/snapshot.c", "drivers/net/ethernet/intel/e1000/e1000_main.c",
		"internal/searcher/find.go", "net/ipv4/tcp_input.c", "kernel/locking/mutex.c",
	}
	const fits = 6000 // search.FuzzyFits: the limit of search_by_path if no path equals the pattern
	for _, c := range []struct{ query, want string }{
		{"kernschcore", "kernel/sched/core.c"}, {"schedcpufr", "kernel/sched/cpufreq.c"}, {"intsearfind", "internal/searcher/find.go"},
		{"netipv4tcpin", "net/ipv4/tcp_input.c"}, {"kerlockmut", "kernel/locking/mutex.c"}, {"drivinte1000main", "drivers/net/ethernet/intel/e1000/e1000_main.c"},
	} {
		q, err := Compile(c.query)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := q.Rank(paths, 1, fits, 1)
		if len(list) == 0 || paths[list[0].Index] != c.want {
			t.Errorf("%s: %v, want %s", c.query, list, c.want)
		}
	}
	if q, _ := Compile("kschedc"); q != nil {
		if list, _ := q.Rank([]string{"a/b/c.c"}, 1, 0, 1); len(list) > 0 {
			t.Errorf("letters that are not there fit: %v", list)
		}
	}
}

// If the query has the dot, its extension is incomplete and the rest of the extension counts
// as unmatched.
func TestBegunExtension(t *testing.T) {
	paths := []string{"proto/test.proto", "proto/test.pb.go", "proto/testing.go"}
	for query, want := range map[string]string{"proto/test.": "proto/test.pb.go", "proto/test.pr": "proto/test.proto", "proto/test": "proto/test.proto"} {
		q, err := Compile(query)
		if err != nil {
			t.Fatal(err)
		}
		if list, _ := q.Rank(paths, 1, 0, 0); len(list) == 0 || paths[list[0].Index] != want {
			t.Errorf("%q gives %v, want %s first", query, list, want)
		}
	}
}
