package recorder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/stress"
)

// Authors who work in separate folders go back to points repeatedly, for one author or
// for all. Nothing is refused. Going back for all authors restores the copy of the tree
// at the point; for one author, it doesn't touch the others' folders.
func TestBackByAuthor(t *testing.T) {
	run := stress.Start(t, "going back by author", 40, 400)
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		p := newPlace(t)
		ws := p.open()
		authors := []string{"agent", "helper", change.Yourself, "another program"}
		names := []string{"a.txt", "sub/b.txt", "c.txt"}
		points := map[string]tree{}
		undone := map[string]bool{} // points followed by an undo
		var did []string
		point := func() {
			name := fmt.Sprint("p", len(points))
			must(t, ws.Point(t.Context(), name))
			points[name] = p.tree()
			did = append(did, "point "+name)
		}
		point()
		for range 25 {
			k := r.IntN(len(authors))
			who := authors[k]
			name := fmt.Sprintf("d%d/%s", k, names[r.IntN(3)])
			full := filepath.Join(p.dir, name)
			o := change.Options{Client: change.Client{Name: who}}
			if who == change.Yourself {
				o = change.Options{}
			}
			outside := who == "another program"
			switch n := r.IntN(14); {
			case n == 0:
				point()
			case n < 4:
				by := ""
				if r.IntN(3) > 0 {
					by = who
				}
				log, err := ws.Changes(t.Context(), 0)
				must(t, err)
				to := log.Points[r.IntN(len(log.Points))]
				did = append(did, fmt.Sprintf("%s by %q", to.Name, by))
				before := p.tree()
				if _, err = ws.Undo(t.Context(), "", &change.Options{To: &change.Back{After: to.After, Since: to.Time, Name: to.Name, By: by}}); err != nil {
					run.Violation(seed, "%v\n%s\n%s", err, strings.Join(did, "\n"), p.summaries(ws))
					break
				}
				now := p.tree() // the trash has the deleted files
				for _, path := range differ(points[to.Name], now) {
					if strings.HasPrefix(path, ".trash") {
						continue
					}
					if of := strings.HasPrefix(path, fmt.Sprintf("d%d", k)); by == "" || of && !undone[to.Name] {
						run.Violation(seed, "%s is not as it was\n%s\n%s", path, strings.Join(did, "\n"), p.summaries(ws))
					}
				}
				for _, path := range differ(before, now) {
					if by != "" && !strings.HasPrefix(path, fmt.Sprintf("d%d", k)) && !strings.HasPrefix(path, ".trash") {
						run.Violation(seed, "%s is another's\n%s", path, strings.Join(did, "\n"))
					}
				}
				for name := range points {
					undone[name] = true
				}
			case n < 6:
				did = append(did, who+" deletes "+name)
				if outside {
					_ = os.Remove(full) // it may not exist; the same goes for the other cases
				} else {
					_, _ = ws.Delete(t.Context(), name, &change.DeleteOptions{Options: o})
				}
			case n < 8:
				to := fmt.Sprintf("d%d/%s", k, names[r.IntN(3)])
				did = append(did, who+" moves "+name+" to "+to)
				if outside {
					_ = os.Rename(full, filepath.Join(p.dir, to))
				} else {
					_, _ = ws.Move(t.Context(), name, to, &change.MoveOptions{Options: o})
				}
			default:
				did = append(did, who+" writes "+name)
				text := fmt.Sprintf("text %d\n", r.IntN(1000))
				if outside {
					p.put(name, text)
				} else if _, err := ws.Write(t.Context(), name, []byte(text), &o); err != nil {
					t.Fatal(err)
				}
			}
			if t.Failed() {
				break
			}
		}
		ws.Close()
		run.Tried(1)
	}
}

// sections is a file in which each author has lines between fixed ones.
type sections map[string]string

func (s sections) text(authors []string) string {
	var b strings.Builder
	for _, who := range authors {
		fmt.Fprintf(&b, "of %s:\n%s", who, s[who])
	}
	return b.String() + "end\n"
}

// Authors edit different lines of the same files, in turns. Going back for one of them
// removes the author's lines and keeps all others.
func TestOneAuthorInSharedFiles(t *testing.T) {
	run := stress.Start(t, "going back by author in shared files", 40, 400)
	authors := []string{"agent", "helper", change.Yourself, "another program"}
	type effect struct{ at, file, before int } // at: the number of the point before; before: the number of the text
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		p := newPlace(t)
		files := []sections{{}, {}}
		name := func(k int) string { return fmt.Sprintf("d/f%d.txt", k) }
		for k, f := range files {
			p.put(name(k), f.text(authors))
		}
		ws := p.open()
		texts, made := []string{""}, map[string][]effect{}
		var did []string
		points := 0
		for range 25 {
			who := authors[r.IntN(len(authors))]
			n := r.IntN(8)
			if n == 0 || points == 0 {
				must(t, ws.Point(t.Context(), fmt.Sprint("p", points)))
				did = append(did, fmt.Sprint("point p", points))
				points++
				continue
			}
			if n < 3 {
				to := r.IntN(points)
				did = append(did, fmt.Sprintf("p%d by %s", to, who))
				log, err := ws.Changes(t.Context(), 0)
				must(t, err)
				at := log.Points[len(log.Points)-1-to]
				done, err := ws.Undo(t.Context(), "", &change.Options{To: &change.Back{After: at.After, Since: at.Time, Name: at.Name, By: who}})
				if err != nil {
					run.Violation(seed, "%v\n%s\n%s", err, strings.Join(did, "\n"), p.summaries(ws))
					break
				}
				if done.Unchanged { // the author's own edits had restored the old text
					continue
				}
				for i, e := range slices.Backward(made[who]) {
					if e.at >= to {
						files[e.file][who] = texts[e.before]
						made[who] = made[who][:i]
					}
				}
			} else {
				k := r.IntN(len(files))
				old, text := files[k][who], ""
				for range r.IntN(3) {
					text += fmt.Sprintf("line %d\n", r.IntN(1_000_000))
				}
				made[who] = append(made[who], effect{points - 1, k, len(texts)})
				texts = append(texts, old)
				did = append(did, fmt.Sprintf("%s in %s: %q to %q", who, name(k), old, text))
				files[k][who] = text
				now := files[k].text(authors)
				o := change.Options{Client: change.Client{Name: who}}
				var err error
				switch {
				case who == "another program":
					p.put(name(k), now)
				case old != "" && n&1 == 0:
					_, err = ws.Edit(t.Context(), name(k), []change.Edit{{Old: old, New: text}}, &o)
				case who == change.Yourself:
					_, err = ws.Write(t.Context(), name(k), []byte(now), nil)
				default:
					_, err = ws.Write(t.Context(), name(k), []byte(now), &o)
				}
				must(t, err)
			}
			for k, f := range files {
				if got := p.text(name(k)); got != f.text(authors) {
					run.Violation(seed, "%s is\n%s\nwant\n%s\n%s", name(k), got, f.text(authors), strings.Join(did, "\n"))
				}
			}
			if t.Failed() {
				break
			}
		}
		ws.Close()
		run.Tried(1)
	}
}

// Going back for one author respects the changes that others made to the same files.
func TestBackByAuthorBesideOthers(t *testing.T) {
	const old = "one\ntwo\nthree\nfour\nfive\n"
	agent := change.Options{Client: change.Client{Name: "agent"}}
	helper := change.Options{Client: change.Client{Name: "helper"}}
	edit := func(t *testing.T, ws *quarry.Workspace, name, from, to string, o change.Options) {
		t.Helper()
		_, err := ws.Edit(t.Context(), name, []change.Edit{{Old: from, New: to}}, &o)
		must(t, err)
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, ws *quarry.Workspace)
		want string // of a.txt, or moved.txt
		left string // why a.txt is not changed; "" if it is
	}{
		{"other lines in between", func(t *testing.T, ws *quarry.Workspace) {
			edit(t, ws, "a.txt", "one", "1", agent)
			edit(t, ws, "a.txt", "three", "3", helper)
			edit(t, ws, "a.txt", "five", "5", agent)
		}, "one\ntwo\n3\nfour\nfive\n", ""},
		{"other lines afterwards", func(t *testing.T, ws *quarry.Workspace) {
			edit(t, ws, "a.txt", "one", "1", agent)
			edit(t, ws, "a.txt", "1\n", "first\n", agent)
			edit(t, ws, "a.txt", "five", "5", helper)
		}, "one\ntwo\nthree\nfour\n5\n", ""},
		{"the same line", func(t *testing.T, ws *quarry.Workspace) {
			edit(t, ws, "a.txt", "one", "1", agent)
			edit(t, ws, "a.txt", "1\n", "first\n", helper)
			edit(t, ws, "a.txt", "five", "5", agent)
		}, "first\ntwo\nthree\nfour\n5\n", "changed since: line 1 of the change, by"},
		{"the whole file as it was", func(t *testing.T, ws *quarry.Workspace) {
			edit(t, ws, "a.txt", "one", "1", agent)
			edit(t, ws, "a.txt", "five", "5", helper)
			_, err := ws.Write(t.Context(), "a.txt", []byte(old), &agent)
			must(t, err)
		}, "one\ntwo\nthree\nfour\n5\n", ""},
		{"a new name", func(t *testing.T, ws *quarry.Workspace) {
			edit(t, ws, "a.txt", "one", "1", agent)
			_, err := ws.Move(t.Context(), "a.txt", "moved.txt", &change.MoveOptions{Options: helper})
			must(t, err)
			edit(t, ws, "moved.txt", "five", "5", agent)
		}, old, ""},
		{"a file that the author made", func(t *testing.T, ws *quarry.Workspace) {
			_, err := ws.Delete(t.Context(), "a.txt", nil)
			must(t, err)
			_, err = ws.Write(t.Context(), "a.txt", []byte(old), &agent)
			must(t, err)
			edit(t, ws, "a.txt", "one", "1", helper)
			edit(t, ws, "a.txt", "five", "5", agent)
		}, "1\ntwo\nthree\nfour\n5\n", "changed since"},
		{"deleted since", func(t *testing.T, ws *quarry.Workspace) {
			edit(t, ws, "a.txt", "one", "1", agent)
			_, err := ws.Delete(t.Context(), "a.txt", &change.DeleteOptions{Options: helper})
			must(t, err)
		}, "-", "no longer exists"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.put("a.txt", old)
			p.put("other.txt", old)
			o := p.options()
			o.Index = nil
			ws, err := quarry.Open(p.dir, o)
			must(t, err)
			defer ws.Close()
			must(t, ws.Point(t.Context(), "start"))
			c.do(t, ws)
			edit(t, ws, "other.txt", "two", "2", agent)
			log, err := ws.Changes(t.Context(), 0)
			must(t, err)
			back := change.Options{To: &change.Back{Since: log.Points[0].Time, Name: "start", By: "agent"}}
			text := func() string {
				if got := p.text("moved.txt"); got != "-" {
					return got
				}
				return p.text("a.txt")
			}
			done, err := ws.Undo(t.Context(), "", &back)
			if c.left != "" {
				if err == nil || !strings.Contains(err.Error(), "a.txt "+c.left) || p.text("other.txt") == old {
					t.Fatalf("not refused: %v", err)
				}
				back.SkipConflicts = true
				if done, err = ws.Undo(t.Context(), "", &back); err == nil && !strings.Contains(strings.Join(done.Warnings, "\n"), "left as it is: a.txt "+c.left) {
					t.Errorf("warns of %q", done.Warnings)
				}
			}
			must(t, err)
			if got := text(); got != c.want || p.text("other.txt") != old {
				t.Errorf("got %q and %q, want %q", got, p.text("other.txt"), c.want)
			}
			if c.left == "" {
				_, err = ws.Undo(t.Context(), done.ID, nil)
				must(t, err)
				if got := text(); got == c.want || p.text("other.txt") == old {
					t.Errorf("undone, it is %q", got)
				}
			}
		})
	}
}
