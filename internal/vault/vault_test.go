package vault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// ctx is never canceled.
var ctx = context.Background()

func scanNote(text []byte) *Note {
	n, err := Scan(ctx, text)
	if err != nil {
		panic(err)
	}
	return n
}

func linksOf(path string, text []byte) []Link {
	links, err := ScanLinks(ctx, path, text)
	if err != nil {
		panic(err)
	}
	return links
}

// builder makes a vault whose notes link to each other in all possible ways.
type builder struct {
	rng   *rand.Rand
	paths []string
}

func (b *builder) folder() string {
	// A few nested folders that have the same names at several depths.
	f := []string{"", "A", "B", "A/B", "B/A", "Archive", "Archive/A", "Notes ä", "Deep/er/and/deeper", "A b (c)", "Archive/2024/A"}
	if b.rng.IntN(4) == 0 {
		return fmt.Sprintf("Area%d/Topic%d", b.rng.IntN(12), b.rng.IntN(8))
	}
	return f[b.rng.IntN(len(f))]
}

func (b *builder) name(i int) string {
	switch b.rng.IntN(10) {
	case 0, 1:
		return []string{"index", "README", "Überblick", "todo", "a.b", "Über 100%", "x (1)", "it's", "v1.2", "pic.png"}[b.rng.IntN(10)]
	case 2:
		return fmt.Sprintf("Note %d", b.rng.IntN(400)) // a small range, so that names repeat
	}
	return fmt.Sprintf("Note %d", i)
}

func (b *builder) freePath(i int, taken map[string]bool) string {
	ext := ".md"
	switch b.rng.IntN(25) {
	case 0:
		ext = ".png"
	case 1:
		ext = ".canvas"
	}
	for n := 0; ; n++ {
		name := b.name(i)
		if n > 3 {
			name = fmt.Sprintf("%s %d-%d", name, i, n)
		}
		if p := join(b.folder(), name+ext); !taken[fold(p)] {
			taken[fold(p)] = true
			return p
		}
	}
}

// link writes a random link that may refer to the file at to.
func (b *builder) link(from, to string, canvas bool) string {
	w := writer{pl: &planner{}, source: from, want: to, link: Link{Path: "a/b"}}
	p := w.path([]form{bare, bare, bare, tail, fromHere, fromTop, fromTop, dotted, rooted}[b.rng.IntN(9)])
	if isNote(p) && b.rng.IntN(3) > 0 {
		p = p[:len(p)-3]
	}
	if b.rng.IntN(8) == 0 {
		p = strings.ToUpper(p)
	}
	sub := []string{"", "", "#Head", "#A#B", "#^block"}[b.rng.IntN(5)]
	switch b.rng.IntN(7) {
	case 0:
		return "[text](" + encodeDestination(p, false, nil) + sub + ")"
	case 1:
		return "![" + stem(to) + "](<" + encodeDestination(p, true, nil) + sub + "> \"t\")"
	case 2:
		return "![[" + p + sub + "|100x50]]"
	case 3:
		return "[[" + p + sub + "|" + stem(to) + "]]"
	}
	return "[[" + p + sub + "]]"
}

func (b *builder) text(path string) string {
	pick := func() string { return b.paths[b.rng.IntN(len(b.paths))] }
	if isCanvas(path) {
		var nodes []string
		for range b.rng.IntN(5) {
			q, _ := jsonString.encode(b.link(path, pick(), true))
			f, _ := jsonString.encode(pick())
			nodes = append(nodes, `{"type":"file","file":"`+f+`"}`, `{"type":"text","text":"a\n`+q+`"}`)
		}
		return `{"nodes":[` + strings.Join(nodes, ",\n") + `]}`
	}
	if !isNote(path) {
		return "\x89PNG"
	}
	var s strings.Builder
	if b.rng.IntN(3) == 0 {
		q, _ := yamlDouble.encode(base(pick()))
		fmt.Fprintf(&s, "---\nup: \"[[%s]]\"\ntags: [a]\n---\n", q)
	}
	fmt.Fprintf(&s, "# %s\r\n\n`[[code]]` and\n```\n[[%s]]\n```\n", stem(path), base(pick()))
	for range b.rng.IntN(8) {
		fmt.Fprintf(&s, "- see %s and #tag\n", b.link(path, pick(), false))
	}
	if b.rng.IntN(4) == 0 {
		fmt.Fprintf(&s, "\n| a | b |\n|---|---|\n| [[%s\\|x]] | c |\n", stem(pick()))
	}
	if b.rng.IntN(6) == 0 {
		fmt.Fprintf(&s, "\n[ref]: %s \"title\"\n", encodeDestination(pick(), false, nil))
	}
	return s.String()
}

// world is a vault in memory. Every file has an identity that survives moves, and every
// link has the identity of its target, which must stay the same.
type world struct {
	files memory
	plain func(source string) bool
	id    map[string]int // path → identity
	path  map[int]string // identity → path
	want  map[int][]int  // identity of a source → identities of its link targets, -1 if there is none
	skel  map[int]string // identity → the text without its links
}

func newWorld(m memory, plain func(source string) bool) *world {
	w := &world{files: m, plain: plain, id: map[string]int{}, path: map[int]string{}, want: map[int][]int{}, skel: map[int]string{}}
	for i, p := range m.Paths() {
		w.id[p], w.path[i] = i, p
	}
	ix := NewIndex(m.Paths())
	ix.Plain = plain
	for p, i := range w.id {
		w.want[i], w.skel[i] = w.links(ix, p)
	}
	return w
}

// links returns the targets of a file's links, and its text without links.
func (w *world) links(ix *Index, path string) ([]int, string) {
	var ids []int
	var skel strings.Builder
	text, at := []byte(w.files[path]), 0
	for _, l := range linksOf(path, text) {
		p, ok := ix.ResolveLink(path, &l)
		id := -1
		if ok {
			id = w.id[p]
		}
		ids = append(ids, id)
		if l.Span.Start < at {
			continue // inside another link's text
		}
		skel.Write(text[at:l.Span.Start])
		fmt.Fprintf(&skel, "·%d%v%s", l.Kind, l.Embed, l.Subpath)
		at = l.Span.End
	}
	skel.Write(text[at:])
	return ids, skel.String()
}

// violations counts links that resolved at the start and now don't, or resolve to another
// file. It also counts files whose bytes outside links changed.
func (w *world) violations() (links, bytes int) {
	ix := NewIndex(w.files.Paths())
	ix.Plain = w.plain
	for p, i := range w.id {
		got, skel := w.links(ix, p)
		if skel != w.skel[i] {
			bytes++
		}
		for k, want := range w.want[i] {
			if want >= 0 && (k >= len(got) || got[k] != want) {
				links++
			}
		}
	}
	return links, bytes
}

// carryOut applies a plan to the vault.
func (w *world) carryOut(t *testing.T, p *Plan) {
	for _, e := range p.Files {
		text, err := ApplySplices([]byte(w.files[e.From]), e.Splices)
		if err != nil {
			t.Fatal(err)
		}
		w.files[e.From] = string(text)
	}
	type file struct {
		id   int
		text string
	}
	moved := map[string]file{}
	for _, m := range p.Moves {
		moved[m.To] = file{w.id[m.From], w.files[m.From]}
		delete(w.files, m.From)
		delete(w.id, m.From)
	}
	for to, f := range moved {
		w.files[to], w.id[to], w.path[f.id] = f.text, f.id, to
	}
}

// Every note of a vault of 5,000 is moved once, in random order, with folder moves in
// between. All links that resolved to a file must still resolve to it.
func TestMoveEveryNote(t *testing.T) {
	for seed, format := range []LinkFormat{Shortest, Relative, Absolute, "outside a vault"} {
		t.Run(string(format), func(t *testing.T) {
			var plain func(source string) bool
			if seed == 3 {
				format, plain = Relative, func(string) bool { return true }
			}
			notes := stress.N(5000)
			if format != Shortest {
				notes = stress.N(500) // the vaults differ only in seed and link format
			}
			b := &builder{rng: rand.New(rand.NewPCG(7, uint64(seed)))}
			taken := map[string]bool{}
			for i := range notes {
				b.paths = append(b.paths, b.freePath(i, taken))
			}
			m := memory{}
			for _, p := range b.paths {
				m[p] = b.text(p)
			}
			w := newWorld(m, plain)
			g, err := NewGraph(ctx, m, plain)
			if err != nil {
				t.Fatal(err)
			}
			links, resolved := 0, 0
			for _, ids := range w.want {
				links += len(ids)
				for _, id := range ids {
					if id >= 0 {
						resolved++
					}
				}
			}
			var planning, longest time.Duration
			updated, folders := 0, 0
			do := func(mv Move) {
				start := stress.CPU() // processor time, because other processes may be running
				plan, err := g.Plan(ctx, m, []Move{mv}, PlanOptions{Update: true, Format: format})
				if err != nil {
					t.Fatalf("%v: %v", mv, err)
				}
				if plan.Broken > 0 {
					t.Errorf("%v: %d broken in %v", mv, plan.Broken, plan.BrokenIn)
				}
				updated += plan.Updated
				w.carryOut(t, plan)
				g.Apply(plan)
				d := stress.CPU() - start
				planning += d
				longest = max(longest, d)
			}
			order := b.rng.Perm(notes)
			for n, id := range order {
				from := w.path[id]
				taken := map[string]bool{}
				to := ""
				for to == "" || m.has(to) {
					to = b.freePath(id+n, taken)
					to = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(to, ".md"), ".png"), ".canvas") + from[strings.LastIndexByte(from, '.'):]
				}
				do(Move{from, to})
				if n%(notes/20) == 0 { // sometimes rename a folder
					f := dir(to)
					if f != "" {
						do(Move{f, fmt.Sprintf("Moved %d/%s", n, base(f))})
						folders++
					}
					if n%(notes/4) != 0 {
						continue
					}
					if l, by := w.violations(); l > 0 || by > 0 {
						t.Fatalf("after %d moves: %d links lost, %d files changed outside links", n+1, l, by)
					}
				}
			}
			l, by := w.violations()
			if l > 0 || by > 0 {
				t.Errorf("%d links lost, %d files changed outside links", l, by)
			}
			if resolved < notes || updated < notes/10 {
				t.Errorf("a weak test: %d resolved, %d updated", resolved, updated)
			}
			t.Logf("%d files, %d links (%d resolved), %d folder moves, %d links rewritten; a move took %v on average, %v at most",
				notes, links, resolved, folders, updated, planning/time.Duration(notes), longest)
			if planning/time.Duration(notes) > 50*time.Millisecond {
				t.Errorf("a move took %v on average", planning/time.Duration(notes))
			}
		})
	}
}

func (m memory) has(path string) bool {
	_, ok := m[path]
	return ok
}

func TestApplySplices(t *testing.T) {
	got, err := ApplySplices([]byte("0123456789"), []Splice{{Span: Span{Start: 8, End: 9}, New: "x"}, {Span: Span{Start: 0, End: 2}, New: ""}, {Span: Span{Start: 4, End: 4}, New: "ab"}})
	if err != nil || string(got) != "23ab4567x9" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range [][]Splice{{{Span: Span{Start: 0, End: 2}, New: ""}, {Span: Span{Start: 1, End: 3}, New: ""}}, {{Span: Span{Start: 5, End: 11}, New: ""}}, {{Span: Span{Start: 3, End: 2}, New: ""}}, {{Span: Span{Start: -1, End: 2}, New: ""}}} {
		if _, err := ApplySplices([]byte("0123456789"), bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestBacklinks(t *testing.T) {
	m := vaultOf("a.md", "[[b]] [[b]]", "b.md", "[[a]]", "A/c.md", "[[../b]]")
	g, _ := NewGraph(ctx, m, nil)
	if got := g.Backlinks("b.md"); !slices.Equal(got, []string{"A/c.md", "a.md"}) {
		t.Errorf("backlinks %q", got)
	}
}

// Notes are moved to names with special characters of every link syntax. A link that
// can't express the new name (a property with "C#") is counted as broken.
func TestMoveToNastyNames(t *testing.T) {
	names := []string{"C#", "a|b", "x`y", "a%20b", "[z]", "it's", `"q"`, "ab:c", "&amp;", "$x$", "%%c%%", `back\`, "(open", "close)", "^up", "<t>", "é É",
		"x.md", "p.png", "~", "a: b", "b #c", "!bang", "a,b", "{c}", "- d", "*e*", "_f_", "https://h", "n", "A", "100%", "?", "a  b", "\u00a0", "日本", "'", "#"}
	lines := []string{"[[%s]]", "![[%s|100]]", "[[%s#h|t]]", "text [t](%m) more", "![t](<%m>)", "- `code` [[%s]]", "> quote [[%s|%s]]", "", "", "# head [[%s]]",
		"| a |\n|---|\n| [[%s\\|t]] |\n| [t](%m) |\n", "[ref]: %m", "$5 and [[%s]] $", "a `tick [[%s]]", "%% [[%s]]", "<b>[[%s]]</b>", "[x [[%s]] y](%m)", "[[%s", "[t](%m"}
	rng := rand.New(rand.NewPCG(11, 12))
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	rewritten, broken := 0, 0
	for range stress.Fewer(1000) {
		m := memory{}
		var paths []string
		for len(m) < 5 {
			p := pick([]string{"", "A/", "B/", "A/B/"}) + pick(names) + ".md"
			if isCleanPath(p) && !m.has(p) {
				m[p] = ""
				paths = append(paths, p)
			}
		}
		for _, p := range paths {
			fill := func(s string) string {
				to := pick(paths)
				w := writer{pl: &planner{}, source: p, want: to, link: Link{Path: "a/b"}}
				q := w.path(form(rng.IntN(6)))
				if rng.IntN(2) == 0 {
					q = strings.TrimSuffix(q, ".md")
				}
				return strings.ReplaceAll(strings.ReplaceAll(s, "%s", q), "%m", encodeDestination(q, false, nil))
			}
			var s strings.Builder
			if rng.IntN(3) == 0 {
				s.WriteString(fill("---\na: \"[[%s]]\"\nb: '[[%s|t]]'\nc: see [[%s]]\n---\n"))
			}
			for range rng.IntN(8) {
				s.WriteString(fill(pick(lines)) + "\n")
			}
			m[p] = s.String()
		}
		g, err := NewGraph(ctx, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(m, nil)
		from := pick(paths)
		to := pick([]string{"", "A/", "C/"}) + pick(names) + ".md"
		if !isCleanPath(to) || m.has(to) {
			continue
		}
		before := fmt.Sprintf("%q", m)
		plan, err := g.Plan(ctx, m, []Move{{from, to}}, PlanOptions{Update: true, Format: []LinkFormat{Shortest, Relative, Absolute}[rng.IntN(3)]})
		if err != nil {
			t.Fatal(err)
		}
		w.carryOut(t, plan)
		if lost, _ := w.violations(); lost > plan.Broken {
			t.Fatalf("%s > %s: %d links lost, %d counted\n%s\n%q", from, to, lost, plan.Broken, before, m)
		}
		g.Apply(plan)
		rewritten += plan.Updated
		broken += plan.Broken
	}
	t.Logf("%d links rewritten, %d could not be", rewritten, broken)
	if rewritten < 20*broken || rewritten < stress.Fewer(500) {
		t.Errorf("%d rewritten, %d could not be", rewritten, broken)
	}
}
