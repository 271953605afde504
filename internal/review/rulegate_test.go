package review_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// ruled opens the workspace of an agent whose changes follow rules.
func (b *bench) ruled(rules func() ([]string, error), only bool) *quarry.Workspace {
	return b.open(&quarry.ReviewOptions{Dir: b.reviews, Wait: -1, Rules: rules, OnlyRules: only})
}

func fixed(rules ...string) func() ([]string, error) {
	return func() ([]string, error) { return rules, nil }
}

var hisFiles = map[string]string{
	"docs/a.md": "a\n", "docs/b.md": "b\nb\n", "docs/deep/c.md": "c\n", "src/x.go": "x\nx\nx\n", "src/y.go": "y\n", "src/gen/z.go": "z\n",
	"yarn.lock": "l\n", "docs/in.lock": "l\n", "my notes/n.txt": "n\n", "top.txt": "t\n",
}

// twin says what the rules come to, in the plainest way: it knows the files by name,
// keeps its own list of what was changed, and matches the few kinds of globs that it
// makes up itself.
type twin struct {
	rules  []string
	only   bool
	events []event // oldest first
}

// event is a change that was made.
type event struct {
	lines  map[string]int
	from   map[string]string // new name: old name
	person bool              // somebody looked at it
}

func (w *twin) before(name string) int {
	names, total := []string{name}, 0
	for i := len(w.events) - 1; i >= 0; i-- {
		e := w.events[i]
		touched := false
		for p := range e.lines {
			touched = touched || slices.Contains(names, p)
		}
		if !touched {
			continue
		}
		if e.person {
			return total
		}
		for p, n := range e.lines {
			if slices.Contains(names, p) && e.from[p] == "" {
				total += n
			}
		}
		for to, from := range e.from {
			if slices.Contains(names, to) || slices.Contains(names, from) {
				names = append(names, from)
			}
		}
	}
	return total
}

// matches knows **, *.ext, dir/** and plain names.
func plainMatch(glob, name string, anyCase bool) bool {
	if anyCase {
		glob, name = strings.ToLower(glob), strings.ToLower(name)
	}
	switch {
	case glob == "**":
		return true
	case strings.HasPrefix(glob, "*."):
		for _, part := range strings.Split(name, "/") {
			if strings.HasSuffix(part, glob[1:]) {
				return true
			}
		}
		return false
	case strings.HasSuffix(glob, "/**"):
		return strings.HasPrefix(name, strings.TrimSuffix(glob, "**"))
	}
	return name == glob
}

// action is that of a change with these lines in these files.
func (w *twin) action(tool, client string, lines map[string]int) review.Action {
	worst, first := review.Accept, true
	for name, n := range lines {
		one, found := review.Ask, false
		if w.only {
			one = review.Accept
		}
		for _, rule := range w.rules {
			var glob string
			fits, has := true, false
			words := strings.SplitN(rule, " ", 2)
			verb := map[string]review.Action{"accept": review.Accept, "ask": review.Ask, "refuse": review.Refuse}[words[0]]
			for _, cond := range strings.Split(words[1], " & ") {
				switch {
				case strings.HasPrefix(cond, "tool:"):
					fits = fits && cond[5:] == tool
				case strings.HasPrefix(cond, "client:"):
					fits = fits && (client == "" || strings.EqualFold(cond[7:], client))
				case strings.HasPrefix(cond, "lines>"):
					var most int
					fmt.Sscan(cond[6:], &most)
					fits = fits && n+w.before(name) > most
				case strings.HasPrefix(cond, "lines<="):
					var most int
					fmt.Sscan(cond[7:], &most)
					fits = fits && n+w.before(name) <= most
				default:
					glob, has = strings.Trim(cond, `"`), true
				}
			}
			if has && !plainMatch(glob, name, verb != review.Accept) {
				fits = false
			}
			if fits && (!found || verb > one) {
				one, found = verb, true
			}
		}
		if first || one > worst {
			worst, first = one, false
		}
	}
	return worst
}

func someRules(rng *rand.Rand) (rules []string) {
	globs := []string{"**", "docs/**", "src/**", "*.lock", "**", "docs/a.md", "*.md", `"my notes/**"`, "src/gen/**", "top.txt", "DOCS/**"}
	for range rng.IntN(6) {
		verb := []string{"accept", "accept", "accept", "ask", "refuse"}[rng.IntN(5)]
		conds := []string{globs[rng.IntN(len(globs))]}
		if rng.IntN(4) == 0 {
			conds = append(conds, []string{"tool:edit_file", "tool:apply_changes"}[rng.IntN(2)])
		}
		if rng.IntN(4) == 0 && verb != "accept" {
			conds = append(conds, []string{"client:cursor", "client:Claude"}[rng.IntN(2)])
		}
		if rng.IntN(3) == 0 {
			conds = append(conds, fmt.Sprintf([]string{"lines>%d", "lines<=%d"}[rng.IntN(2)], rng.IntN(12)))
			if rng.IntN(2) == 0 {
				conds = conds[1:]
			}
		}
		rules = append(rules, verb+" "+strings.Join(conds, " & "))
	}
	return rules
}

// spelled is another spelling of a path, or a link to it.
func spelled(rng *rand.Rand, p string) string {
	switch rng.IntN(6) {
	case 0:
		return "./" + p
	case 1:
		return path.Dir(p) + "//" + path.Base(p)
	case 2:
		return "docs/../" + p
	case 3:
		if rest, ok := strings.CutPrefix(p, "src/"); ok {
			return "docs/there/" + rest // a link to src
		}
	}
	return p
}

// TestRulesInTheGate compares what the gate does with random changes under random
// rules with the twin: what is made, asked and refused, and that nothing is written
// before a decision.
func TestRulesInTheGate(t *testing.T) {
	if !stress.CanLink(t) {
		t.Skip("no symlinks here: links are half of the test")
	}
	run := stress.Start(t, "rules in the gate", 120, 200)
	var made, asked, refused, parts int
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		b := newBench(t, hisFiles, -1)
		if err := os.Symlink(filepath.FromSlash("../src"), filepath.Join(b.dir, "docs", "there")); err != nil {
			t.Fatal(err)
		}
		w := &twin{rules: someRules(rng), only: rng.IntN(2) == 0}
		var lines []string
		for _, r := range w.rules {
			lines = append(lines, strings.ReplaceAll(r, " & ", " "))
		}
		agent := b.ruled(fixed(lines...), w.only)
		texts := map[string]string{}
		for name, text := range hisFiles {
			texts[name] = text
		}
		for k := range 25 {
			run.Tried(1)
			set, touched, from, after := someChange(rng, texts, fmt.Sprint(seed, k))
			if len(set.Ops) == 0 {
				continue
			}
			parts += len(touched)
			set.Tool = []string{"edit_file", "apply_changes"}[rng.IntN(2)]
			set.Client.Name = []string{"", "cursor", "CLAUDE", "other"}[rng.IntN(4)]
			set.Client.Session = fmt.Sprint("s", rng.IntN(3))
			want := w.action(set.Tool, set.Client.Name, touched)
			tree := b.tree()
			c, err := agent.Apply(t.Context(), set)
			got := review.Accept
			var pending *review.PendingError
			var out *review.RuledOutError
			switch {
			case errors.As(err, &pending):
				got = review.Ask
			case errors.As(err, &out):
				got = review.Refuse
			case err != nil:
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got != want {
				run.Violation(seed, "change %d of %s (only %v) by %q with %s: %v, want %v; rules %q; %v", k, fmt.Sprint(touched), w.only, set.Client.Name, set.Tool, got, want, w.rules, err)
				break
			}
			if got != review.Accept && b.tree() != tree {
				run.Violation(seed, "something was written: %v", got)
			}
			person := false
			switch got {
			case review.Accept:
				made++
				if c.ID == "" {
					t.Fatalf("seed %d: no id", seed)
				}
			case review.Refuse:
				refused++
				continue
			case review.Ask:
				asked++
				verdict := review.No
				if rng.IntN(2) == 0 {
					verdict = review.Yes
				}
				if _, err := b.store.Decide(t.Context(), b.person, pending.ID, review.Decision{Rest: verdict, By: "page", Confirm: true}); err != nil {
					t.Fatalf("seed %d: decide: %v", seed, err)
				}
				if verdict == review.No {
					continue
				}
				person = true
			}
			w.events = append(w.events, event{touched, from, person})
			texts = after
		}
	}
	t.Logf("%d made, %d asked, %d refused, %d parts", made, asked, refused, parts)
	if most := max(made, asked, refused); most > 200 && min(made, asked, refused) < most/200 || asked == 0 || refused == 0 {
		t.Error("too few of one kind")
	}
}

// someChange makes up a set of one to three operations on different files, with the
// lines that each changes, the new names, and the texts afterwards.
func someChange(rng *rand.Rand, texts map[string]string, mark string) (set change.Set, lines map[string]int, from, after map[string]string) {
	lines, from, after = map[string]int{}, map[string]string{}, map[string]string{}
	names := []string{}
	for name, text := range texts {
		names, after[name] = append(names, name), text
	}
	slices.Sort(names)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names[:min(len(names), 1+rng.IntN(3))] {
		more := strings.Repeat("new "+mark+"\n", 1+rng.IntN(6))
		op := change.Op{Path: spelled(rng, name)}
		switch rng.IntN(6) {
		case 0:
			op.Verb, op.FileOnly = change.DeletePath, true
			lines[name] = strings.Count(after[name], "\n")
			delete(after, name)
		case 1:
			to := []string{"docs/", "src/", "", "src/gen/"}[rng.IntN(4)] + fmt.Sprintf("m%s-%d.md", strings.ReplaceAll(mark, " ", "-"), i)
			op.Verb, op.To = change.MovePath, to
			lines[name], lines[to], from[to] = 0, 0, name
			after[to] = after[name]
			delete(after, name)
		case 2:
			made := path.Dir(name) + fmt.Sprintf("/c%s-%d.md", strings.ReplaceAll(mark, " ", "-"), i)
			made = path.Clean(made)
			op.Verb, op.Path, op.Content = change.CreateFile, spelled(rng, made), []byte(more)
			lines[made], after[made] = strings.Count(more, "\n"), more
		default:
			op.Verb, op.Content = change.WriteFile, []byte(after[name]+more)
			lines[name] = strings.Count(more, "\n")
			after[name] += more
		}
		set.Ops = append(set.Ops, op)
	}
	return set, lines, from, after
}

// What a rule let through is marked, an undo is judged too, and a change that is split
// into small ones is as large as before, over however many connections.
func TestRulesSeeSplitChanges(t *testing.T) {
	b := newBench(t, hisFiles, -1)
	agent := b.ruled(fixed("accept docs/**", "ask lines>10"), false)
	text := hisFiles["docs/a.md"]
	waits := func(err error) bool { var p *review.PendingError; return errors.As(err, &p) }
	last := ""
	for i := range 5 { // 2 lines each
		text += fmt.Sprintf("line %d\nand %d\n", i, i)
		c, err := agent.Write(t.Context(), "docs/a.md", []byte(text), &change.Options{Client: change.Client{Name: "x", Session: fmt.Sprint(i)}})
		if err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
		last = c.ID
	}
	log, err := b.person.Changes(t.Context(), 1)
	if err != nil || log.Changes[0].Rule != "accept docs/**" || log.Changes[0].Proposal != "" {
		t.Errorf("the mark is %+v, %v", log.Changes[0], err)
	}
	if _, err := agent.Write(t.Context(), "docs/a.md", []byte(text+"one more\n"), &change.Options{Client: change.Client{Name: "y", Session: "new"}}); !waits(err) {
		t.Errorf("the eleventh line = %v", err)
	}
	if _, err := agent.Undo(t.Context(), last, &change.Options{Client: change.Client{Name: "y"}}); !waits(err) && !strings.Contains(fmt.Sprint(err), "waits for a decision") {
		t.Errorf("an undo that is too large = %v", err)
	}
	// A move takes the count along.
	list, _ := b.store.Pending()
	for _, p := range list {
		if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.No, By: "page", Confirm: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := agent.Move(t.Context(), "docs/a.md", "docs/new.md", &change.MoveOptions{Options: change.Options{Client: change.Client{Name: "x"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Write(t.Context(), "docs/new.md", []byte(text+"one more\n"), &change.Options{Client: change.Client{Name: "x"}}); !waits(err) {
		t.Errorf("after a move = %v", err)
	}
	// A person who accepts begins anew.
	if list, _ = b.store.Pending(); len(list) == 0 {
		t.Fatal("nothing waits")
	}
	if _, err := b.store.Decide(t.Context(), b.person, list[0].ID, review.Decision{Rest: review.Yes, By: "page", Confirm: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Write(t.Context(), "docs/new.md", []byte(text), &change.Options{Client: change.Client{Name: "x"}}); err != nil {
		t.Errorf("after a person has looked: %v", err)
	}
}

// Everything in a folder that is moved or deleted is judged, and rules that can't be
// read accept nothing.
func TestRulesOfFolders(t *testing.T) {
	b := newBench(t, hisFiles, -1)
	agent := b.ruled(fixed("accept docs/**", "accept other/**", "accept docs", "accept other", "refuse *.lock"), false)
	var out *review.RuledOutError
	if _, err := agent.Delete(t.Context(), "docs", &change.DeleteOptions{Options: change.Options{Client: change.Client{Name: "x"}}}); !errors.As(err, &out) || out.Path != "docs/in.lock" {
		t.Errorf("delete of a folder with a lock file = %v", err)
	}
	if _, err := agent.Move(t.Context(), "docs", "other", &change.MoveOptions{Options: change.Options{Client: change.Client{Name: "x"}}}); !errors.As(err, &out) {
		t.Errorf("move of a folder with a lock file = %v", err)
	}
	if err := os.Remove(filepath.Join(b.dir, "docs", "in.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Move(t.Context(), "docs", "other", &change.MoveOptions{Options: change.Options{Client: change.Client{Name: "x"}}}); err != nil {
		t.Errorf("move of a folder that is accepted = %v", err)
	}
	for _, broken := range []func() ([]string, error){func() ([]string, error) { return nil, errors.New("no file") }, fixed("accept **", "what")} {
		agent := b.ruled(broken, true)
		var pending *review.PendingError
		_, err := agent.Write(context.Background(), "top.txt", []byte(fmt.Sprintln("t", &broken)), &change.Options{Client: change.Client{Name: "x"}})
		if !errors.As(err, &pending) {
			t.Errorf("with rules that can't be read: %v", err)
		} else if _, err := b.store.Decide(t.Context(), b.person, pending.ID, review.Decision{Rest: review.No, By: "page", Confirm: true}); err != nil {
			t.Fatal(err)
		}
	}
}
