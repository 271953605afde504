package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"quarry"
	"quarry/fault"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/cli/servers"
	"quarry/search"
)

// list runs a command that lists the contents of each path: find and symbols.
// each prints one path and returns how much it printed and what it skipped.
// noInput says why standard input can't be listed.
func list(ctx context.Context, s env.Streams, b *servers.Flags, root string, paths []string, noInput string,
	each func(w *bufio.Writer, t *target) (n int, skipped []search.Skip, err error)) (found int, err error) {
	failed := false
	complain := func(err error) {
		failed = true
		fmt.Fprintf(s.Err, "quarry: %s\n", printing.EscapeLines(err.Error()))
	}
	ws := &workspaces{open: map[string]*quarry.Workspace{}}
	defer ws.close()
	targets, err := ws.targets(ctx, b, root, paths, complain)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(s.Out, 64<<10)
	for i := range targets {
		t := &targets[i]
		if t.stdin {
			complain(errors.New("-: " + noInput))
			continue
		}
		n, skipped, err := each(w, t)
		if err != nil {
			return found, err
		}
		found += n
		for _, k := range skipped {
			complain(skipError(t, k))
		}
	}
	if err := w.Flush(); err != nil {
		return found, err
	}
	if failed {
		return found, env.ErrReported
	}
	return found, nil
}

// targets makes targets of the paths given: of servers, or of folders.
func (w *workspaces) targets(ctx context.Context, b *servers.Flags, root string, paths []string, complain func(error)) ([]target, error) {
	if err := b.Check(root != ""); err != nil {
		return nil, err
	}
	if !b.Given() {
		return w.find(root, paths, complain)
	}
	ws, err := b.Open(quarry.ServersOptions{Trusted: true, Workers: w.workers}, w.get)
	if err != nil {
		return nil, err
	}
	w.open = map[string]*quarry.Workspace{"": ws} // it closes its checkouts
	if len(paths) == 0 {
		return []target{{ws: ws, path: "."}}, nil
	}
	var list []target
	for _, given := range paths {
		if given == "-" {
			list = append(list, target{given: given, isFile: true, stdin: true})
			continue
		}
		info, err := ws.Stat(ctx, given)
		if errors.Is(err, quarry.ErrServers) {
			return nil, err // said once, whatever paths there are
		}
		if fault.CodeOf(err) == fault.NotFound && err != nil {
			err = fmt.Errorf("%s: no such file or folder in the repositories", given)
		}
		if err != nil {
			complain(err)
			continue
		}
		list = append(list, target{ws: ws, given: given, path: info.Path, isFile: !info.Folder})
	}
	return list, nil
}
