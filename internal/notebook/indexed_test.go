package notebook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/stress"
	"quarry/search"
)

// noteWords contains words that are parts of others, in several scripts and forms.
var noteWords = strings.Fields(`garden gardens Gardening plan planned Planung Haushaltsplanung log Log daily résumé resume cafe café
	机器学习 学习 机器 東京都 カタカナ カード 학교에서 학교 โรงเรียน เรียน привет Привет index a the of x1 C++ foo_bar fooBar naïve zebra`)

func noteWord(r *rand.Rand) string { return noteWords[r.IntN(len(noteWords))] }

// notePath returns the path of one of a few files.
func notePath(r *rand.Rand) string {
	folder := []string{"", "", "Garden/", "a/b/", "学习/", ".hidden/", "ignored/"}[r.IntN(7)]
	name := []string{noteWord(r), fmt.Sprint("Note ", r.IntN(12)), "index", "README", "Résumé"}[r.IntN(5)]
	return folder + strings.NewReplacer("/", "").Replace(name) + []string{".md", ".md", ".md", ".md", ".canvas", ".txt", ".MD", ".png"}[r.IntN(8)]
}

// noteLink returns a link in a random spelling.
func noteLink(r *rand.Rand) string {
	to := notePath(r)
	base := strings.TrimSuffix(to[strings.LastIndexByte(to, '/')+1:], ".md")
	switch r.IntN(9) {
	case 0:
		return "[[" + base + "]]"
	case 1:
		return "[[" + strings.ToUpper(base) + "#Log|" + noteWord(r) + "]]"
	case 2:
		return "![[" + to + "]]"
	case 3:
		return "[" + noteWord(r) + "](" + strings.ReplaceAll(to, " ", "%20") + "#log)"
	case 4:
		return "[[#Log]] [x](#log)"
	case 5:
		return "[out](https://example.org/" + base + ")"
	case 6:
		return "[up](../" + strings.ReplaceAll(to, " ", "%20") + ")"
	case 7:
		return "[[nowhere " + noteWord(r) + "]]"
	}
	return "[ref]\n\n[ref]: <" + to + ">\n"
}

func noteText(r *rand.Rand, path string) []byte {
	if strings.HasSuffix(path, ".canvas") {
		return fmt.Appendf(nil, `{"nodes":[{"id":"1","type":"file","file":%q},{"id":"2","type":"text","text":%q}]}`, notePath(r), noteLink(r))
	}
	var b strings.Builder
	if r.IntN(2) == 0 {
		b.WriteString("---\n")
		for range r.IntN(4) {
			line := []string{"tags: [%s, work/%s]\n", "Aliases: %s\n", "status: %s\n", "title: %s %s\n", "due: 2024-12-0%d\n", "n: %d\n", "list:\n  - %s\n  - true\n", "broken: [%s\n", "see: \"[[%s]]\"\n"}[r.IntN(9)]
			b.WriteString(strings.NewReplacer("%s", strings.ReplaceAll(noteWord(r), "+", ""), "%d", fmt.Sprint(1+r.IntN(9))).Replace(line))
		}
		b.WriteString("---\n")
	}
	for range r.IntN(12) {
		switch r.IntN(7) {
		case 0:
			fmt.Fprintf(&b, "%s %s %s\n", strings.Repeat("#", 1+r.IntN(3)), noteWord(r), noteWord(r))
		case 1:
			fmt.Fprintf(&b, "see %s and #%s or #work/%s\n", noteLink(r), noteWord(r), noteWord(r))
		case 2:
			b.WriteString(noteLink(r) + "\n")
		case 3:
			b.WriteString(strings.Repeat(noteWord(r)+" ", 1+r.IntN(160)) + "\n")
		default:
			for range 1 + r.IntN(12) {
				b.WriteString(noteWord(r) + " ")
			}
			b.WriteString("\n")
		}
	}
	text := b.String()
	switch r.IntN(14) {
	case 0:
		return []byte(strings.ReplaceAll(text, "\n", "\r\n"))
	case 1:
		return []byte("\xef\xbb\xbf" + text)
	case 2:
		return []byte("\xef\xbb\xbf" + text + "\xe9t\xe9\n")
	case 3:
		return []byte(text + "caf\xe9 zebra\n")
	case 4:
		return []byte(text + "\x00")
	case 5:
		out := []byte{0xFF, 0xFE}
		for _, u := range utf16.Encode([]rune(text)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return out
	}
	return []byte(text)
}

// noteCall returns a random query about all notes. found is the number of results in its
// answer.
func noteCall(r *rand.Rand) (what string, ask func(context.Context, *notebook.Book) (answer any, found int, err error)) {
	type searched struct {
		*notebook.Result
		Binary, TooLarge, Unreadable, Denied int
	}
	query := func(q notebook.Query) (string, func(context.Context, *notebook.Book) (any, int, error)) {
		q.Globs, q.Dialect = []string{"**/*.md"}, search.Plain
		q.IncludeHidden = r.IntN(6) == 0
		if r.IntN(6) == 0 {
			q.Paths = []string{"Garden"}
		}
		return fmt.Sprintf("%+v", q), func(ctx context.Context, b *notebook.Book) (any, int, error) {
			res, err := b.Search(ctx, q)
			if fault.CodeOf(err) == fault.NotFound {
				return err.Error(), 0, nil // the error of link: for a name that doesn't occur
			}
			if err != nil {
				return nil, 0, err
			}
			s := searched{res, res.SkippedCount[search.Binary], res.SkippedCount[search.TooLarge], res.SkippedCount[search.Unreadable], res.Denied}
			res.Summary = search.Summary{FilesMatched: res.FilesMatched, Stopped: res.Stopped, Stats: search.Stats{Searched: res.Stats.Searched}}
			return s, res.Total, nil
		}
	}
	words := func() string {
		w := []string{noteWord(r)}
		for range r.IntN(4) {
			w = append(w, noteWord(r))
		}
		if r.IntN(4) == 0 {
			w[0] = w[0][:1+r.IntN(len(w[0]))] // possibly in the middle of a character
			w[0] = strings.ToValidUTF8(w[0], "")
		}
		return strings.Join(w, " ")
	}
	filter := func() string {
		return []string{"tag:work", "tag:" + noteWord(r), "property:status", "property:status=" + noteWord(r), "property:LIST=true", "property:due=2024-12-03",
			"path:Garden", "heading:" + noteWord(r), "link:" + noteWord(r), "-tag:work", "-property:status"}[r.IntN(11)]
	}
	switch r.IntN(10) {
	case 0, 1, 2:
		return query(notebook.Query{Query: words(), Loose: true, Limit: 1 + r.IntN(12), Content: r.IntN(3) == 0, MaxContent: 50})
	case 3:
		return query(notebook.Query{Query: words() + " " + filter(), Loose: true, Limit: 1 + r.IntN(12)})
	case 4:
		return query(notebook.Query{Query: filter() + " " + filter(), Loose: true, Content: r.IntN(3) == 0, MaxContent: 50})
	case 5:
		return query(notebook.Query{Query: words(), Limit: 1 + r.IntN(12)})
	case 6:
		return "tags", func(ctx context.Context, b *notebook.Book) (any, int, error) {
			list, err := b.Tags(ctx, "")
			tagged, err2 := b.Tagged(ctx, "work")
			if err == nil {
				err = err2
			}
			return []any{list, tagged}, len(list) + len(tagged), err
		}
	case 7:
		return "properties", func(ctx context.Context, b *notebook.Book) (any, int, error) {
			list, err := b.PropertyNames(ctx)
			return list, len(list), err
		}
	case 8:
		return "orphans and unresolved", func(ctx context.Context, b *notebook.Book) (any, int, error) {
			orphans, err := b.Orphans(ctx)
			if err != nil {
				return nil, 0, err
			}
			links, err := b.Unresolved(ctx, "")
			if err == nil {
				err = b.Place(ctx, links)
			}
			return []any{orphans, links}, len(orphans) + len(links), err
		}
	}
	path := notePath(r)
	return "backlinks of " + path, func(ctx context.Context, b *notebook.Book) (any, int, error) {
		links, err := b.Backlinks(ctx, path)
		if err == nil {
			err = b.Place(ctx, links)
		}
		return links, len(links), err
	}
}

// Answers about notes are the same with an index, without one, and with the index of
// another process, while notes change.
func TestNotesIndexEqualsScan(t *testing.T) {
	stress.SkipTiny(t)
	run := stress.Start(t, "notes: index = scan", 8, 400)
	some, all := 0, 0
	for seed := range run.Cases() {
		found, tried, err := notesEqual(t, seed)
		some, all = some+found, all+tried
		run.Tried(tried)
		if err != nil {
			run.Violation(seed, "%v", err)
		}
	}
	t.Logf("%d answers compared, %d of them not empty", all, some)
	if some*2 < all && !t.Failed() {
		t.Errorf("only %d of %d answers are not empty", some, all)
	}
}

func notesEqual(t *testing.T, seed uint64) (some, tried int, err error) {
	ctx := t.Context()
	r := stress.Rand(seed)
	base := stress.FastDir(t)
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "vault")
	step := func() {
		path := notePath(r)
		full := filepath.Join(dir, path)
		os.MkdirAll(filepath.Dir(full), 0o700)
		if r.IntN(8) == 0 {
			os.Remove(full)
		} else if err := os.WriteFile(full, noteText(r, path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 60 {
		step()
	}
	os.WriteFile(filepath.Join(dir, ".ignore"), []byte("ignored/\n"), 0o600)
	without, err := quarry.Open(dir, nil)
	if err != nil {
		return 0, 0, err
	}
	defer without.Close()
	place := &quarry.IndexOptions{Dir: filepath.Join(base, "index"), Socket: filepath.Join(base, "s", "sock")}
	os.Mkdir(place.Dir, 0o700)
	for range 2 {
		owner, err := quarry.Open(dir, &quarry.Options{Workers: 1 + r.IntN(3), Index: place})
		if err == nil {
			err = owner.Index().Wait(ctx)
		}
		if err != nil {
			return some, tried, err
		}
		client, err := quarry.Open(dir, &quarry.Options{Index: place})
		if err != nil {
			return some, tried, err
		}
		for range 40 {
			if r.IntN(3) == 0 {
				step()
			}
			found, err := sameNotes(ctx, r, without, owner, client)
			if tried++; found > 0 {
				some++
			}
			if err != nil {
				client.Close()
				owner.Close()
				return some, tried, err
			}
		}
		client.Close()
		owner.Close()
	}
	return some, tried, nil
}

// planned records whether answers came from the index or from the cache.
type planned struct {
	*quarry.Workspace
	indexed, remembered bool
}

func (w *planned) Remember(ctx context.Context, key string, make func(context.Context) (any, error)) (any, error) {
	made := false
	v, err := w.Workspace.Remember(ctx, key, func(ctx context.Context) (any, error) {
		made = true
		return make(ctx)
	})
	if !made && err == nil {
		w.indexed, w.remembered = true, true
	}
	return v, err
}

func (w *planned) EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error) {
	s, err := w.Workspace.EachText(ctx, q, look, yield)
	w.indexed = err == nil && s.Stats.Plan.Indexed()
	return s, err
}

// sameNotes compares the answers of several workspaces to a random query.
func sameNotes(ctx context.Context, r *rand.Rand, list ...*quarry.Workspace) (found int, err error) {
	what, ask := noteCall(r)
	want := ""
	for i, ws := range list {
		w := &planned{Workspace: ws}
		a, n, err := ask(ctx, notebook.Open(w))
		if byIndex := i > 0 && err == nil; byIndex != w.indexed {
			return n, fmt.Errorf("%s, workspace %d: by the index: %v", what, i, w.indexed)
		}
		text, _ := json.MarshalIndent(a, "", " ")
		got := fmt.Sprintf("%s\n%v", text, err)
		if i == 0 {
			want, found = got, n
		} else if got != want {
			return n, fmt.Errorf("%s, workspace %d:\n%s", what, i, cmp.Diff(want, got))
		}
	}
	return found, nil
}
