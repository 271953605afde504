package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/internal/config"
	"quarry/internal/doctor"
	"quarry/internal/page"
	"quarry/internal/presence"
	"quarry/internal/review"
)

// uiFlags are the flags of quarry ui.
type uiFlags struct {
	agent
	port   int
	noOpen bool
	editor string
}

func newUI(s Streams) *cobra.Command {
	f := &uiFlags{agent: agent{changer: changer{s: s}, noGate: true}}
	cmd := command("ui [FOLDER]", "Open a page to search, see changes and review them",
		`Serve a local page for one workspace and open it in the browser: search as you
type, every change that agents and people made with its diff and undo, changes
that wait for a decision, and the health of the index.

The page is reached from this machine alone. Its address holds a token after
the # sign; whoever does not have it learns nothing and changes nothing. Files
are shown as agents may see them: secrets stay hidden unless --allow shows them.`,
		`  quarry ui
  quarry ui ~/src/app --editor zed
  quarry ui --no-open --port 7700    print the address only`,
		cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if f.root != "" {
					return errors.New("name the folder once: FOLDER or --root")
				}
				f.root = args[0]
			}
			return f.run(cmd.Context())
		})
	cmd.DisableFlagsInUseLine = true
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.root, "root", "", "workspace `folder` (default: found from here)")
	fl.IntVar(&f.port, "port", 0, "port of this machine (default: a free one)")
	fl.BoolVar(&f.noOpen, "no-open", false, "print the address and open no browser")
	fl.StringVar(&f.editor, "editor", "", "editor that opens files: vscode (the default), vscodium,\ncursor, windsurf, zed, idea, sublime, none, or an\naddress with {path} and {line} in it")
	textsVar(fl, &f.allow, "allow", "", "show files this `glob` matches that look like secrets")
	textsVar(fl, &f.deny, "deny", "", "hide files this `glob` matches")
	fl.BoolVar(&f.readOnly, "read-only", false, "nothing can be undone or accepted on the page")
	fl.BoolVar(&f.force, "force", false, "serve even the home folder or /")
	fl.BoolVar(&f.noIndex, "no-index", false, "use no index: read the files for each search")
	return cmd
}

func (f *uiFlags) run(ctx context.Context) error {
	if f.port < 0 || f.port > 65535 {
		return fmt.Errorf("invalid port %d", f.port)
	}
	root, err := f.findRoot()
	if err != nil {
		return clearPathError(orDot(f.root), err)
	}
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file; the page shows a folder", f.root)
	}
	if err := refuseHuge(root, f.force); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(f.s.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ws, err := f.openOne(root, true, log)
	if err != nil {
		return err
	}
	defer ws.Close()
	dir, err := f.reviewDir(root)
	if err != nil {
		return err
	}
	proposals, err := review.Open(dir)
	if err != nil {
		return err
	}
	defer proposals.Close()
	if err := proposals.Settle(ctx, ws); err != nil {
		log.Warn("proposals", "error", err)
	}
	opts := f.pageOptions(ws, root, log)
	opts.Review, opts.Decide = proposals, ws
	if clients, err := f.clientsDir(root); err == nil {
		opts.Clients = func() ([]presence.Client, error) { return presence.List(clients) }
	}
	server, err := page.New(opts)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)))
	if err != nil {
		return fmt.Errorf("%w\n  another program has the port: leave --port out to take a free one", err)
	}
	address := server.Address(l)
	fmt.Fprintf(f.s.Err, "quarry: the page of %s is at\n", root)
	fmt.Fprintln(f.s.Out, address)
	if !f.noOpen {
		done, err := f.open(root, address)
		if err != nil {
			fmt.Fprintf(f.s.Err, "quarry: no browser could be opened (%v): open the address yourself\n", err)
		}
		defer done()
	}
	fmt.Fprintln(f.s.Err, "quarry: Ctrl-C ends it")
	return server.Serve(ctx, l)
}

func (f *uiFlags) pageOptions(ws *quarry.Workspace, root string, log *slog.Logger) page.Options {
	return page.Options{
		Workspace: ws, Name: filepath.Base(root), Version: version(), Editor: f.editor, ReadOnly: f.readOnly, Logger: log,
		Rules: f.rules(), Checks: func(ctx context.Context) ([]page.Check, error) { return f.healthChecks(ctx, root) },
	}
}

// rules are the policy as the page shows it.
func (f *uiFlags) rules() []page.Rule {
	list := []page.Rule{{Path: "**", Read: true, Write: !f.readOnly, Why: "default"}}
	for _, g := range f.deny {
		list = append(list, page.Rule{Path: g, Why: "--deny"})
	}
	for _, g := range f.allow {
		list = append(list, page.Rule{Path: g, Read: true, Write: !f.readOnly, Why: "--allow"})
	}
	return append(list,
		page.Rule{Path: ".env, *.pem, *.key, id_rsa*, …", Why: "secrets"},
		page.Rule{Path: ".git/, .obsidian/, .smarthole/", Why: "protected"})
}

// healthChecks are those of quarry doctor.
func (f *uiFlags) healthChecks(ctx context.Context, root string) ([]page.Check, error) {
	results, err := doctor.Examine(ctx, f.s.doctorOptions(root))
	if err != nil {
		return nil, err
	}
	var list []page.Check
	for _, r := range results {
		if len(r.Findings) == 0 && !r.Failed {
			list = append(list, page.Check{OK: true, What: r.Check})
		}
		for _, one := range r.Findings {
			list = append(list, page.Check{Note: one.Note, What: one.What, Fix: one.Fix})
		}
	}
	return list, nil
}

// open opens the address in the browser. Arguments of a process can be read by
// every user of the machine, so the browser is given a private file that leads
// to the address. done removes it.
func (f *uiFlags) open(root, address string) (done func(), err error) {
	done = func() {}
	dir, err := config.RuntimeDir(f.s.getenv())
	if err != nil {
		return done, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return done, err
	}
	if left, err := filepath.Glob(filepath.Join(dir, "ui-*.html")); err == nil {
		for _, f := range left {
			if !pageRuns(f) {
				_ = os.Remove(f)
			}
		}
	}
	file, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("ui-%d.html", os.Getpid())), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return done, err
	}
	done = func() { _ = os.Remove(file.Name()) }
	_, err = fmt.Fprintf(file, "<!doctype html><meta charset=utf-8><title>Quarry</title>"+
		"<meta name=referrer content=no-referrer><meta http-equiv=refresh content=\"0;url=%s\"><p><a href=%q>Open Quarry</a>\n", address, address)
	if err := errors.Join(err, file.Close()); err != nil {
		return done, err
	}
	cmd := browser(runtime.GOOS, f.s.getenv(), file.Name())
	if cmd == nil {
		return done, errors.New("no program that opens addresses was found")
	}
	if err := cmd.Start(); err != nil {
		return done, err
	}
	go func() { _ = cmd.Wait() }()
	return done, nil
}

// pageRuns reports whether the server whose address a file holds still answers:
// its port can be connected to.
func pageRuns(file string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), "http://")
	host, _, _ := strings.Cut(rest, "/")
	c, err := net.DialTimeout("tcp", host, time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// browser is the command that opens a file in the user's browser; nil if there
// is none.
func browser(goos string, getenv func(string) string, file string) *exec.Cmd {
	switch goos {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	case "darwin":
		return exec.Command("open", file)
	}
	for _, name := range []string{getenv("BROWSER"), "xdg-open", "wslview", "sensible-browser"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return exec.Command(path, file)
		}
	}
	return nil
}
