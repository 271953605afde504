package recorder

import (
	"cmp"
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/change"
	"quarry/internal/check"
	"quarry/internal/journal"
	"quarry/internal/policy"
	"quarry/internal/textfile"
)

// mark is a running tool of another program, such as an agent.
type mark struct {
	change.Mark
	begun   time.Time
	changed []string
	broken  map[string]change.Broken // files that a command has broken and not yet repaired
}

// hookWait is how long every hook waits for an answer.
const hookWait = 30 * time.Millisecond

// check records whether a command has broken the syntax of a file. Tools that name their
// files are skipped, because they have their own hook for that.
func (m *mark) check(op *journal.Op) {
	if m == nil || len(m.Paths) > 0 || op.Kind != journal.Replace || op.OldData == nil || len(m.changed) > maxChecked {
		return
	}
	old, err := textfile.New(op.OldData)
	if err != nil {
		return
	}
	text, err := textfile.New(op.NewData)
	if err != nil {
		return
	}
	path := op.Path.String()
	if line, problem := check.Broken(path, old.Text(), text.Text()); problem != "" {
		if m.broken == nil {
			m.broken = map[string]change.Broken{}
		}
		m.broken[path] = change.Broken{Path: path, Line: line, Problem: problem}
	} else if _, was := m.broken[path]; was {
		if _, problem := check.Syntax(path, text.Text()); problem == "" {
			delete(m.broken, path)
		}
	}
}

// maxChecked limits how many files are checked for one command.
const maxChecked = 100

// maxMark is how long a mark lasts if it is never ended.
const maxMark = 10 * time.Minute

// maxCommand is how many characters of a command line are recorded.
const maxCommand = 200

// marks are the tools that are running.
type marks struct {
	mu   sync.Mutex
	list []*mark // in the order in which they began
	// late has broken files, by session, that were found after its hook had returned.
	late map[string][]change.Broken
}

// of returns the mark to which a changed path is attributed: that of a tool that named
// the path, or of the only running command. It returns nil if the change was made by
// another program.
func (ms *marks) of(path string) *mark {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.list = slices.DeleteFunc(ms.list, func(m *mark) bool { return time.Since(m.begun) > maxMark })
	var command *mark
	for _, m := range slices.Backward(ms.list) {
		if slices.Contains(m.Paths, path) {
			m.changed = append(m.changed, path)
			return m
		}
		if len(m.Paths) == 0 {
			if command != nil {
				return nil // two commands are running, so either may have made the change
			}
			command = m
		}
	}
	if command != nil {
		command.changed = append(command.changed, path)
	}
	return command
}

// end removes and returns the mark that m ends or replaces.
func (ms *marks) end(m *change.Mark) *mark {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for i, have := range slices.Backward(ms.list) {
		if have.Client.Name == m.Client.Name && have.Client.Session == m.Client.Session && (m.ID == "" || m.ID == have.ID || !m.End) {
			ms.list = slices.Delete(ms.list, i, i+1)
			return have
		}
	}
	return nil
}

// Mark begins or ends a mark. Earlier changes are recorded first, without it.
func (r *Recorder) Mark(ctx context.Context, m *change.Mark) (*change.Marked, error) {
	asked := time.Now()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), maxFlush) // continue even if the hook gives up
	defer stop()
	_, err := r.Flush(ctx)
	answer := &change.Marked{Recording: err == nil}
	if m.End {
		if ended := r.marks.end(m); ended != nil {
			slices.Sort(ended.changed)
			answer.Changed = slices.Compact(ended.changed)
			for _, p := range slices.Sorted(maps.Keys(ended.broken)) {
				answer.Broken = append(answer.Broken, ended.broken[p])
			}
		}
		answer.Broken = r.marks.report(m.Client.Session, answer.Broken, time.Since(asked) <= hookWait)
		return answer, err
	}
	own := &mark{Mark: *m, begun: time.Now()}
	own.Command = cut(masked(m.Command), maxCommand)
	own.Tool, own.Client = cut(m.Tool, change.MaxName), m.Client.OneLine()
	own.Paths = nil
	for _, p := range m.Paths {
		if rel, ok := r.relative(p); ok {
			own.Paths = append(own.Paths, rel)
		}
	}
	if len(own.Paths) == 0 && m.Command == "" {
		return answer, err // the tool changes no file of this workspace
	}
	r.marks.end(m) // the session's previous tool has ended without a report
	r.marks.mu.Lock()
	r.marks.list = append(r.marks.list, own)
	r.marks.mu.Unlock()
	return answer, err
}

// maxFlush limits how long a mark waits for the comparison.
const maxFlush = 10 * time.Second

// report returns the broken files to report to a session: found, and those from earlier
// that came too late. If now is false, the hook has given up; report then keeps found for
// later and returns nothing.
func (ms *marks) report(session string, found []change.Broken, now bool) []change.Broken {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	found = append(ms.late[session], found...)
	delete(ms.late, session)
	if now || len(found) == 0 {
		return found
	}
	if ms.late == nil || len(ms.late) > maxChecked {
		ms.late = map[string][]change.Broken{}
	}
	ms.late[session] = found[max(0, len(found)-maxChecked):]
	return nil
}

// relative converts a path in a mark to a path in the workspace.
func (r *Recorder) relative(p string) (string, bool) {
	if filepath.IsAbs(p) {
		for _, dir := range []string{r.disk.root.RealDir(), r.disk.root.Dir()} {
			if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), true
			}
		}
		return "", false
	}
	p = path.Clean(filepath.ToSlash(p))
	return p, p != "." && filepath.IsLocal(p)
}

// sign sets the author of a change.
func (m *mark) sign(c *journal.Change) {
	if m == nil {
		return
	}
	c.Client, c.Tool = m.Client, cmp.Or(m.Tool, Tool)
	if len(m.Paths) > 0 {
		return
	}
	c.Did.Text = "during " + cmp.Or(m.Tool, "a command")
	if m.Command != "" {
		c.Did.Text += " `" + m.Command + "`"
	}
	if m.Client.Name != "" {
		c.Did.Text += " of " + m.Client.Name
	}
}

// masked returns a command as a single line, with likely credentials removed.
func masked(command string) string {
	words := strings.Fields(command)
	out := slices.Clone(words)
	for i, w := range words {
		key, value, set := strings.Cut(w, "=")
		switch {
		case policy.HoldsCredential([]byte(w)):
			if out[i] = "***"; set && value != "" {
				out[i] = key + "=***"
			}
		case i > 0 && policy.HoldsCredential([]byte(strings.TrimLeft(words[i-1], "-")+"="+w)), i > 0 && strings.EqualFold(words[i-1], "bearer"):
			out[i] = "***"
		}
	}
	return strings.Join(out, " ")
}

func cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
