package changer_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	regime "quarry/internal/stress"
)

// setFiles is the number of files in the sets of TestSetKill.
const setFiles = 200

// setModel has the expected content and mode of each path after some sets. The killed
// child and the test generate the same sets from one seed.
type setModel struct {
	rng   *rand.Rand
	files map[string]string
}

func newSetModel(seed uint64) *setModel {
	m := &setModel{rng: rand.New(rand.NewPCG(seed, 19)), files: map[string]string{}}
	for i := range setFiles {
		if i%4 != 3 { // the other files will be created by sets
			m.files[m.name(i, false)] = fmt.Sprintf("-first content of %d\n", i)
		}
	}
	return m
}

// name returns the path of the i-th file, initially or after a move.
func (m *setModel) name(i int, moved bool) string {
	if moved {
		return fmt.Sprintf("moved/to %d/f%d.txt", i%7, i)
	}
	return fmt.Sprintf("d%d/f%d.txt", i%10, i)
}

// next returns the next set, of 2 to 200 files, and advances the model.
func (m *setModel) next(gen int) change.Set {
	n := 2 + m.rng.IntN(9)
	switch m.rng.IntN(3) {
	case 0:
		n = 2 + m.rng.IntN(60)
	case 1:
		n = 2 + m.rng.IntN(setFiles-1)
	}
	set := change.Set{Tool: "test"}
	for _, i := range m.rng.Perm(setFiles)[:n] {
		set.Ops = append(set.Ops, m.op(i, gen))
	}
	return set
}

func (m *setModel) op(i, gen int) change.Op {
	here, there := m.name(i, false), m.name(i, true)
	if m.files[here] == "" {
		here, there = there, here
	}
	have := m.files[here]
	fresh := fmt.Sprintf("content %d of %d\n", gen, i)
	if have == "" {
		here = m.name(i, false)
		m.files[here] = "-" + fresh
		return change.Op{Verb: change.CreateFile, Path: here, Content: []byte(fresh)}
	}
	switch m.rng.IntN(6) {
	case 0:
		m.files[here] = have[:1] + fresh
		return change.Op{Verb: change.WriteFile, Path: here, Content: []byte(fresh)}
	case 1:
		if runtime.GOOS == "windows" {
			break // no executable bit
		}
		x := have[0] == '-'
		m.files[here] = map[bool]string{true: "x", false: "-"}[x] + have[1:]
		return change.Op{Verb: change.EditFile, Path: here, Executable: &x}
	case 2:
		delete(m.files, here)
		m.files[there] = have
		return change.Op{Verb: change.MovePath, Path: here, To: there}
	case 3:
		delete(m.files, here)
		return change.Op{Verb: change.DeletePath, Path: here, Trash: []change.TrashKind{change.TrashLocal, change.TrashNone}[m.rng.IntN(2)]}
	}
	m.files[here] = have + fresh
	return change.Op{Verb: change.EditFile, Path: here, Edits: []change.Edit{{Verb: change.AppendText, New: fresh}}}
}

// setTree reads all files of a folder in the form used by setModel.
func setTree(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".trash" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		mode := "-"
		if info.Mode()&0o100 != 0 {
			mode = "x"
		}
		out[filepath.ToSlash(rel)] = mode + string(data)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return out
}

// TestSetChild is the process that TestSetKill kills. It applies sets of 2 to 200 files
// and prints each completed one.
func TestSetChild(t *testing.T) {
	ws, seed := openAsChild(t, "QUARRY_SETS", "TestSetKill")
	makeSets(newSetModel(seed), func(set change.Set) error {
		_, err := ws.Apply(ctx, set)
		return err
	})
}

// makeSets applies the sets of a model until one fails, and prints the error.
func makeSets(m *setModel, apply func(change.Set) error) {
	for gen := 1; ; gen++ {
		fmt.Println("set")
		if err := apply(m.next(gen)); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		fmt.Println("done")
	}
}

// Killing a process that applies sets of 2 to 200 files leaves the tree before or after a
// set, and includes every completed one. Undoing everything restores the first tree.
func TestSetKill(t *testing.T) {
	run := regime.Start(t, "kill -9 while sets of 2 to 200 files are applied", 100, 2000)
	var wait sync.WaitGroup
	var mu sync.Mutex
	outcome := map[string]int{}
	for range 2 {
		wait.Go(func() {
			for seed := range run.Cases() {
				what, problem := setKillRound(t, seed)
				if problem != "" {
					run.Violation(seed, "%s", problem)
				}
				mu.Lock()
				outcome[what]++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	t.Logf("how the last set was found: %v", outcome)
	if regime.Thorough() && outcome["rolled back"] == 0 {
		t.Error("no kill hit a set half-way")
	}
}

func setKillRound(t *testing.T, seed uint64) (what, problem string) {
	base := regime.FastDir(t)
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "ws")
	m := newSetModel(seed)
	files := map[string]string{}
	for name, text := range m.files {
		files[name] = text[1:]
	}
	if err := fillKillBase(base, files); err != nil {
		return "", err.Error()
	}
	first := setTree(t, dir)
	done, err := killSets(t, base, seed)
	if err != nil {
		return "", err.Error()
	}
	var log bytes.Buffer
	ws, err := quarry.Open(dir, killOptions(base, slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		return "", err.Error()
	}
	defer ws.Close()
	for gen := range done {
		m.next(gen + 1)
	}
	now := setTree(t, dir)
	before := cmp.Diff(m.files, now)
	m.next(done + 1)
	after := cmp.Diff(m.files, now)
	switch {
	case strings.Contains(log.String(), "unfinished change rolled back"):
		what = "rolled back"
	case before == "":
		what = "not begun"
	default:
		what = "complete"
	}
	if before != "" && after != "" {
		return what, fmt.Sprintf("after %d sets and a kill, neither old:\n%s\nnor new:\n%s\n%s", done, before, after, log.String())
	}
	undoAll(t, ws)
	if diff := cmp.Diff(first, setTree(t, dir)); diff != "" {
		return what, fmt.Sprintf("after undoing all:\n%s\n%s", diff, log.String())
	}
	return what, ""
}

// killSets lets the child apply sets and kills it at a random moment during one of them.
// It returns the number of completed sets.
func killSets(t *testing.T, base string, seed uint64) (done int, err error) {
	rng := rand.New(rand.NewPCG(seed, 3))
	cmd := child(t, "TestSetChild", "QUARRY_SETS="+base, fmt.Sprintf("QUARRY_SEED=%d", seed))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(out)
	wanted := 1 + rng.IntN(4)
	for begun := 0; begun < wanted && lines.Scan(); {
		switch lines.Text() {
		case "set":
			begun++
		case "done":
			done++
		default:
			if why, ok := strings.CutPrefix(lines.Text(), "failed "); ok {
				cmd.Wait()
				return done, errors.New(why)
			}
		}
	}
	moment := time.Duration(rng.IntN(60_000)) * time.Microsecond // the kill time is random
	if regime.UnderWine() {
		moment *= 40 // a set takes that much longer there
	}
	time.Sleep(moment)
	cmd.Process.Kill()
	for lines.Scan() {
		if lines.Text() == "done" {
			done++
		} else if why, ok := strings.CutPrefix(lines.Text(), "failed "); ok && err == nil {
			err = errors.New(why)
		}
	}
	cmd.Wait()
	return done, err
}
