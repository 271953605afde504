package rank

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomCode returns a text with definitions, comments and plain lines of a few words.
func randomCode(r *rand.Rand, ext string) string {
	words := []string{"user", "name", "parse", "lock", "config", "open", "file", "read", "queue", "index", "cfg"}
	name := func() string {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, words[r.IntN(len(words))])
		}
		return strings.Join(parts, []string{"_", "", "_"}[r.IntN(3)])
	}
	var b strings.Builder
	for range r.IntN(14) {
		switch kind := r.IntN(5); {
		case kind == 0 && ext == ".py":
			fmt.Fprintf(&b, "class %s:\n    def %s(self):\n        %s()\n", name(), name(), name())
		case kind == 0 && ext == ".md":
			fmt.Fprintf(&b, "# %s and %s\n", name(), name())
		case kind == 0:
			fmt.Fprintf(&b, "func %s(a int) {\n\t%s(a)\n}\n", name(), name())
		case kind == 1 && ext == ".go":
			fmt.Fprintf(&b, "// %s %s\n", name(), name())
		case kind == 2:
			b.WriteString(strings.Repeat("other words here\n", r.IntN(40)))
		default:
			fmt.Fprintf(&b, "\t%s = %s\n", name(), name())
		}
	}
	return b.String()
}

// TestBestEqualsAll compares Best with judging every candidate: the files, scores and
// pieces must be equal.
func TestBestEqualsAll(t *testing.T) {
	ctx := context.Background()
	some, judged, all := 0, 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 4))
		files := map[string]string{}
		for i := range 5 + r.IntN(60) {
			ext := []string{".go", ".py", ".md"}[r.IntN(3)]
			files[fmt.Sprintf("%s%d%s", []string{"a/", "tests/", "lock/", ""}[r.IntN(4)], i, ext)] = randomCode(r, ext)
		}
		query := []string{"parse user name", "how is a file opened and read", "lock_queue", "config.open user", "index of the user names in a queue", "readFile",
			"config_index cfg", "config of a cfgFile", "cfg config"}[r.IntN(9)]
		q := NewQuery(query)
		tally := q.ReadTally()
		for _, p := range slices.Sorted(func(yield func(string) bool) {
			for p := range files {
				if !yield(p) {
					return
				}
			}
		}) {
			if k := q.Look(ctx, []byte(files[p])); k != nil {
				tally.Add(p, k)
			}
		}
		c := q.NewCorpus(tally)
		c.thorough = true
		want, err := c.Short()
		if err != nil {
			t.Fatal(err)
		}
		list := slices.Clone(want)
		for i := range want {
			c.Examine(ctx, &want[i], []byte(files[want[i].Path]))
		}
		Order(want)
		n := 1 + r.IntN(10)
		want = want[:min(n, len(want))]
		for i := range list {
			c.Skim(&list[i], []byte(files[list[i].Path]))
		}
		for i := range list { // no score exceeds its bound
			k := list[i]
			c.judge(ctx, &k)
			if k.Score > list[i].most+1e-9 {
				t.Fatalf("seed %d, %q: %s has %.3f, at most %.3f was said: %q", seed, query, k.Path, k.Score, list[i].most, files[k.Path])
			}
			list[i].seen.syms, list[i].seen.comments = nil, nil
		}
		all += len(list)
		got := c.Best(ctx, list, n, 1+r.IntN(4))
		for _, k := range list {
			if k.seen == nil || k.seen.syms != nil || k.seen.comments != nil {
				judged++
			}
		}
		if len(want) > 0 {
			some++
		}
		show := func(list []Candidate) (out []string) {
			for _, k := range list {
				out = append(out, fmt.Sprintf("%s %.9f %v", k.Path, k.Score, k.Pieces))
			}
			return out
		}
		if diff := cmp.Diff(show(want), show(got)); diff != "" {
			t.Fatalf("seed %d, %q, the best %d: %s", seed, query, n, diff)
		}
	}
	t.Logf("%d answers that are not empty; the definitions of %d of %d files were read", some, judged, all)
	if some < 120 || judged > all*3/4 {
		t.Errorf("%d answers, and %d of %d files were read: the test shows little", some, judged, all)
	}
}
