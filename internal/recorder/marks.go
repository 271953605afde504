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

// mark is a tool of another program that is running.
type mark struct {
	change.Mark
	begun   time.Time
	changed []string
	broken  map[string]change.Broken // by a command, and not mended by it
}

// inTime is how long a hook surely waits for an answer.
const inTime = 30 * time.Millisecond

// check notes whether a command left a file unparsable. A tool that names its files has
// its own hook for that.
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

// maxChecked bounds the files that are checked for one command.
const maxChecked = 100

// maxMark is how long a mark without an end lasts.
const maxMark = 10 * time.Minute

// maxCommand is how many characters of a command line are kept.
const maxCommand = 200

// marks are the tools that run.
type marks struct {
	mu   sync.Mutex
	list []*mark // in the order of their begins
	// late is what was found after a hook had ended, by session.
	late map[string][]change.Broken
}

// of is the mark that a changed path belongs to: of a tool that named it, else of the
// one command that runs. nil is another program.
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
				return nil // two commands run, and which one did it is not known
			}
			command = m
		}
	}
	if command != nil {
		command.changed = append(command.changed, path)
	}
	return command
}

// end takes out the mark that m ends or replaces.
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

// Mark begins or ends a mark. What happened before is recorded first, without it.
func (r *Recorder) Mark(ctx context.Context, m *change.Mark) (*change.Marked, error) {
	asked := time.Now()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), maxFlush) // a hook may have ended
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
		answer.Broken = r.marks.tell(m.Client.Session, answer.Broken, time.Since(asked) <= inTime)
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
		return answer, err // it concerns no file here
	}
	r.marks.end(m) // the last one of the session has ended without telling
	r.marks.mu.Lock()
	r.marks.list = append(r.marks.list, own)
	r.marks.mu.Unlock()
	return answer, err
}

// maxFlush bounds how long a mark waits for the comparison.
const maxFlush = 10 * time.Second

// tell returns what a session is told now: nothing if its hook has ended meanwhile, else
// also what came too late for earlier ones.
func (ms *marks) tell(session string, found []change.Broken, now bool) []change.Broken {
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

// relative is a path of the workspace, as marks name it.
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

// sign says in an entry who made it.
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

// masked is a command line in one line, without what looks like a credential.
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
