package recorder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
				now := p.tree() // the trash keeps what was deleted
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
					_ = os.Remove(full) // it may not be there, in the other cases as well
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
