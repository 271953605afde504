package profile

import (
	"context"
	"errors"
	"path"
	"strings"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/tool"
)

// Models write path arguments with a leading slash, with white space around them, or as
// the base64 that an answer gave.

// path returns the path argument name. White space around the path is dropped if no path
// with it exists. If a leading slash means the top of the workspace, the workspace's own
// absolute path is removed first.
func (c *call) path(ctx context.Context, name string) string { return c.clean(ctx, c.String(name)) }

// clean normalizes a path as the caller wrote it.
func (c *call) clean(ctx context.Context, given string) string {
	p := render.ParseName(given)
	if p != given {
		return p // a path with exactly this name exists
	}
	if bare := strings.TrimSpace(p); bare != p && bare != "" {
		// A closed or unreadable file exists: its path must not resolve to another file.
		_, err := c.ws.Stat(ctx, p)
		if code := fault.CodeOf(err); err != nil && code != fault.ProtectedPath && code != fault.IOError {
			p = bare
		}
	}
	if !c.d.slashIsTop || p == "" {
		return p
	}
	if rel, inside := c.ws.Inside(p); inside {
		p = rel
	}
	if p = strings.TrimLeft(p, `/\`); p == "" {
		return "."
	}
	return p
}

// givenPath returns a path argument that must not be blank.
func (c *call) givenPath(ctx context.Context, name string) (string, error) {
	p := c.path(ctx, name)
	if strings.TrimSpace(p) == "" {
		return "", invalid("%s is required and must be a non-empty string.", name)
	}
	return p, nil
}

// file returns a path argument of a tool that reads or edits an existing file.
func (c *call) file(ctx context.Context, name string) string {
	return c.existing(c.path(ctx, name))
}

// givenFile returns a required file argument.
func (c *call) givenFile(ctx context.Context, name string) (string, error) {
	p, err := c.givenPath(ctx, name)
	return c.existing(p), err
}

// existing returns the path of an existing file. It first returns p unchanged; if the call
// then fails because p doesn't exist, runAgain repeats it with the note of that name. The
// path is not checked in advance: after the workspace's folder was replaced, the tool must
// be the first to access it, because only the tool refuses to change the new folder.
func (c *call) existing(p string) string {
	if note, ok := c.asNotes[p]; ok {
		return note
	}
	if c.d.notePaths {
		c.tried = append(c.tried, p)
	}
	return p
}

// runAgain resolves the paths of a call that found no file to notes, and reports whether
// one was resolved, so that repeating the call may succeed.
func (c *call) runAgain(ctx context.Context) bool {
	tried, again := c.tried, false
	for c.tried = nil; len(tried) > 0; tried = tried[1:] {
		if note := c.noteFor(ctx, tried[0]); note != tried[0] {
			if c.asNotes == nil {
				c.asNotes = map[string]string{}
			}
			c.asNotes[tried[0]], again = note, true
		}
	}
	return again
}

// isNotFound reports a missing file, whether or not the error is worded for a model.
func isNotFound(err error) bool {
	if e, worded := errors.AsType[*tool.Error](err); worded {
		return e.Code == fault.NotFound
	}
	return fault.CodeOf(err) == fault.NotFound
}

// noteFor returns the note that p names, or p itself.
func (c *call) noteFor(ctx context.Context, p string) string {
	if !c.d.notePaths || strings.TrimSpace(p) == "" {
		return p
	}
	if isNote(p) {
		if _, err := c.ws.Stat(ctx, p); fault.CodeOf(err) == fault.NotFound {
			if found := c.noteNamed(ctx, p); found != "" {
				return found
			}
		}
		return p
	}
	if _, err := c.ws.Stat(ctx, p); fault.CodeOf(err) != fault.NotFound {
		return p
	}
	note := strings.TrimRight(p, `/\`) + ".md"
	if info, err := c.ws.Stat(ctx, note); err == nil && !info.Folder {
		return note
	}
	if found := c.noteNamed(ctx, note); found != "" {
		return found
	}
	return p
}

// noteNamed returns the only note of that name, if the dialect accepts names.
func (c *call) noteNamed(ctx context.Context, name string) string {
	if !c.d.noteNames {
		return ""
	}
	s, path, err := c.book(name)
	if err != nil {
		return ""
	}
	if found := s.called(ctx, path); found != path {
		return s.show(found)
	}
	return ""
}

// isNote reports whether a path ends in .md.
func isNote(p string) bool { return strings.EqualFold(path.Ext(p), ".md") }

// newPath returns the path of a file that may not exist yet. A slash before a single name
// means the top of the workspace. A path of several elements may really be absolute, which
// only the sandbox can tell.
func (c *call) newPath(ctx context.Context, name string) (string, error) {
	p, err := c.givenPath(ctx, name)
	if rest, ok := strings.CutPrefix(p, "/"); ok && !strings.ContainsAny(rest, `/\`) {
		if _, inside := c.ws.Inside(p); !inside && rest != "" {
			p = rest
		}
	}
	return p, err
}

// into resolves the destination of a move: if it ends in a slash it is a folder, and
// source keeps its name there.
func into(destination, source string) string {
	if folder := strings.TrimRight(destination, `/\`); folder != destination {
		if folder == "" || folder == "." {
			return baseName(source)
		}
		return folder + "/" + baseName(source)
	}
	return destination
}
