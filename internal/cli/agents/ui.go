package agents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/internal/activity"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/config"
	"quarry/internal/doctor"
	"quarry/internal/page"
	"quarry/internal/presence"
	"quarry/internal/review"
	"quarry/internal/rootfs/outside"
)

// uiFlags are the flags of quarry ui.
type uiFlags struct {
	agent
	checks func(root string) *doctor.Options
	port   int
	noOpen bool
	editor string
}

// NewUI returns the command "quarry ui". checks returns the options of quarry doctor for a root.
func NewUI(s env.Streams, checks func(root string) *doctor.Options) *cobra.Command {
	f := &uiFlags{agent: agent{s: s, noGate: true}, checks: checks}
	cmd := command.New("ui [FOLDER...]", "Open a page to search, see changes and review them",
		`Serve a local page for a workspace and open it in the browser: search as you
type, every change that agents and people made with its diff and undo, changes
that wait for a decision, and the health of the index. With several folders,
each path begins with the name of its folder; name=FOLDER chooses another name.

The page is reached from this machine alone. Its address holds a token after
the # sign; whoever does not have it learns nothing and changes nothing. Files
are shown as agents may see them: secrets stay hidden unless --allow shows them.`,
		`  quarry ui
  quarry ui ~/src/app --editor zed
  quarry ui ~/src/app docs=~/src/app-docs
  quarry ui --no-open --port 7700    print the address only`,
		nil, func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context()) })
	cmd.DisableFlagsInUseLine = true
	fl := cmd.Flags()
	fl.SortFlags = false
	command.AddTexts(fl, &f.roots, "root", "", "workspace `folder`, or name=folder; may be given\nseveral times (default: found from here)")
	fl.IntVar(&f.port, "port", 0, "`port` of this machine (default: a free one)")
	fl.BoolVar(&f.noOpen, "no-open", false, "print the address and open no browser")
	fl.StringVar(&f.editor, "editor", "", "`editor` that opens files: vscode (the default), vscodium,\ncursor, windsurf, zed, idea, sublime, none, or an\naddress with {path} and {line} in it")
	command.AddTexts(fl, &f.allow, "allow", "", "show files this `glob` matches that look like secrets")
	command.AddTexts(fl, &f.deny, "deny", "", "hide files this `glob` matches")
	fl.BoolVar(&f.readOnly, "read-only", false, "nothing can be undone or accepted on the page")
	fl.BoolVar(&f.force, "force", false, "serve even the home folder or /")
	fl.BoolVar(&f.noIndex, "no-index", false, "use no index: read the files for each search")
	f.record.Add(fl)
	return cmd
}

func (f *uiFlags) run(ctx context.Context) error {
	if f.port < 0 || f.port > 65535 {
		return fmt.Errorf("--port %d: a port is a number up to 65535", f.port)
	}
	log := slog.New(slog.NewTextHandler(f.s.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if len(f.roots) == 0 {
		root, err := env.FindRoot("")
		if err != nil {
			return err
		}
		f.roots = []string{root}
	}
	named, err := parseRoots(f.roots)
	if err != nil {
		return err
	}
	for _, r := range named {
		if err := env.RefuseHuge(r.dir, f.force); err != nil {
			return err
		}
	}
	ws, err := f.agent.open(true, log)
	if err != nil {
		return err
	}
	defer ws.Close()
	roots := ws.Roots()
	f.readOnly = f.readOnly || f.noLog
	opts := f.pageOptions(ws, log)
	stores, err := f.proposals(ctx, roots, &opts, log)
	defer func() {
		for _, s := range stores {
			s.Close()
		}
	}()
	if err != nil {
		return err
	}
	if f.port != 0 {
		opts.Host, opts.Token = f.sameAsBefore(dirsOf(roots))
	}
	server, err := page.New(opts)
	if err != nil {
		return err
	}
	l, err := page.Listen(f.port)
	if err != nil {
		return fmt.Errorf("%w\n  another program uses the port: omit --port to take a free one", err)
	}
	for i, s := range stores {
		at := server.Base(l) + "/review/"
		if len(stores) > 1 { // with several roots, ids begin with the root's name
			at += url.PathEscape(roots[i].Name + "/")
		}
		if err := s.ShowAt(at); err != nil {
			log.Warn("servers can't offer this page to their users", "error", err)
		}
	}
	fmt.Fprintf(f.s.Err, "quarry: the page of %s is at\n", strings.Join(dirsOf(roots), ", "))
	fmt.Fprintln(f.s.Out, server.Address(l))
	if !f.noOpen {
		done, err := f.show(server.AddressOnce(l))
		if err != nil {
			fmt.Fprintf(f.s.Err, "quarry: no browser could be opened (%v): open the address yourself\n", err)
		}
		defer done()
	}
	fmt.Fprintln(f.s.Err, "quarry: Ctrl-C ends it")
	return server.Serve(ctx, l)
}

func dirsOf(roots []quarry.Root) []string {
	var list []string
	for _, r := range roots {
		list = append(list, r.Workspace.Dir())
	}
	return list
}

func (f *uiFlags) pageOptions(ws *quarry.Workspace, log *slog.Logger) page.Options {
	roots := ws.Roots()
	var names []string
	for _, r := range roots {
		names = append(names, cmp.Or(r.Name, filepath.Base(r.Workspace.Dir())))
	}
	return page.Options{
		Workspace: ws, Name: strings.Join(names, ", "), Version: env.Version(), Editor: f.editor, ReadOnly: f.readOnly, Logger: log,
		Rules: f.rules(roots), Checks: func(ctx context.Context) ([]page.Check, error) { return f.healthChecks(ctx, roots) },
		RuleBooks: f.ruleBooks(roots),
		Activity:  f.activityOf(roots, log),
		Clients:   func() ([]presence.Client, error) { return f.clientsOf(roots) },
		Theme:     f.theme, KeepTheme: f.keepTheme,
	}
}

// sameAsBefore returns the name and token that the page of the same folders had last time on this
// port, so that open tabs can reconnect. They are stored in a private folder for the login session.
// If that fails, the page gets a new name and token.
func (f *uiFlags) sameAsBefore(dirs []string) (host, token string) {
	host, token = page.NewHost(), page.NewToken()
	dir, err := config.RuntimeDir(f.s.Env())
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return host, token
	}
	sum := sha256.Sum256([]byte(strings.Join(dirs, "\x00")))
	name := filepath.Join(dir, fmt.Sprintf("page-%d-%x", f.port, sum[:8]))
	if data, info, err := outside.Read(name, 4096); err == nil && (runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0) {
		if had := strings.Fields(string(data)); len(had) == 2 && len(had[1]) >= 32 {
			return had[0], had[1]
		}
	}
	_ = os.Remove(name) // the file is damaged, or others can read it
	if file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_, err = fmt.Fprintf(file, "%s %s\n", host, token)
		if errors.Join(err, file.Close()) != nil {
			_ = os.Remove(name)
		}
	}
	return host, token
}

// theme returns the theme that was last chosen on a page; "" means the system's theme.
func (f *uiFlags) theme() string {
	file, err := f.s.ThemeFile()
	if err != nil {
		return ""
	}
	data, _, _ := outside.Read(file, 4096) // without the file, no theme was chosen
	if theme := strings.TrimSpace(string(data)); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

func (f *uiFlags) keepTheme(theme string) error {
	file, err := f.s.ThemeFile()
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(theme+"\n"), 0o600)
}

// proposals opens the proposals of each root. The caller closes the opened stores.
func (f *uiFlags) proposals(ctx context.Context, roots []quarry.Root, opts *page.Options, log *slog.Logger) (stores []*review.Store, err error) {
	if f.noLog {
		return nil, nil // there is no place for proposals, so there are none
	}
	var parts []review.Part
	for _, r := range roots {
		dir, err := f.s.ReviewDir(r.Workspace.Dir())
		if err != nil {
			return stores, err
		}
		s, err := review.Open(dir)
		if err != nil {
			return stores, err
		}
		stores, parts = append(stores, s), append(parts, review.Part{Name: r.Name, Store: s, Workspace: r.Workspace})
		if err := s.Settle(ctx, r.Workspace); err != nil {
			log.Warn("proposals", "error", err)
		}
	}
	if opts.Review, opts.Decide = review.Join(parts...), parts[0].Workspace; len(parts) == 1 {
		opts.Review = stores[0]
	}
	return stores, nil
}

// ruleBooks returns the rules for changes in each root, as in its quarry.toml.
func (f *uiFlags) ruleBooks(roots []quarry.Root) []page.RuleBook {
	var list []page.RuleBook
	for _, r := range roots {
		dir := r.Workspace.Dir()
		list = append(list, page.RuleBook{
			Root: r.Name, Workspace: r.Workspace,
			Load: func() ([]string, string, review.Action, error) {
				set, err := f.s.ReviewRules(dir)
				otherwise := review.Accept
				if file, err := f.s.File(); err == nil {
					if on, err := file.Get(f.s.Env(), dir, "mcp.review"); err == nil && on.Text == "true" {
						otherwise = review.Ask
					}
				}
				return set.List, set.Where, otherwise, err
			},
			Save: func(rules []string) error {
				set, err := f.s.ReviewRules(dir)
				switch {
				case err != nil:
					return err
				case f.s.Conf == nil || f.s.Conf.Off:
					return errors.New("--no-config: this page reads no quarry.toml, so it writes none")
				case set.Source == config.FromEnvironment:
					return fmt.Errorf("%s sets the rules, and takes precedence over quarry.toml", set.Where)
				}
				v := &config.Value{List: rules}
				if len(rules) == 0 && set.Source != config.FromFile {
					v = nil
				}
				_, _, err = config.ChangeFile(f.s.Env(), set.Key, dir, v)
				return err
			},
		})
	}
	return list
}

// activityOf follows the tool calls in the first root, which suffices because a server of several
// roots records every call in each. It returns nil if calls are not recorded.
func (f *uiFlags) activityOf(roots []quarry.Root, log *slog.Logger) *activity.Follower {
	root := roots[0].Workspace.Dir()
	if f.noLog || !f.s.KeepsActivity(root) {
		return nil
	}
	dir, err := f.s.ActivityDir(root)
	if err != nil {
		log.Warn("activity", "error", err)
		return nil
	}
	return activity.Follow(dir)
}

// clientsOf returns the clients connected to any of the roots, without the duplicates that a server
// of several roots records.
func (f *uiFlags) clientsOf(roots []quarry.Root) ([]presence.Client, error) {
	var all []presence.Client
	for _, r := range roots {
		dir, err := f.s.ClientsDir(r.Workspace.Dir())
		if err != nil {
			return all, err
		}
		list, err := presence.List(dir)
		if err != nil {
			return all, err
		}
		for _, c := range list {
			if !slices.ContainsFunc(all, func(o presence.Client) bool { return o.PID == c.PID && o.Name == c.Name && o.Since.Equal(c.Since) }) {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// rules returns the policy in the form that the page shows.
func (f *uiFlags) rules(roots []quarry.Root) []page.Rule {
	var list []page.Rule
	for _, r := range roots {
		opts, in := &quarry.Options{Allow: f.allow, Deny: f.deny, ReadOnly: f.readOnly}, ""
		if f.s.SectionOf(r.Workspace.Dir(), opts); r.Name != "" {
			in = " in " + r.Name
		}
		list = append(list, page.Rule{Path: "**", Read: true, Write: !opts.ReadOnly, Why: "default" + in})
		for _, g := range opts.Deny {
			list = append(list, page.Rule{Path: g, Why: "denied" + in})
		}
		for _, g := range opts.Allow {
			list = append(list, page.Rule{Path: g, Read: true, Write: !opts.ReadOnly, Why: "allowed" + in})
		}
	}
	return append(list,
		page.Rule{Path: ".env, *.pem, *.key, id_rsa*, …", Why: "secrets"},
		page.Rule{Path: ".git/, .obsidian/, .smarthole/", Why: "protected"})
}

// healthChecks runs the checks of quarry doctor.
func (f *uiFlags) healthChecks(ctx context.Context, roots []quarry.Root) ([]page.Check, error) {
	var list []page.Check
	for _, r := range roots {
		results, err := doctor.Examine(ctx, f.checks(r.Workspace.Dir()))
		if err != nil {
			return nil, err
		}
		of := ""
		if r.Name != "" {
			of = r.Name + ": "
		}
		for _, result := range results {
			if len(result.Findings) == 0 && !result.Failed {
				list = append(list, page.Check{OK: true, What: of + result.Check})
			}
			for _, one := range result.Findings {
				list = append(list, page.Check{Note: one.Note, What: of + one.What, Fix: one.Fix})
			}
		}
	}
	return list, nil
}

// show opens the address in the browser. Every user of the machine can read a process's arguments,
// so the browser gets a private file that redirects to the address. done removes the file.
func (f *uiFlags) show(address string) (done func(), err error) {
	done = func() {}
	dir, err := config.RuntimeDir(f.s.Env())
	if err != nil {
		return done, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return done, err
	}
	if left, err := filepath.Glob(filepath.Join(dir, "ui-*.html")); err == nil {
		for _, f := range left {
			if !PageRuns(f) {
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
	cmd := browser(runtime.GOOS, f.s.Env(), file.Name())
	if cmd == nil {
		return done, errors.New("no program that opens addresses was found")
	}
	if err := cmd.Start(); err != nil {
		return done, err
	}
	go func() { _ = cmd.Wait() }()
	return done, nil
}

// PageRuns reports whether the page whose address is in a file is still served, that is, whether
// its port accepts connections.
func PageRuns(file string) bool {
	data, _, err := outside.Read(file, 64<<10)
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), "http://")
	host, _, _ := strings.Cut(rest, "/")
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return false
	}
	c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", port), time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// HasBrowser reports whether quarry ui can open a page.
func HasBrowser(getenv func(string) string) bool { return browser(runtime.GOOS, getenv, "") != nil }

// browser returns the command that opens a file in the user's browser; nil if there is
// none.
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
