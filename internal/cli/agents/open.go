package agents

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry"
	"quarry/fault"
	"quarry/internal/mcpserver"
	"quarry/internal/profile"
	"quarry/search"
	"quarry/tool"
)

// openTools opens the workspaces of a server and makes their tools.
func openTools(f *mcpFlags, log *slog.Logger) (*toolset, error) {
	open, err := f.open(true, log)
	if err != nil {
		return nil, err
	}
	set := &toolset{close: open.Close}
	if set.tools, err = f.registry(open); err != nil {
		return nil, errors.Join(err, open.Close())
	}
	set.tools.Panicked = func(name string, value any, stack []byte) {
		log.Error("a tool panicked", "tool", name, "panic", value, "stack", string(stack))
	}
	var dirs []string
	for _, r := range open.Roots() {
		if r.Workspace.Reviewed() {
			dirs = append(dirs, r.Workspace.Dir())
		}
	}
	if len(dirs) > 0 {
		also, done, err := f.news(dirs)
		if err != nil {
			return nil, errors.Join(err, open.Close())
		}
		set.tools.Also, set.close = also, func() error { return errors.Join(done(), open.Close()) }
	}
	f.tellPresence(set, open, log)
	f.tellActivity(set, open, log)
	for _, r := range open.Roots() {
		if !f.servesFiles() {
			break
		}
		set.roots = append(set.roots, mcpserver.Root{Name: r.Name, Dir: r.Workspace.Dir(), Files: &wsFiles{r.Workspace}})
	}
	set.instructions = profile.Instructions(f.profile, set.tools, profile.RootNames(open), len(f.allow)+len(f.deny) > 0)
	return set, nil
}

// servesFiles reports whether files are resources: with --tools but without read_file the
// client must not read any.
func (f *mcpFlags) servesFiles() bool {
	return !f.noResources && (len(f.tools) == 0 || slices.Contains(f.tools, "read_file"))
}

// wsFiles serves the files of a workspace as resources.
type wsFiles struct{ ws *quarry.Workspace }

// maxResource is the largest file that is returned whole: as much as a client can show to a
// model, and in base64 still much less than the largest message.
const maxResource = 4 << 20

// Read returns the exact bytes of a file: as text if they are UTF-8 without NUL.
func (w *wsFiles) Read(ctx context.Context, path string) (*mcpserver.Content, error) {
	data, err := w.ws.ReadBytes(ctx, path, maxResource)
	switch code := fault.CodeOf(err); {
	case err != nil && code == fault.TooLarge:
		return nil, tool.Errorf(fault.TooLarge, "%s is over %d MB; read_file gives parts of a text", path, maxResource>>20)
	case err != nil:
		return nil, &tool.Error{Code: code, Message: err.Error()}
	case utf8.Valid(data) && bytes.IndexByte(data, 0) < 0:
		return &mcpserver.Content{Text: string(data)}, nil
	}
	return &mcpserver.Content{Blob: data}, nil
}

// Complete looks only into the folder of the prefix.
func (w *wsFiles) Complete(ctx context.Context, prefix string, n int) ([]string, bool, error) {
	q := search.FindQuery{Kind: search.FilesAndFolders}
	q.MaxDepth = 1
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		q.Paths = []string{prefix[:i+1]}
	}
	paths, err := w.find(ctx, q)
	if err != nil {
		return nil, false, err
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return !strings.HasPrefix(p, prefix) })
	return paths[:min(n, len(paths))], len(paths) > n, nil
}

// find returns paths. Folders have a trailing slash.
func (w *wsFiles) find(ctx context.Context, q search.FindQuery) ([]string, error) {
	res, err := w.ws.Find(ctx, q)
	if err != nil {
		return nil, &tool.Error{Code: fault.CodeOf(err), Message: err.Error()}
	}
	paths := make([]string, len(res.Entries))
	for i, e := range res.Entries {
		if paths[i] = e.Path; e.Folder {
			paths[i] += "/"
		}
	}
	return paths, nil
}
