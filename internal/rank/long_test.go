package rank

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/internal/symbols"
)

// longIssue is an issue with the results of both stages on its tree, so that many
// settings can be tried for the price of one.
type longIssue struct {
	repo  string
	files []string // changed by its fix
	q     *Query
	tally *Tally
	docs  map[string][]byte
	seen  map[string]*examined

	defines map[string]bool // a name that the title asks for
}

type examined struct {
	syms     []symbols.Symbol
	comments [][2]int
	occ      []occurrence
}

// settings are the weights of fText to try; 0 ranks by the title alone.
var settings = []float64{0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3}

// TestLongTexts finds the best weight for the text of an issue after its title, for each
// repository from the others. QUARRY_ISSUES names a file of issues, QUARRY_ISSUE_REPOS a
// folder with a git repository of each project.
func TestLongTexts(t *testing.T) {
	file, repos := os.Getenv("QUARRY_ISSUES"), os.Getenv("QUARRY_ISSUE_REPOS")
	if file == "" || repos == "" {
		t.Skip("set QUARRY_ISSUES and QUARRY_ISSUE_REPOS to issues and their repositories")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type outcome struct {
		repo string
		at   []int // the rank of the first changed file, by setting; -1 is none
	}
	texts := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	all := make([]outcome, len(texts))
	measure := func(i int) {
		var one struct {
			ID, Repo, Commit, Text string
			Files                  []string
		}
		if err := json.Unmarshal(texts[i], &one); err != nil {
			t.Error(err)
			return
		}
		k := &longIssue{repo: one.Repo, files: one.Files, q: NewQuery(one.Text), docs: map[string][]byte{}, seen: map[string]*examined{}, defines: map[string]bool{}}
		readCommit(t, filepath.Join(repos, path.Base(one.Repo)), one.Commit, k.docs)
		k.tally = k.q.ReadTally()
		for p, text := range k.docs {
			if c := k.q.Look(context.Background(), text); c != nil {
				k.tally.Add(p, c)
			}
		}
		o := &all[i]
		o.repo = one.Repo
		for _, s := range settings {
			o.at = append(o.at, k.rank(t, s))
		}
		fmt.Println(one.ID, len(k.docs), o.at)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(texts); i = int(next.Add(1)) - 1 {
				measure(i)
			}
		})
	}
	if wg.Wait(); t.Failed() {
		return
	}
	// Ties in the top ten are decided by the top five, then by the first place.
	value := func(keep func(repo string) bool, i int) (v [3]int, n int) {
		for _, o := range all {
			if !keep(o.repo) {
				continue
			}
			n++
			for k, limit := range []int{1, 5, 10} {
				if at := o.at[i]; at >= 0 && at < limit {
					v[k]++
				}
			}
		}
		return v, n
	}
	best := func(keep func(repo string) bool) int {
		found, most := 0, -1
		for i := range settings {
			if v, _ := value(keep, i); v[2]*3+v[1]*2+v[0] > most {
				found, most = i, v[2]*3+v[1]*2+v[0]
			}
		}
		return found
	}
	for i, s := range settings {
		v, n := value(func(string) bool { return true }, i)
		t.Logf("%v: %v of %d", s, v, n)
	}
	var names []string
	for _, o := range all {
		names = append(names, o.repo)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var sum [3]int
	for _, name := range names {
		i := best(func(repo string) bool { return repo != name })
		v, n := value(func(repo string) bool { return repo == name }, i)
		t.Logf("%s: %v by the others, %v of %d", name, settings[i], v, n)
		for k := range sum {
			sum[k] += v[k]
		}
	}
	n := float64(len(all))
	t.Logf("cross-validated by repository: %.2f / %.2f / %.2f of %d", float64(sum[0])/n, float64(sum[1])/n, float64(sum[2])/n, len(all))
}

// rank returns the position of the first changed file, or -1 if it is not in the top ten.
func (k *longIssue) rank(t *testing.T, text float64) int {
	w := weights
	w[fText] = text
	c := k.q.newCorpus(&w, k.tally)
	list, err := c.Short()
	if err != nil {
		t.Error(err)
	}
	list = append(list, k.definers(t, c, list)...)
	for i := range list {
		f := &list[i].f
		e := k.seen[list[i].Path]
		if e == nil {
			e = &examined{}
			text, _ := c.window(k.docs[list[i].Path])
			e.syms, e.comments = symbols.Read(func() bool { return false }, list[i].Path, text)
			e.occ = k.q.occurrences(text)
			k.seen[list[i].Path] = e
		}
		k.q.definitions(f, e.syms, c.idf)
		k.q.pairs(f, e.occ, c.plain)
		k.q.window(f, e.occ, c.plain)
		k.q.docs(f, e.occ, e.comments, c.idf)
		list[i].Score = w.value(f, list[i].weight)
	}
	Order(list)
	return slices.IndexFunc(list[:min(10, len(list))], func(c Candidate) bool { return slices.Contains(k.files, c.Path) })
}

// definers returns the other files that define a name the title asks for, as a search
// finds them.
func (k *longIssue) definers(t *testing.T, c *Corpus, list []Candidate) (out []Candidate) {
	if !k.q.Asks() {
		return nil
	}
	named, err := c.Naming(c.Named)
	if err != nil {
		t.Error(err)
	}
	var so Search
	for i := range named {
		path := named[i].Path
		defines, ok := k.defines[path]
		if !ok {
			defines = k.q.Defines(context.Background(), path, k.docs[path])
			k.defines[path] = defines
		}
		if defines && !slices.ContainsFunc(list, func(c Candidate) bool { return c.Path == path }) {
			out = append(out, named[i])
		}
		if so.Add(&named[i], true) {
			break
		}
	}
	return out
}

// readCommit adds the texts of a commit.
func readCommit(t *testing.T, repo, commit string, docs map[string][]byte) {
	cmd := exec.Command("git", "-C", repo, "archive", commit)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	for files := tar.NewReader(out); err == nil; {
		var h *tar.Header
		if h, err = files.Next(); err != nil {
			break
		}
		if h.Typeflag != tar.TypeReg || strings.HasPrefix(path.Base(h.Name), ".") || strings.Contains(h.Name, "/.") || strings.HasPrefix(h.Name, ".") {
			continue
		}
		var text []byte
		if text, err = io.ReadAll(files); err == nil && bytes.IndexByte(text[:min(len(text), 64<<10)], 0) < 0 && len(text) < 4<<20 {
			docs[h.Name] = text
		}
	}
	if err != io.EOF {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestTitleFirst checks that the title of a long text is the query and that the rest of
// the text breaks ties. A short query has no separate title.
func TestTitleFirst(t *testing.T) {
	body := "I call the walker on a folder with a broken link and get a wrong answer:\n" + strings.Repeat("open the folder, follow the dangling symlink, count, close, report and compare again\n", 3)
	for _, c := range []struct {
		query string
		title bool
	}{
		{"crash in decode frame\n" + body, true},
		{"crash in decode frame", false},
		{"crash in decode frame\nonly a few words more", false},
		{"help\n" + body, false},
		{strings.ReplaceAll(body, "\n", " "), false},
	} {
		if title, rest := cutTitle(c.query); (rest != "") != c.title || rest != "" && title != "crash in decode frame" {
			t.Errorf("%.30q: the title is %q, the rest %q", c.query, title, rest)
		}
	}
	files := map[string]string{
		"a.go": "package x\n\n// the frame is read: crash\nfunc decode() { stranger(); nothing() }\n",
		"b.go": "package x\n\n// the frame is read: crash\nfunc decode() { dangling(); symlink() }\n",
		"c.go": "package x\n\n// open the folder, follow the dangling symlink\nfunc walker() { symlink(); folder(); count(); report(); compare() }\n",
	}
	q := NewQuery("crash in decode frame\n" + body)
	tally := q.ReadTally()
	for _, p := range []string{"a.go", "b.go", "c.go"} {
		tally.Add(p, q.Look(context.Background(), []byte(files[p])))
	}
	c := q.NewCorpus(tally)
	list, err := c.Short()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range list {
		c.Examine(context.Background(), &list[i], []byte(files[list[i].Path]))
	}
	Order(list)
	for _, k := range list {
		got = append(got, k.Path)
	}
	if want := []string{"b.go", "a.go", "c.go"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}
