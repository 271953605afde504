// Package servers reads the flags that choose servers instead of folders, and
// opens what they name.
//
// Credentials come from a file that only the user may read, and go to servers
// over TLS or to this machine, never in the clear over a network.
package servers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"quarry"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/config"
)

// Flags choose servers instead of folders.
type Flags struct {
	backend   string
	checkouts []string
	patience  time.Duration
	headers   string // the file
}

// Add adds the flags to a command.
func (b *Flags) Add(fl *pflag.FlagSet) {
	fl.StringVar(&b.backend, "backend", "", "repositories on servers: zoekt=`HOST:PORT`, several\nwith commas between, replicas with +; paths are\nrepository/path")
	command.AddTexts(fl, &b.checkouts, "checkout", "", "with --backend: a repository is checked out in this\nfolder, as `repository=folder`, and is as it is there")
	command.AddDuration(fl, &b.patience, "backend-timeout", 0, "with --backend: how long a server may take for an\nanswer (default 10s)")
	fl.StringVar(&b.headers, "backend-header-file", "", "with --backend: `file` of lines Name: value that are\nsent along, as credentials; only you may read it")
}

// Given reports whether there are servers to ask.
func (b *Flags) Given() bool { return b.backend != "" }

// Any reports whether one of the flags was given.
func (b *Flags) Any() bool { return b.Given() || len(b.checkouts) > 0 || b.headers != "" }

// Check finds flags that make no sense together.
func (b *Flags) Check(root bool) error {
	switch {
	case !b.Given() && len(b.checkouts) > 0:
		return errors.New("--checkout is for --backend")
	case !b.Given() && b.headers != "":
		return errors.New("--backend-header-file is for --backend")
	case b.Given() && root:
		return errors.New("--backend and --root: the repositories are the workspace; --checkout REPOSITORY=FOLDER lays a folder over one")
	case b.patience < 0:
		return errors.New("--backend-timeout can't be negative")
	}
	return nil
}

// Args are the flags as a process in another folder needs them.
func (b *Flags) Args() ([]string, error) {
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

// Open opens the servers. openDir opens the folder of a checkout as the command
// would open any folder.
func (b *Flags) Open(opts quarry.ServersOptions, openDir func(dir string) (*quarry.Workspace, error)) (_ *quarry.Workspace, err error) {
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
		real, err := env.RealPath(dir)
		if err != nil {
			return nil, fmt.Errorf("--checkout %w", env.PathError(dir, err))
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
