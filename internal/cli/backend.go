package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"quarry"
	"quarry/fault"
	"quarry/internal/config"
)

// backendFlags choose servers instead of folders.
type backendFlags struct {
	backend   string
	checkouts []string
	patience  time.Duration
	headers   string // the file
}

func (b *backendFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&b.backend, "backend", "", "repositories on servers: zoekt=`HOST:PORT`, several\nwith commas between, replicas with +; paths are\nrepository/path")
	textsVar(fl, &b.checkouts, "checkout", "", "with --backend: a repository is checked out in this\nfolder, as `repository=folder`, and is as it is there")
	addDuration(fl, &b.patience, "backend-timeout", 0, "with --backend: how long a server may take for an\nanswer (default 10s)")
	fl.StringVar(&b.headers, "backend-header-file", "", "with --backend: `file` of lines Name: value that are\nsent along, as credentials; only you may read it")
}

// set reports whether there are servers to ask.
func (b *backendFlags) set() bool { return b.backend != "" }

// check finds flags that make no sense together.
func (b *backendFlags) check(root bool) error {
	switch {
	case !b.set() && len(b.checkouts) > 0:
		return errors.New("--checkout is for --backend")
	case !b.set() && b.headers != "":
		return errors.New("--backend-header-file is for --backend")
	case b.set() && root:
		return errors.New("--backend and --root: the repositories are the workspace; --checkout REPOSITORY=FOLDER lays a folder over one")
	case b.patience < 0:
		return errors.New("--backend-timeout can't be negative")
	}
	return nil
}

// args are the flags as a process in another folder needs them.
func (b *backendFlags) args() ([]string, error) {
	args := []string{"--backend", b.backend}
	for _, v := range b.checkouts {
		repo, dir, _ := strings.Cut(v, "=")
		abs, err := filepath.Abs(config.ExpandHome(dir, os.Getenv))
		if err != nil {
			return nil, err
		}
		args = append(args, "--checkout", repo+"="+abs)
	}
	if b.patience > 0 {
		args = append(args, "--backend-timeout", b.patience.String())
	}
	if b.headers != "" {
		abs, err := filepath.Abs(config.ExpandHome(b.headers, os.Getenv))
		if err != nil {
			return nil, err
		}
		args = append(args, "--backend-header-file", abs)
	}
	return args, nil
}

// open opens the servers. openDir opens the folder of a checkout as the command
// would open any folder.
func (b *backendFlags) open(opts quarry.ServersOptions, openDir func(dir string) (*quarry.Workspace, error)) (_ *quarry.Workspace, err error) {
	kind, servers, _ := strings.Cut(b.backend, "=")
	if kind != "zoekt" || servers == "" {
		return nil, fmt.Errorf("--backend %q: it is zoekt=HOST:PORT[,HOST:PORT...]", b.backend)
	}
	opts.Servers, opts.Timeout, opts.GlobalIgnore = servers, b.patience, config.GlobalExcludes(os.Getenv)
	if b.headers != "" {
		if opts.Header, err = readHeaders(config.ExpandHome(b.headers, os.Getenv), servers); err != nil {
			return nil, fmt.Errorf("--backend-header-file: %w", err)
		}
	}
	defer func() {
		for _, c := range opts.Checkouts {
			if err != nil {
				err = errors.Join(err, c.Workspace.Close())
			}
		}
	}()
	for _, v := range b.checkouts {
		repo, dir, ok := strings.Cut(v, "=")
		if !ok || repo == "" || dir == "" {
			return nil, fmt.Errorf("--checkout %q: it is repository=folder", v)
		}
		dir = config.ExpandHome(dir, os.Getenv)
		real, err := realPath(dir)
		if err != nil {
			return nil, fmt.Errorf("--checkout %w", clearPathError(dir, err))
		}
		ws, err := openDir(real)
		if err != nil {
			return nil, fmt.Errorf("--checkout %s: %w", v, err)
		}
		opts.Checkouts = append(opts.Checkouts, quarry.Checkout{Repo: strings.Trim(repo, "/"), Workspace: ws})
	}
	ws, err := quarry.OpenServers(&opts)
	if err != nil {
		return nil, fmt.Errorf("--backend: %w", err)
	}
	return ws, nil
}

// targets makes targets of the paths given: of servers, or of folders.
func (b *backendFlags) targets(ctx context.Context, w *workspaces, root string, paths []string, complain func(error)) ([]target, error) {
	if err := b.check(root != ""); err != nil {
		return nil, err
	}
	if !b.set() {
		return w.find(root, paths, complain)
	}
	ws, err := b.open(quarry.ServersOptions{Trusted: true, Workers: w.workers}, w.get)
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

// openBackend opens the servers for an agent.
func (a *agent) openBackend(keep bool, log *slog.Logger) (*quarry.Workspace, error) {
	if err := a.check(len(a.roots) > 0); err != nil {
		return nil, err
	}
	opts := quarry.ServersOptions{Allow: a.allow, Deny: a.deny, Logger: log}
	return a.backendFlags.open(opts, func(dir string) (*quarry.Workspace, error) { return a.openOne(dir, keep, log) })
}
