package owner_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// house is a folder with many kinds of files, one index of it, and its clients.
type house struct {
	t     *testing.T
	r     *rand.Rand
	dir   string
	state string
	marks map[string]string // by path: a word that occurs in this file only, and in no name
}

var (
	denies = [][]string{nil, {"*.md"}, {"d1"}, {"d2/**"}, {"*.go", "d0/e1"}, {"/a*"}}
	allows = [][]string{nil, nil, {"*.pem"}, {".env"}, {"d1/*.key"}}
	global = []string{"", "", "*.log\n", "*.log\n!keep.log\n", "d2/\n*.tmp\n", "!.github\n"}
	above  = []string{"", "", "!*.tmp\n", "*.md\n!d1/*.md\n", "/ws/d0/e0\n", "e1\n"}
	words  = []string{"alpha", "beta", "gamma", "delta_x", "MixedCase", "zeta"}
)

func newHouse(t *testing.T, seed uint64) *house {
	t.Helper()
	h := &house{t: t, r: stress.Rand(seed), dir: filepath.Join(t.TempDir(), "ws"), state: t.TempDir(), marks: map[string]string{}}
	h.must(os.Mkdir(h.dir, 0o755))
	names := []string{"a.go", "b.md", "c.txt", "app.log", "keep.log", "x.tmp", ".env", "k.pem", "s.key", "id_rsa", ".hidden", ".github/w.yml", "n.bin"}
	for _, d := range []string{"", "d0", "d1", "d2", "d0/e0", "d0/e1", "d1/e1", ".h", "d2/.git/x"} {
		for _, n := range names {
			if h.r.IntN(3) > 0 {
				h.write(filepath.ToSlash(filepath.Join(d, n)))
			}
		}
		if h.r.IntN(4) == 0 {
			h.rules(filepath.Join(d, []string{".gitignore", ".ignore"}[h.r.IntN(2)]))
		}
	}
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) put(rel, text string) {
	h.t.Helper()
	full := filepath.Join(h.dir, rel)
	h.must(os.MkdirAll(filepath.Dir(full), 0o755))
	h.must(os.WriteFile(full, []byte(text), 0o644))
}

// write writes a file with some words and a unique mark.
func (h *house) write(rel string) {
	h.t.Helper()
	mark := fmt.Sprintf("mark%dq%x", len(h.marks), h.r.Uint64())
	h.marks[rel] = mark
	text := mark + "\n"
	for range 1 + h.r.IntN(6) {
		text += words[h.r.IntN(len(words))] + " " + words[h.r.IntN(len(words))] + "\n"
	}
	if strings.HasSuffix(rel, ".bin") {
		text = "\x00" + text
	}
	h.put(rel, text)
}

func (h *house) rules(rel string) {
	h.t.Helper()
	h.put(rel, []string{"*.tmp\n", "e1/\n", "!.github\n", "*.log\n!app.log\n", "/d0/e0\n", "*\n!*.go\n!*/\n", "!.env\n!.hidden\n"}[h.r.IntN(7)])
}

// change makes a random change of the tree.
func (h *house) change() {
	h.t.Helper()
	paths := make([]string, 0, len(h.marks))
	for p := range h.marks {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	p := paths[h.r.IntN(len(paths))]
	switch h.r.IntN(5) {
	case 0:
		os.Remove(filepath.Join(h.dir, p))
	case 1:
		h.rules([]string{".gitignore", "d0/.gitignore", "d1/.ignore", "d2/.git/info/exclude"}[h.r.IntN(4)])
	case 2:
		os.Remove(filepath.Join(h.dir, ".gitignore"))
	default:
		h.write(p)
	}
}

// options returns a random view of the house.
func (h *house) options() *quarry.Options {
	o := &quarry.Options{AllowAny: true, Trusted: h.r.IntN(3) == 0}
	if !o.Trusted {
		o.Deny, o.Allow = denies[h.r.IntN(len(denies))], allows[h.r.IntN(len(allows))]
	}
	o.GlobalIgnore = []byte(global[h.r.IntN(len(global))])
	if text := above[h.r.IntN(len(above))]; text != "" {
		o.IgnoreAbove = []quarry.IgnoreFile{{Name: []string{".gitignore", ".ignore"}[h.r.IntN(2)], Above: "ws", Data: []byte(text)}}
	}
	return o
}

func (h *house) open(o *quarry.Options, index *quarry.IndexOptions) *quarry.Workspace {
	h.t.Helper()
	as := *o
	as.Index = index
	ws, err := quarry.Open(h.dir, &as)
	h.must(err)
	h.t.Cleanup(func() { ws.Close() })
	return ws
}

func (h *house) socket() string { return filepath.Join(h.state, "s", "owner.sock") }

func (h *house) keep(o *quarry.Options) *quarry.Workspace {
	h.t.Helper()
	ws := h.open(o, &quarry.IndexOptions{Home: filepath.Join(h.state, "index"), Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket()})
	h.must(ws.Index().Wait(h.t.Context()))
	return ws
}

func (h *house) query() search.Query {
	q := search.Query{Pattern: words[h.r.IntN(len(words))]}
	switch h.r.IntN(6) {
	case 0:
		q.Pattern = `\w+_x`
	case 1:
		q.Pattern, q.Match.Case = "ALPHA|mixedcase", match.Insensitive
	case 2:
		q.Pattern = "nowhere_at_all"
	case 3: // the mark of any file, which may be denied
		for _, mark := range h.marks {
			q.Pattern = mark
			break
		}
	}
	q.IncludeHidden = h.r.IntN(3) == 0
	q.IncludeIgnored = h.r.IntN(3) == 0
	q.StrictHidden = h.r.IntN(5) == 0
	q.FilesWithoutMatch = h.r.IntN(8) == 0
	if q.FilesWithoutMatch {
		q.Detail = search.Files
	}
	if h.r.IntN(4) == 0 {
		q.Globs = []string{[]string{"*.go", "!*.md", "d0/**"}[h.r.IntN(3)]}
	}
	if h.r.IntN(5) == 0 {
		q.Paths = []string{[]string{"d0", "d1", "d0/e1", ".h"}[h.r.IntN(4)]}
	}
	return q
}

// answer has the parts of a result that must be equal with and without an index.
type answer struct {
	Files []search.FileMatch
	Found []string
	Sum   [4]int // files and lines matched, binary files skipped, files that could be searched
	// Denied counts the files hidden by the policy, in the search and in the listing.
	Denied [2]int
	// Secrets are the denied files whose names are on the list of secrets.
	Secrets [2][]string
	Err     string
}

func (h *house) ask(ws *quarry.Workspace, q search.Query) (a answer, plan string) {
	res, err := ws.Search(h.t.Context(), q)
	if err != nil {
		return answer{Err: err.Error()}, ""
	}
	for _, f := range res.Files { // the amount of data read may differ
		f.Bytes, f.ModTime = 0, time.Time{}
		a.Files = append(a.Files, f)
	}
	a.Sum = [4]int{res.FilesMatched, res.LinesMatched, res.SkippedCount[search.Binary]}
	a.Denied[0], a.Secrets[0] = res.Denied, res.Secrets
	if len(q.Globs) == 0 && !q.StrictHidden {
		a.Sum[3] = res.Stats.Considered
	}
	found, err := ws.Find(h.t.Context(), search.FindQuery{Scope: q.Scope})
	if err != nil {
		return answer{Err: err.Error()}, ""
	}
	a.Denied[1], a.Secrets[1] = found.Denied, found.Secrets
	for _, e := range found.Entries {
		a.Found = append(a.Found, e.Path)
	}
	return a, string(res.Stats.Plan.Kind)
}

// With one index of a root, every view gets the same answers as from a scan. Nothing that
// the view's policy denies is sent through the socket: no content, and no name, except
// names that are denied only by the built-in list of secrets.
func TestOneIndexForAllViews(t *testing.T) {
	run := stress.Start(t, "one index for all policies", 12, 1_000)
	byIndex, ignored := 0, 0
	for seed := range run.Cases() {
		h := newHouse(t, seed)
		keeper := h.open(h.options(), &quarry.IndexOptions{Home: h.makeHome(), Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket(), MaxIgnored: []int{0, 0, 5, 20}[h.r.IntN(4)]})
		h.must(keeper.Index().Wait(t.Context()))
		for range 5 {
			o := h.options()
			tap := h.tap()
			client, scan := h.open(o, &quarry.IndexOptions{Dir: filepath.Join(h.state, "index", "one"), Socket: tap.socket, Ask: true}), h.open(o, nil)
			for range 4 {
				if h.r.IntN(3) == 0 {
					h.change()
				}
				q := h.query()
				got, plan := h.ask(client, q)
				q.NoIndex = true
				want, _ := h.ask(scan, q)
				// Rules in a denied d2 are read by the index but not by a scan. And a
				// denied folder without indexed files is not counted.
				folder := slices.Contains(o.Deny, "d1") || slices.Contains(o.Deny, "d0/e1")
				if slices.Contains(o.Deny, "d2/**") || folder && want.Denied[0] == got.Denied[0]+1 {
					got.Denied, want.Denied = [2]int{}, [2]int{}
					got.Secrets, want.Secrets = [2][]string{}, [2][]string{}
				}
				if d := cmp.Diff(want, got); d != "" {
					run.Violation(seed, "view %+v, query %+v, plan %q: scan and index differ (-scan +index):\n%s", o, q, plan, d)
				}
				if strings.HasPrefix(plan, "index") {
					byIndex++
					if q.IncludeIgnored {
						ignored++
					}
				}
				run.Tried(1)
			}
			h.secret(run, seed, o, scan, tap)
			client.Close()
		}
		if dirs, err := os.ReadDir(filepath.Join(h.state, "index")); err != nil || len(dirs) != 1 {
			run.Violation(seed, "%d indexes of one root: %v", len(dirs), err)
		}
		keeper.Close()
	}
	if byIndex == 0 || ignored == 0 {
		t.Errorf("the index answered %d queries, %d with ignored files: the test shows nothing", byIndex, ignored)
	}
}

func (h *house) makeHome() string {
	home := filepath.Join(h.state, "index")
	h.must(os.MkdirAll(home, 0o700))
	return home
}

// secret searches the owner's messages to a view for data that the view may not see.
func (h *house) secret(run *stress.Run, seed uint64, o *quarry.Options, scan *quarry.Workspace, tap *tap) {
	h.t.Helper()
	sent := tap.bytes()
	rules, err := policy.New(policy.Rules{Deny: o.Deny, Allow: o.Allow})
	h.must(err)
	for path, mark := range h.marks {
		if _, err := scan.Read(h.t.Context(), path, nil); fault.CodeOf(err) != fault.ProtectedPath {
			continue
		}
		// Names are the same in several folders; only a whole path identifies a file.
		named := rules.Path(path, false) == policy.Secret // its name may be sent
		if bytes.Contains(sent, []byte(mark)) || !named && strings.Contains(path, "/") && bytes.Contains(sent, []byte(path)) {
			run.Violation(seed, "the owner sent something of %s, which is denied", path)
		}
	}
}

// tap is a socket between an owner and a client that records the owner's messages.
type tap struct {
	socket string
	mu     sync.Mutex
	heard  bytes.Buffer
}

func (t *tap) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.heard.Bytes())
}

func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard.Write(b)
}

func (h *house) tap() *tap {
	h.t.Helper()
	t := &tap{socket: filepath.Join(h.t.TempDir(), "tap.sock")}
	l, err := net.Listen("unix", t.socket)
	h.must(err)
	h.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			owner, err := net.Dial("unix", h.socket())
			if err != nil {
				client.Close()
				continue
			}
			go func() { io.Copy(owner, client); owner.Close() }()
			go func() { io.Copy(client, io.TeeReader(owner, t)); client.Close() }()
		}
	}()
	return t
}
