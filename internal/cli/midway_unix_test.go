//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/internal/stress"
)

// midway is a tree of many small files in which a change or its undo is ended at a certain file.
type midway struct {
	t             *testing.T
	n             int
	dir, state    string
	before, after map[string]string // the files without and with the change
	made          string            // the id of the last change of all files
	reports       int
	slowest       time.Duration // from the end of a call to its answer, or to the end of its process
}

func newMidway(t *testing.T) *midway {
	m := &midway{t: t, n: stress.Size(240, 16_000), dir: t.TempDir(), state: t.TempDir(), before: map[string]string{}, after: map[string]string{}}
	for i := range m.n {
		name := m.name(i)
		m.before[name] = fmt.Sprintf("# note %d\n\nalpha beta gamma\n\n%s", i, strings.Repeat(fmt.Sprintf("some more text of note %d\n", i), 10))
		m.after[name] = strings.ReplaceAll(m.before[name], "beta", "two betas")
		writeFile(t, filepath.Join(m.dir, name), m.before[name])
	}
	return m
}

func (m *midway) name(i int) string { return fmt.Sprintf("d%02d/n%05d.txt", i*50/m.n, i) }

func (m *midway) program(args ...string) *exec.Cmd {
	cmd := program(m.t, m.dir, args...)
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+m.state, "XDG_CACHE_HOME="+m.state, "XDG_RUNTIME_DIR="+m.state)
	return cmd
}

// files returns all files of the tree, temporary ones too.
func (m *midway) files() map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(m.dir, path)
		found[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return found
}

// reaches waits until share percent of the files are as in want, judging by one of them, or until
// the work is over.
func (m *midway) reaches(want map[string]string, undo bool, share int, over func() bool) {
	i := min(share*m.n/100, m.n-1)
	if undo { // it begins with the last file
		i = m.n - 1 - i
	}
	name := m.name(i)
	stress.Becomes(func() bool {
		data, err := os.ReadFile(filepath.Join(m.dir, name))
		return share == 0 || err == nil && string(data) == want[name] || over()
	})
}

// log returns the ids of the log, newest first. All changes in it must be complete.
func (m *midway) log() (ids []string) {
	m.t.Helper()
	out, err := m.program("log", "--json").Output()
	var log struct {
		Changes []struct {
			ID      string
			Pending bool
			Partly  any
		}
	}
	if err == nil {
		err = json.Unmarshal(out, &log)
	}
	if err != nil {
		m.t.Fatalf("quarry log: %v, %s", err, out)
	}
	for _, c := range log.Changes {
		if ids = append(ids, c.ID); c.Pending || c.Partly != nil {
			m.t.Errorf("quarry log has an unfinished change: %+v", c)
		}
	}
	return ids
}

// A way ends a call that changes files. It returns the message to the user, or "".
type way func(m *midway, undo bool, reached func(over func() bool)) (told string)

// throughClient lets a client call the tool, and end as a user would when enough files are changed.
func throughClient(end func(l *leaving, answered func())) way {
	return func(m *midway, undo bool, reached func(func() bool)) string {
		l := leave(m.t, m.program("mcp", "--no-index"))
		l.ready()
		name, args := "replace_in_files", `{"text":"beta","replacement":"two betas"}`
		if undo {
			name, args = "undo_change", fmt.Sprintf(`{"id":%q}`, m.made)
		}
		l.send(rpc(1, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":"p"}}`, name, args)))
		answer, done := make(chan string, 1), make(chan struct{})
		go func() {
			defer close(done)
			last, answered := progressed{}, false
			for {
				line, err := l.out.ReadString('\n')
				if err != nil {
					return
				}
				var r progressed
				if json.Unmarshal([]byte(line), &r) == nil && r.Method == "notifications/progress" {
					if r.Params.Progress <= last.Params.Progress || r.Params.Total > 0 && r.Params.Progress > r.Params.Total || answered {
						m.t.Errorf("a report after %+v: %s", last.Params, line)
					}
					last, m.reports = r, m.reports+1
				} else if strings.Contains(line, `"id":1,`) {
					if p := last.Params; strings.Contains(line, "[change ") && (p.Total == 0 || p.Progress != p.Total) {
						m.t.Errorf("%s succeeds after %v of %v", name, p.Progress, p.Total)
					}
					answered = true
					answer <- line
				}
			}
		}()
		reached(func() bool { return len(answer) > 0 })
		began := time.Now()
		told := ""
		end(l, func() { told = <-answer })
		if m.slowest = max(m.slowest, time.Since(began)); told != "" {
			_ = l.in.Close()
		}
		<-done
		_ = l.cmd.Wait()
		if m.slowest = max(m.slowest, time.Since(began)); len(answer) > 0 {
			told = <-answer
		}
		return told
	}
}

type progressed struct {
	Method string
	Params struct{ Progress, Total float64 }
}

// inShell interrupts the command as ^C does.
func inShell(m *midway, undo bool, reached func(func() bool)) string {
	cmd := m.program("replace", "beta", "two betas")
	if undo {
		cmd = m.program("undo", m.made)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	reached(func() bool { return len(ended) > 0 })
	began := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		m.t.Fatal(err)
	}
	err := <-ended
	m.slowest = max(m.slowest, time.Since(began))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != exitInterrupted && exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		m.t.Errorf("%v: %s", err, out.String())
	}
	return out.String()
}

// A change of many files and its undo, ended at any point and in any way, leave all files as before
// or all as after, at the latest when the next command has opened the workspace. The answer agrees
// with the files, if there is one, and so does the log. A client sees the progress.
func TestEndedMidway(t *testing.T) {
	stress.SkipShort(t)
	run := stress.Start(t, "changes ended midway", 1, 1)
	m := newMidway(t)
	ways := []struct {
		name string
		end  way
	}{
		{"cancelled", throughClient(func(l *leaving, answered func()) {
			l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			answered()
		})},
		{"input closed", throughClient(func(l *leaving, _ func()) { _ = l.in.Close() })},
		{"terminated", throughClient(func(l *leaving, _ func()) { _ = l.cmd.Process.Signal(syscall.SIGTERM) })},
		{"killed", throughClient(func(l *leaving, _ func()) { _ = l.cmd.Process.Kill() })},
		{"interrupted", inShell},
		{"left alone", throughClient(func(_ *leaving, answered func()) { answered() })},
	}
	shares := []int{50}
	if stress.Thorough() {
		shares = []int{0, 10, 50, 90}
	}
	outcome := map[string]int{}
	changed := false // whether the tree is as after the change
	for _, w := range ways {
		if w.name == "left alone" {
			shares = shares[:1]
		}
		for _, share := range shares {
			for _, undo := range []bool{false, true} {
				if undo != changed { // the case before was rolled back, or came too late
					if m.made == "" || !changed {
						if out, err := m.program("replace", "beta", "two betas").CombinedOutput(); err != nil {
							t.Fatalf("%v: %s", err, out)
						}
					} else if out, err := m.program("undo", m.made).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					changed = undo
				}
				known := m.log()
				if changed {
					m.made = known[0]
				}
				from, to := m.before, m.after
				if undo {
					from, to = to, from
				}
				m.slowest = 0
				told := w.end(m, undo, func(over func() bool) { m.reaches(to, undo, share, over) })
				half := m.files()
				ids := m.log() // opens the workspace, which repairs it
				now, what := m.files(), fmt.Sprintf("undo %v, %s at %d %%", undo, w.name, share)
				all := maps.Equal(now, to)
				switch {
				case all:
					outcome["done"]++
				case maps.Equal(now, from) && maps.Equal(half, from):
					outcome["rolled back at once"]++
				case maps.Equal(now, from):
					outcome["rolled back by the next command"]++
				default:
					t.Errorf("%s: %d files are as before, %d as after, of %d; told: %s", what, agreeing(now, from), agreeing(now, to), len(now), told)
				}
				if logged := len(ids) > 0 && (len(known) == 0 || ids[0] != known[0]); logged != all {
					t.Errorf("%s: all changed %v, and the log went from %v to %v; told: %s", what, all, known, ids, told)
				}
				if changed = all != undo; changed {
					m.made = ids[0]
				}
				said := strings.Contains(told, "nothing was changed") || share == 0 && strings.Contains(told, "cancel") // the change had not begun
				if told != "" && said == all || said && !maps.Equal(half, from) {
					t.Errorf("%s: all changed %v, %d files as before when it was told: %.400s", what, all, agreeing(half, from), told)
				} else if told == "" && share > 0 && (w.name == "cancelled" || w.name == "interrupted") {
					t.Errorf("%s: no answer", what)
				}
				if out, err := m.program("doctor").CombinedOutput(); err != nil {
					t.Errorf("%s: quarry doctor: %v\n%s", what, err, out)
				}
				run.Tried(1)
				if stress.Thorough() {
					t.Logf("%s: all changed %v, over %v later", what, all, m.slowest.Round(10*time.Millisecond))
				}
				if t.Failed() {
					return
				}
			}
		}
	}
	t.Logf("%d files: %v, %d reports", m.n, outcome, m.reports)
	if outcome["rolled back at once"] == 0 || m.reports == 0 {
		t.Errorf("too few were ended midway: %v, %d reports", outcome, m.reports)
	}
}

// agreeing counts the entries that two trees share.
func agreeing(a, b map[string]string) (n int) {
	for name, text := range a {
		if other, ok := b[name]; ok && other == text {
			n++
		}
	}
	return n
}
