package notebook_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/notefields"
	"quarry/internal/notefilter"
	"quarry/internal/stress"
	"quarry/internal/vault"
	"quarry/search"
)

// selected returns the notes that a query selects, in path order.
func (w *world) selected(query string) ([]string, error) {
	r, err := w.book.Search(w.t.Context(), notebook.Query{Query: query, Loose: true, Limit: 100_000, Scope: search.Scope{Globs: []string{"**/*.md"}, Dialect: search.Plain}})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range r.Notes {
		out = append(out, n.Path)
	}
	slices.Sort(out)
	return out, nil
}

func TestNoteFilters(t *testing.T) {
	w := newWorld(t,
		"Projects/a.md", "---\ntags: [work/x]\nstatus: Done\ndue: 2024-01-02\nrating: 4\n---\n# Log\nplan [[b]] and [[c#Steps]]\n",
		"b.md", "---\nstatus: [open, in progress]\nrating: 10\naliases: [Second]\nempty:\n---\n#work plan\n- [ ] call\n- [x] write\n",
		"c.md", "plan\nowner:: Ann\n[size:: 12] `[no:: 1]`\n## Steps\n- [-] cancelled\n[t](b.md)\n",
		"d/b.md", "[[d/b]] elsewhere\nteam:: [[People/Ann.md#Work|Annie]]\n",
		"e.md", "---\nproject: \"[[Atlas]]\"\n---\n", "f.md", "---\nproject: [x, \"[[Work/Atlas|The Map]]\"]\n---\n",
		"g.md", "---\nproject: \"[[Atlas]] or [[Cobalt]]\"\nday: \"[[2026-05-01]]\"\n---\n",
	)
	old := time.Date(2020, 5, 6, 7, 8, 9, 0, time.Local)
	if err := os.Chtimes(filepath.Join(w.dir, "c.md"), old, old); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query string
		want  string
	}{
		{"plan", "Projects/a.md b.md c.md"},
		{"tag:work plan", "Projects/a.md b.md"},
		{"tag:#work/x", "Projects/a.md"},
		{"property:status", "Projects/a.md b.md"},
		{"property:status=done plan", "Projects/a.md"},
		{`property:"status=in progress"`, "b.md"},
		{`property:status="in progress"`, "b.md"},
		{`property:status = "in progress"`, "b.md"},
		{"property:status contains prog", "b.md"},
		{"property:status!=done", "b.md"},
		{"-property:status=done", "b.md c.md d/b.md e.md f.md g.md"},
		{"property:rating>4", "b.md"},
		{"property:rating >= 4", "Projects/a.md b.md"},
		{"property:rating<10", "Projects/a.md"},
		{"property:rating=4.0", "Projects/a.md"},
		{"property:status>m", "b.md"},
		{"property:due=2024-01-02", "Projects/a.md"},
		{"property:due=2024-01", "Projects/a.md"},
		{"property:due<2024-01-02", ""},
		{"property:due<=2024-01-02", "Projects/a.md"},
		{"property:due>2023-12", "Projects/a.md"},
		{"property:owner=ann", "c.md"},
		{"property:size>9", "c.md"},
		{"property:no", ""},
		{"property:project=Atlas", "e.md f.md"},
		{"property:project=[[Atlas]]", "e.md"},
		{`property:project="[[Work/Atlas|The Map]]"`, "f.md"},
		{"property:project=work/atlas", "f.md"},
		{"property:project=Work/Atlas.md", "f.md"},
		{`property:project="the map"`, "f.md"},
		{"property:project=Work", ""},
		{"property:project=Cobalt", ""},
		{"property:project!=Atlas", "g.md"},
		{"property:project contains tlas", "e.md f.md g.md"},
		{"property:team=ann", "d/b.md"},
		{"property:team=annie", "d/b.md"},
		{"property:team=People/Ann", "d/b.md"},
		{"property:team=People/Ann#Work", "d/b.md"},
		{"property:team=work", ""},
		{"property:day=2026-05-01", "g.md"},
		{"has:empty", ""},
		{"has:rating", "Projects/a.md b.md"},
		{"has:tags", "Projects/a.md b.md"},
		{"has:tasks", "b.md"},
		{"has:links", "Projects/a.md c.md d/b.md e.md f.md g.md"},
		{"path:projects/ plan", "Projects/a.md"},
		{"heading:log", "Projects/a.md"},
		{`(heading:"lo(g" OR heading:"log)" OR heading:"log")`, "Projects/a.md"},
		{"tag:work heading:nope", ""},
		{"-tag:work plan", "c.md"},
		{"tag:work -heading:log", "b.md"},
		{"heading:log OR heading:steps", "Projects/a.md c.md"},
		{"(heading:log OR heading:steps) -tag:work", "c.md"},
		{"plan -(heading:log OR heading:steps)", "b.md"},
		{"task:todo", "b.md"},
		{"task:done", "b.md"},
		{"link:b.md", "Projects/a.md c.md"},
		{"link:b", "Projects/a.md c.md"},
		{"link:d/b", ""},
		{"link:Second", "Projects/a.md c.md"},
		{"link:c", "Projects/a.md"},
		{"link:c#steps", "Projects/a.md"},
		{"link:c#other", ""},
		{"modified:2020-05-06", "c.md"},
		{"modified:<2021", "c.md"},
		{"modified:>2020-05-06 -has:project", "Projects/a.md b.md d/b.md"},
		{"modified:7d -has:project", "Projects/a.md b.md d/b.md"},
		{"-plan", "Projects/a.md b.md c.md"},
		{"other: plan", "Projects/a.md b.md c.md"},
		{`"owner::" plan`, "Projects/a.md b.md c.md"},
		{"plan 12:30 https://x.y/z q::w", "Projects/a.md b.md c.md"},
	} {
		got, err := w.selected(c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
		} else if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	for _, bad := range []struct{ query, says string }{
		{"tag:", "character 1"}, {"tag:a.b", "tag"}, {"property:", "needs a name"}, {"plan property:rating>", "character 6"},
		{"tag:a property:rating=>3", "unknown comparison"}, {"status:done", "property:status=done"}, {"plan tag:a OR", "character"},
		{"(tag:a", "not closed"}, {"tag:a)", "no parenthesis"}, {"tag:a OR plan", "OR joins filters"}, {"tag:a -plan", "a minus is for filters"},
		{`tag:a "open`, "quote"}, {"task:maybe", "task:todo"}, {"modified:soon", "invalid date"}, {"link:Secnd", "no note or file"},
	} {
		if got, err := w.selected(bad.query); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%s: %q, %v; want an error with %q", bad.query, got, err, bad.says)
		}
	}
	if _, err := w.selected("link:nowhere"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("link:nowhere: %v", err)
	}
	if _, err := w.selected("link:cc"); !strings.Contains(fault.HintOf(err), "c.md") {
		t.Errorf("link:cc: hint %q", fault.HintOf(err))
	}
}

// Dates are compared as dates in every form in which notes have them, and never with texts.
func TestDateFilters(t *testing.T) {
	w := newWorld(t, "a.md", "---\ndue: 2026-1-5\n---\n- [ ] x 📅 2026-01-05\n", "b.md", "---\ndue: 2026-11-01\n---\n- [ ] x [due:: 2026-11-01]\n", "c.md", "---\ndue: 2026-11-01T10:30\n---\n",
		"d.md", "---\ndue: \"[[2026-12-24]]\"\n---\n- [ ] x [due:: 2027-01-02]\n", "e.md", "---\ndue: [\"[[Daily/2027-01-02.md#Top|new year]]\"]\n---\n", "f.md", "---\ndue: soon\n---\n",
		"g.md", "due:: 2026-11-01 23:00:00.5\n", "h.md", "---\ndue: 2028\n---\n", "i.md", "---\ndue: 2025-06-01T12:00:00Z\n---\n", "j.md", "---\ndue: 2025-06-01 12:00:00 +02:00\n---\n",
		"k.md", "---\ncreated: 2020-01-02T10:00\n---\n", "l.md", "---\ncreated: long ago\n---\n")
	for _, c := range []struct{ query, want string }{
		{"property:due<2026-02", "a.md i.md j.md"},
		{"property:due>2026-11-01", "d.md e.md h.md"},
		{"property:due>=2026-11-01 -property:due=2028", "b.md c.md d.md e.md g.md"},
		{"property:due=2026-11-01", "b.md c.md g.md"},
		{"property:due!=2026-11", "a.md d.md e.md f.md h.md i.md j.md"},
		{"property:due>2026-1-5 property:due<2026-12-1", "b.md c.md g.md"},
		{"property:due=2026-1-5", "a.md"},
		{"property:due=2026-01-05", "a.md"},
		{"property:due>=[[2026-12-01]]", "d.md e.md h.md"},
		{`property:due>"2026-11-01 10:00" property:due<2026-11-02`, "c.md g.md"},
		{"property:due<2026", "i.md j.md"},
		{"property:due=2026", "a.md b.md c.md d.md g.md"},
		{"property:due<zzz", "f.md"},
		{"task:due<2026-11-01", "a.md"},
		{"created:2020", "k.md"},
		{"created:1d property:created", "l.md"},
		{"created:<2021 OR property:created", "k.md l.md"},
		{"task:due>2026", "d.md"},
		{"task:due=2026", "a.md b.md"},
	} {
		if got, err := w.selected(c.query); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v; want %q", c.query, got, err, c.want)
		}
	}
	week := time.Now().AddDate(0, 0, 7).Format(time.DateOnly)
	for _, c := range []struct{ query, says string }{
		{"property:due<7d", week}, {"property:due>=-1w", week}, {"task:due<7d", week}, {`property:due<"2 months"`, "invalid date"}, {"property:due<2026-13-45", "invalid date"}, {`property:due<"next week"`, "invalid date"}, {"task:due<2026-02-30", "invalid date"},
	} {
		if got, err := w.selected(c.query); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v; want an error with %q", c.query, got, err, c.says)
		}
	}
	table, err := w.book.Table(t.Context(), notebook.TableQuery{Query: "property:due>2025-12", Sort: []string{"due"}})
	if got := fmt.Sprint(table.Rows); err != nil || !regexp.MustCompile(`h.md.*a.md.*b.md.*c.md.*g.md.*d.md.*e.md`).MatchString(got) {
		t.Errorf("sorted by dates: %s, %v", got, err)
	}
}

// A heading in link: is compared as links find it: without the marks that a link leaves out.
func TestLinkFilterHeadings(t *testing.T) {
	w := newWorld(t, "t.md", "# Plan: [x] (now)\n## Part\ntext ^b-1\n", "a.md", "[[t#Plan x (now)]]\n", "b.md", "[t](t.md#plan%20x%20now)\n", "c.md", "[[t#^B-1]]\n", "d.md", "[[t#b-1]] [[t#Plan x (now)#Part]]\n")
	for query, want := range map[string]string{
		`link:"t#Plan: [x] (now)"`: "a.md b.md", `link:"t#plan x now"`: "a.md b.md", "link:t#^b-1": "c.md", "link:t#b-1": "d.md", "link:t#Part": "d.md", "link:t#Pl": "",
	} {
		if got, err := w.selected(query); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
}

// model describes a generated note, so that a filter can be evaluated without reading
// text.
type model struct {
	path       string
	tags       []string
	numbers    map[string]int
	texts      map[string]string
	inline     map[string]int
	todo, done int
	heading    string
	links      []string    // paths
	projects   [][3]string // folder, name and alias of each link
}

var modelNames = []string{"alpha", "beta", "gamma", "delta"}

func randomModel(r *rand.Rand, i int) *model {
	m := &model{path: fmt.Sprintf("%s/n%d.md", modelNames[r.IntN(3)], i), numbers: map[string]int{}, texts: map[string]string{}, inline: map[string]int{}}
	pick := func() string { return modelNames[r.IntN(len(modelNames))] }
	for range r.IntN(3) {
		m.tags = append(m.tags, pick())
	}
	if r.IntN(2) == 0 {
		m.numbers["rating"] = r.IntN(5)
	}
	if r.IntN(2) == 0 {
		m.texts["status"] = pick()
	}
	if r.IntN(3) == 0 {
		m.inline["size"] = r.IntN(5)
	}
	m.todo, m.done = r.IntN(2), r.IntN(2)
	m.heading = pick()
	for range r.IntN(3) {
		m.projects = append(m.projects, [3]string{[]string{"", pick() + "/"}[r.IntN(2)], pick(), []string{"", pick()}[r.IntN(2)]})
	}
	for range r.IntN(3) {
		m.links = append(m.links, fmt.Sprintf("n%d", r.IntN(30)))
	}
	return m
}

func (m *model) text() string {
	var b strings.Builder
	b.WriteString("---\n")
	if len(m.tags) > 0 {
		fmt.Fprintf(&b, "tags: [%s]\n", strings.Join(m.tags, ", "))
	}
	for k, v := range m.numbers {
		fmt.Fprintf(&b, "%s: %d\n", k, v)
	}
	for k, v := range m.texts {
		fmt.Fprintf(&b, "%s: %s\n", k, v)
	}
	for i, p := range m.projects {
		if i == 0 {
			b.WriteString("project:\n")
		}
		if p[2] != "" {
			p[2] = "|" + p[2]
		}
		fmt.Fprintf(&b, "  - \"[[%s]]\"\n", strings.Join(p[:], ""))
	}
	fmt.Fprintf(&b, "---\n# %s\n", m.heading)
	for k, v := range m.inline {
		fmt.Fprintf(&b, "- %s:: %d\n", k, v)
	}
	b.WriteString(strings.Repeat("- [ ] open\n", m.todo) + strings.Repeat("- [x] closed\n", m.done))
	for _, l := range m.links {
		fmt.Fprintf(&b, "[[%s]]\n", l)
	}
	return b.String()
}

// randomFilter returns a random filter and a function that evaluates it for a model.
func randomFilter(r *rand.Rand, deep int) (string, func(*model) bool) {
	pick := func() string { return modelNames[r.IntN(len(modelNames))] }
	if deep > 0 && r.IntN(2) == 0 {
		a, ja := randomFilter(r, deep-1)
		b, jb := randomFilter(r, deep-1)
		switch r.IntN(3) {
		case 0:
			return "(" + a + " OR " + b + ")", func(m *model) bool { return ja(m) || jb(m) }
		case 1:
			return "(" + a + " " + b + ")", func(m *model) bool { return ja(m) && jb(m) }
		}
		return "-(" + a + " OR " + b + ")", func(m *model) bool { return !ja(m) && !jb(m) }
	}
	number := func(name string, of func(*model) map[string]int) (string, func(*model) bool) {
		n, op := r.IntN(5), []string{"=", "!=", "<", "<=", ">", ">="}[r.IntN(6)]
		blank := []string{"", " "}[r.IntN(2)]
		return "property:" + name + blank + op + blank + fmt.Sprint(n), func(m *model) bool {
			v, ok := of(m)[name]
			return ok && map[string]bool{"=": v == n, "!=": v != n, "<": v < n, "<=": v <= n, ">": v > n, ">=": v >= n}[op]
		}
	}
	var text string
	var judge func(*model) bool
	switch r.IntN(10) {
	case 0:
		tag := pick()
		text, judge = "tag:"+tag, func(m *model) bool { return slices.Contains(m.tags, tag) }
	case 1:
		text, judge = number("rating", func(m *model) map[string]int { return m.numbers })
	case 2:
		text, judge = number("size", func(m *model) map[string]int { return m.inline })
	case 3:
		part := pick()[1:3]
		text, judge = "property:status contains "+part, func(m *model) bool { return strings.Contains(m.texts["status"], part) }
	case 4:
		text, judge = "task:todo", func(m *model) bool { return m.todo > 0 }
	case 5:
		h := pick()
		text, judge = `heading:"`+h+`"`, func(m *model) bool { return m.heading == h }
	case 6:
		p := pick()
		text, judge = "path:"+p+"/", func(m *model) bool { return strings.HasPrefix(m.path, p+"/") }
	case 7:
		n := fmt.Sprintf("n%d", r.IntN(30))
		text, judge = "link:"+n, func(m *model) bool {
			return slices.Contains(m.links, n) && !strings.HasSuffix(m.path, "/"+n+".md")
		}
	case 8:
		value, not := pick(), r.IntN(3) == 0
		if r.IntN(3) == 0 {
			value = pick() + "/" + value
		}
		text, judge = "property:project"+map[bool]string{true: "!=", false: "="}[not]+value, func(m *model) bool {
			has := slices.ContainsFunc(m.projects, func(p [3]string) bool { return p[1] == value || p[0]+p[1] == value || p[2] == value })
			return len(m.projects) > 0 && has != not
		}
	default:
		text, judge = "has:status", func(m *model) bool { _, ok := m.texts["status"]; return ok }
	}
	if r.IntN(3) == 0 {
		return "-" + text, func(m *model) bool { return !judge(m) }
	}
	return text, judge
}

// Random filters select the same notes as their evaluation for the models, with and
// without an index.
func TestFiltersSelectWhatModelsSay(t *testing.T) {
	const filters = 100
	run := stress.Start(t, "filters of notes", 80, 200)
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		var files []string
		models := make([]*model, 30)
		for i := range models {
			models[i] = randomModel(r, i)
			files = append(files, models[i].path, models[i].text())
		}
		w := newWorld(t, files...)
		indexed, err := quarry.Open(w.dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		if err := indexed.Index().Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		books := []*notebook.Book{w.book, notebook.Open(indexed)}
		selecting := 0
		for range filters {
			query, judge := randomFilter(r, 2)
			var want []string
			for _, m := range models {
				if judge(m) {
					want = append(want, m.path)
				}
			}
			slices.Sort(want)
			if len(want) > 0 && len(want) < len(models) {
				selecting++
			}
			for i, book := range books {
				w.book = book
				if got, err := w.selected(query); err != nil || !slices.Equal(got, want) {
					run.Violation(seed, "index %v, %s: %q, %v; want %q", i == 1, query, got, err, want)
				}
			}
		}
		if selecting < filters/2 {
			t.Fatalf("only %d of %d filters select some notes and not others", selecting, filters)
		}
		run.Tried(filters)
		indexed.Close()
	}
}

// A mutated filter is either rejected with the position of the error, or parsed completely:
// its terms and words contain all letters of the query. If only words are left, it can't
// select notes to change.
func TestMutatedFiltersAreRefusedOrWhole(t *testing.T) {
	r := stress.Rand(2)
	w := newWorld(t, "a.md", "x\n")
	refused, words := 0, 0
	for range 1000 {
		query, _ := randomFilter(r, 2)
		runes := []rune(query)
		for range 1 + r.IntN(2) {
			at := r.IntN(len(runes))
			c := []rune(`:"()-=<> xé#/|`)[r.IntN(14)]
			switch r.IntN(3) {
			case 0:
				runes = slices.Delete(runes, at, at+1)
			case 1:
				runes = slices.Insert(runes, at, c)
			default:
				runes[at] = c
			}
		}
		query = string(runes)
		rest, e, err := notefilter.Parse(query)
		if err != nil {
			if !strings.Contains(err.Error(), "at character") {
				t.Errorf("%s: no place in %v", query, err)
			}
			refused++
			continue
		}
		if e == nil {
			words++
			if _, err := w.book.Table(t.Context(), notebook.TableQuery{Query: query}); err == nil {
				t.Errorf("%s: words select notes", query)
			}
			continue
		}
		letters := func(s string) string {
			s = strings.NewReplacer("OR", "", `"`, "", "(", "", ")", "", " ", "", "-", "", ":", "").Replace(s)
			list := []rune(s)
			slices.Sort(list)
			return string(list)
		}
		if shown := letters(rest + written(e)); shown != letters(query) {
			t.Errorf("%s: read as %q and %s", query, rest, written(e))
		}
	}
	t.Logf("%d of 1000 refused, %d words alone, the others read whole", refused, words)
	if refused < 300 || words > 200 {
		t.Error("the mutations hardly damage filters")
	}
}

// written formats a filter as in a query.
func written(e *notefilter.Expr) string {
	switch {
	case e.Term != nil:
		op := e.Term.Op
		if op != "" && op[0] >= 'a' {
			op = " " + op + " "
		}
		return e.Term.Name + ":" + e.Term.Key + op + e.Term.Value
	case e.Not != nil:
		return "-(" + written(e.Not) + ")"
	}
	var parts []string
	for _, part := range slices.Concat(e.All, e.Any) {
		parts = append(parts, written(part))
	}
	return "(" + strings.Join(parts, map[bool]string{true: " OR ", false: " "}[len(e.Any) > 0]) + ")"
}

// A filter with a misspelt name is an error; it isn't treated as words.
func TestMisspeltFiltersAreRefused(t *testing.T) {
	for _, name := range []string{"tga:a", "proprety:a=b", "haz:a", "pth:a", "-heding:a", "lnik:a", "(tasks:todo OR tag:a)"} {
		if _, _, err := notefilter.Parse(name); err == nil || !strings.Contains(err.Error(), "at character") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Random filters with values from real notes select the same notes as a simple evaluation
// of the parsed notes. QUARRY_NOTES_CORPUS is a folder of notes.
func TestFiltersSelectInRealNotes(t *testing.T) {
	dir := os.Getenv("QUARRY_NOTES_CORPUS")
	if dir == "" {
		t.Skip("set QUARRY_NOTES_CORPUS to a folder of notes")
	}
	ctx := t.Context()
	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Wait(ctx); err != nil {
		t.Skip("no index here:", err)
	}
	w := &world{t: t, dir: dir, ws: ws, book: notebook.Open(ws)}
	paths, err := w.selected("path:.md")
	if err != nil {
		t.Fatal(err)
	}
	notes := make([]*realNote, len(paths))
	for i, p := range paths {
		if notes[i], err = readReal(ctx, dir, p); err != nil {
			t.Fatal(err)
		}
	}
	const filters = 100
	run := stress.Start(t, "filters of notes", 40, 100)
	selecting := 0
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		for range filters {
			query, judge := realFilter(r, notes, 2)
			var want []string
			for _, n := range notes {
				if judge(n) {
					want = append(want, n.path)
				}
			}
			if len(want) > 0 && len(want) < len(notes) {
				selecting++
			}
			if got, err := w.selected(query); err != nil || !slices.Equal(got, want) {
				run.Violation(seed, "%s: %d notes, %v; want %d; only one has %q", query, len(got), err, len(want), difference(got, want))
			}
		}
		run.Tried(filters)
	}
	t.Logf("%d notes; %d filters select some and not others", len(notes), selecting)
}

func difference(a, b []string) (out []string) {
	for _, list := range [][2][]string{{a, b}, {b, a}} {
		for _, p := range list[0] {
			if _, found := slices.BinarySearch(list[1], p); !found && len(out) < 5 {
				out = append(out, p)
			}
		}
	}
	return out
}

// realNote is a parsed note. It does not use the facts on which answers are based.
type realNote struct {
	path       string
	tags       []string
	props      map[string][]string // keys in lower case; includes inline fields
	headings   []string
	todo, done bool
	links      bool
}

func readReal(ctx context.Context, dir, path string) (*realNote, error) {
	text, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		return nil, err
	}
	scan, err := vault.Scan(ctx, text)
	if err != nil {
		return nil, err
	}
	head := vault.ReadHead(ctx, text)
	n := &realNote{path: path, tags: scan.AllTags(head), props: map[string][]string{}}
	props, _ := head.Properties()
	for name, v := range props {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		n.props[strings.ToLower(name)] = append(n.props[strings.ToLower(name)], "")
		for _, v := range list {
			n.props[strings.ToLower(name)] = append(n.props[strings.ToLower(name)], strings.ToLower(vault.ShowValue(v)))
		}
	}
	for _, f := range scan.Fields(text) {
		n.props[strings.ToLower(f.Key)] = append(n.props[strings.ToLower(f.Key)], "", strings.ToLower(f.Value))
	}
	for _, h := range scan.Headings {
		n.headings = append(n.headings, strings.ToLower(h.Text))
	}
	for _, task := range scan.Tasks(text) {
		n.todo, n.done = n.todo || task.Open, n.done || task.Done
	}
	n.links = slices.ContainsFunc(scan.Links, func(l vault.Link) bool { return notefields.Counts(&l) })
	return n, nil
}

// realFilter returns a random filter with values of some note, and a function that
// evaluates it.
func realFilter(r *rand.Rand, notes []*realNote, deep int) (string, func(*realNote) bool) {
	if deep > 0 && r.IntN(2) == 0 {
		a, ja := realFilter(r, notes, deep-1)
		b, jb := realFilter(r, notes, deep-1)
		if r.IntN(2) == 0 {
			return "(" + a + " OR " + b + ")", func(n *realNote) bool { return ja(n) || jb(n) }
		}
		return "-(" + a + " " + b + ")", func(n *realNote) bool { return !ja(n) || !jb(n) }
	}
	n := notes[r.IntN(len(notes))]
	plain := func(s string) string { return strings.NewReplacer(`"`, "", "\n", "").Replace(s) }
	pick := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return list[r.IntN(len(list))]
	}
	switch r.IntN(6) {
	case 0:
		tag := strings.ToLower(pick(n.tags))
		return "tag:" + tag, func(n *realNote) bool {
			return slices.ContainsFunc(n.tags, func(t string) bool {
				t = strings.ToLower(t)
				return t == tag || strings.HasPrefix(t, tag+"/")
			})
		}
	case 1:
		h := []rune(plain(pick(n.headings)))
		from := r.IntN(len(h) + 1)
		part := strings.TrimSpace(string(h[from:min(len(h), from+1+r.IntN(12))]))
		if part == "" {
			part = "e"
		}
		return `heading:"` + part + `"`, func(n *realNote) bool {
			return slices.ContainsFunc(n.headings, func(h string) bool { return strings.Contains(h, part) })
		}
	case 2:
		folder := strings.ToLower(strings.Split(n.path, "/")[0])
		return `path:"` + folder + `"`, func(n *realNote) bool { return strings.Contains(strings.ToLower(n.path), folder) }
	case 3:
		kind := r.IntN(4)
		return []string{"task:todo", "task:done", "has:links", "has:headings"}[kind], func(n *realNote) bool {
			return []bool{n.todo, n.done, n.links, len(n.headings) > 0}[kind]
		}
	}
	var names []string
	for name := range n.props {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	name := pick(names)
	value := strings.TrimSpace(plain(pick(n.props[name])))
	if value == "" || value == "none" || len(value) > 60 || strings.ContainsAny(value[:1], "=<>!") {
		return "property:" + name, func(n *realNote) bool { return n.props[name] != nil }
	}
	if len(value) > 8 && r.IntN(2) == 0 {
		part := strings.TrimSpace(strings.ToValidUTF8(value[2:7], ""))
		if part != "" && !strings.ContainsAny(part[:1], "=<>!") {
			return "property:" + name + ` contains "` + part + `"`, func(n *realNote) bool {
				return slices.ContainsFunc(n.props[name], func(v string) bool { return strings.Contains(v, part) })
			}
		}
	}
	return "property:" + name + `="` + value + `"`, func(n *realNote) bool {
		return slices.ContainsFunc(n.props[name], func(v string) bool {
			x, e1 := strconv.ParseFloat(v, 64)
			y, e2 := strconv.ParseFloat(value, 64)
			return v == value || slices.Contains(linkNames(v), strings.TrimSuffix(value, ".md")) || e1 == nil && e2 == nil && x == y
		})
	}
}

var wholeLink = regexp.MustCompile(`^\[\[([^\]\[|]*?)(\.md)?(#[^\]\[|]*)?(?:\|([^\]\[]*))?\]\]$`)

// linkNames returns the names by which a value that is a link can be matched.
func linkNames(v string) []string {
	m := wholeLink.FindStringSubmatch(v)
	if m == nil {
		return nil
	}
	target := m[1]
	return []string{target, target + m[3], target[strings.LastIndex(target, "/")+1:], m[4]}
}

// For every note, link: selects the sources of its Backlinks. QUARRY_NOTES_CORPUS is a
// folder of notes; without it, notes are generated.
func TestLinkFilterIsBacklinks(t *testing.T) {
	dir := os.Getenv("QUARRY_NOTES_CORPUS")
	if dir == "" {
		dir = bigVault(t, 60)
	}
	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Wait(t.Context()); err != nil {
		t.Skip("no index here:", err)
	}
	w := &world{t: t, dir: dir, ws: ws, book: notebook.Open(ws)}
	all, err := w.selected("path:.md")
	if err != nil {
		t.Fatal(err)
	}
	linked := 0
	for _, note := range all {
		links, err := w.book.Backlinks(t.Context(), note)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, l := range links {
			if strings.HasSuffix(strings.ToLower(l.Source), ".md") {
				want = append(want, l.Source)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got, err := w.selected(`link:"` + strings.ReplaceAll(note, `"`, "") + `"`)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", note, got, err, want)
		}
		if len(want) > 0 {
			linked++
		}
	}
	t.Logf("%d notes, %d with backlinks", len(all), linked)
	if linked == 0 {
		t.Fatal("no note has a backlink")
	}
}
