package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/render"
	"quarry/search"
	"quarry/tool"
)

// If someone else changes a file that a connection has read, the connection is told once,
// in its next answer about the file. Search answers don't mention it: they show the
// current lines.

// knownFile is the state of a file when a connection last read or changed it.
type knownFile struct {
	size  int64
	mod   time.Time
	asked time.Time
}

// concerned lists the files named by the arguments of a call.
func (c *call) concerned(ctx context.Context) (files []string) {
	if !c.d.shows || !c.lists("path") {
		return nil
	}
	for _, given := range append(c.Strings("paths"), c.String("path")) {
		for _, p := range c.partsOf(ctx, given) {
			if given != "" && !slices.Contains(files, p.path) {
				files = append(files, p.path)
			}
		}
	}
	return files
}

// tellOthers reports the files of an answer that someone else has changed since this
// connection last saw them, and records their current state.
func (c *call) tellOthers(ctx context.Context, a *answer) {
	files := c.concerned(ctx)
	for _, f := range files {
		was, known := c.conn.file(f)
		now, err := c.ws.Stat(ctx, f)
		if err == nil && known && (now.Size != was.size || !now.ModTime.Equal(was.mod)) {
			if by, ids := c.byOthers(ctx, f, was.asked); by != "" {
				if by += c.linesOf(ctx, f, ids); len(files) > 1 {
					by = render.Path(f) + " was " + by
				}
				a.receipt = append(a.receipt, by)
			}
		}
		c.conn.know(f, now, err == nil && !now.Folder)
	}
	if d, ok := a.data.(*changeAnswer); ok && !d.DryRun {
		for _, p := range d.Paths {
			if _, known := c.conn.file(p); known && !slices.Contains(files, p) {
				now, err := c.ws.Stat(ctx, p)
				c.conn.know(p, now, err == nil)
			}
		}
	}
}

// changedMeanwhile adds to a refusal that someone else has changed the file. It consults
// only the log, because a refused call has not read the file.
func (c *call) changedMeanwhile(ctx context.Context, err error) error {
	var refused *tool.Error
	f := c.String("path")
	was, known := c.conn.file(f)
	if !known || !errors.As(err, &refused) {
		return err
	}
	if by, _ := c.byOthers(ctx, f, was.asked); by != "" {
		told := *refused
		told.Hint = strings.TrimSpace(told.Hint + " The file was " + by + ".")
		return &told
	}
	return err
}

func (m *connState) file(name string) (knownFile, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, known := m.files[name]
	return f, known
}

// know records the current state of a file. there is false if the file no longer exists.
func (m *connState) know(name string, now *search.Info, there bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch _, known := m.files[name]; {
	case !there:
		delete(m.files, name)
	case known || len(m.files) < maxMade:
		if m.files == nil {
			m.files = map[string]knownFile{}
		}
		m.files[name] = knownFile{now.Size, now.ModTime, time.Now()}
	}
}

// recent is the number of log entries to read.
const recent = 100

// byOthers says who else has changed a file since a point in time, according to the log.
// It also returns the ids of these changes.
func (c *call) byOthers(ctx context.Context, f string, since time.Time) (said string, ids []string) {
	log, err := c.ws.Changes(ctx, recent)
	if err != nil {
		return "", nil
	}
	var by []string
	for _, ch := range log.Changes {
		if ch.Time.Before(since) {
			break
		}
		if ch.UndoneBy == "" && slices.Contains(ch.Paths, f) && !c.own(&ch) {
			ids = append(ids, ch.ID)
			if name := changer(&ch); !slices.Contains(by, name) {
				by = append(by, name)
			}
		}
	}
	if len(ids) == 0 {
		return "", nil
	}
	return "changed by " + strings.Join(by, " and ") + " since you read it", ids
}

// own reports whether a change was made by this connection or by its client's own tools.
func (c *call) own(ch *change.Change) bool {
	if ch.Outside {
		return ch.Client.Name != "" && strings.HasPrefix(strings.ToLower(c.client.Name), ch.Client.Name)
	}
	return ch.Client.Name == c.client.Name && ch.Client.Session == c.client.Session
}

func changer(ch *change.Change) string {
	if name := ch.Author(); name != change.Yourself {
		return fault.Printable(name)
	}
	return "quarry outside this session"
}

// linesOf lists the lines of a file that the given changes last touched.
func (c *call) linesOf(ctx context.Context, f string, ids []string) string {
	who, err := c.ws.Authors(ctx, f)
	if err != nil {
		return ""
	}
	var ranges []string
	for i := 0; i < len(who.Lines); i++ {
		if !slices.Contains(ids, who.Lines[i]) {
			continue
		}
		first := i + 1
		for i+1 < len(who.Lines) && slices.Contains(ids, who.Lines[i+1]) {
			i++
		}
		if len(ranges) == 3 {
			ranges = append(ranges, "…")
			break
		}
		if ranges = append(ranges, itoa(first)); i+1 > first {
			ranges[len(ranges)-1] = fmt.Sprintf("%d-%d", first, i+1)
		}
	}
	switch {
	case len(ranges) == 0:
		return ""
	case len(ranges) == 1 && !strings.Contains(ranges[0], "-"):
		return " (line " + ranges[0] + ")"
	}
	return " (lines " + strings.Join(ranges, ", ") + ")"
}
