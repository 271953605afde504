package agents

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/internal/config"
	"quarry/internal/mcpserver"
	"quarry/internal/profile"
	"quarry/internal/rootfs/outside"
	"quarry/tool"
)

// mcpFlags are the flags of quarry mcp.
type mcpFlags struct {
	agent
	http        string
	tokenFile   string
	allowRemote bool
	hosts       []string
	origins     []string
	verbose     bool
}

// toolset is everything a server offers.
type toolset struct {
	tools        *tool.Registry
	instructions string
	connected    func(tool.Client)
	called       func(tool.Client, *tool.Tool)
	answered     func(mcpserver.Answer)
	close        func() error
}

// NewMCP makes quarry mcp, with install and uninstall.
func NewMCP(s env.Streams) *cobra.Command {
	f := mcpFlags{agent: agent{s: s, stays: true}}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to an AI agent over MCP",
		Long: `Serve the tools over the Model Context Protocol: on stdin and stdout, or with
--http on a port of this machine. The folder is the one quarry finds from here,
or --root. Several folders get names, and every path then begins with one:
app/src/main.go.

What the agent may do is decided here and can't be changed by a call: with
--read-only there are no tools that change files; --deny hides files, --allow
shows secret-looking ones that are hidden otherwise.

Over HTTP every request needs a bearer token: the one in --token-file, else one
that is made up and shown at the start.`,
		Example: `  quarry mcp                                 this workspace, on stdin and stdout
  quarry mcp --root ~/notes --profile notes  an Obsidian vault
  quarry mcp --root app=~/app --root api=~/api --read-only
  quarry mcp --http 127.0.0.1:7777 --token-file ~/.quarry-token
  quarry mcp install --client claude-code    show how to connect a client`,
		Args:                  command.Args(0, 0),
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	manual.SetGroups(cmd, f.groups())
	cmd.AddCommand(newInstall(s), newUninstall(s))
	return cmd
}

func (f *mcpFlags) groups() []command.Group {
	list := f.serverGroups()
	web := command.NewFlags()
	web.StringVar(&f.http, "http", "", "serve HTTP at this `address`; a lone port is one of\nthis machine")
	web.StringVar(&f.tokenFile, "token-file", "", "the token is in this `file`")
	web.BoolVar(&f.allowRemote, "allow-remote", false, "the address may be one that other machines reach")
	command.AddTexts(web, &f.hosts, "allow-host", "", "further `name` this server is reached by")
	command.AddTexts(web, &f.origins, "allow-origin", "", "web `page` that may use this server")
	return append(list, command.Group{Title: "Serving HTTP", Flags: web})
}

// serverGroups returns the flags of the server, which quarry mcp install has too.
func (f *mcpFlags) serverGroups() []command.Group {
	other := command.NewFlags()
	other.BoolVar(&f.data, "structured", false, "answer in JSON, with schemas; for clients that want data")
	f.record.Add(other)
	other.BoolVarP(&f.verbose, "verbose", "v", false, "log more, to stderr")
	return append(f.agent.groups(), command.Group{Title: "Other", Flags: other})
}

func (f *mcpFlags) run(ctx context.Context, s env.Streams) error {
	web, listener, err := f.listen(s)
	if err != nil {
		return err
	}
	if listener != nil {
		defer listener.Close()
	}
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelInfo
	}
	log := slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: level}))
	set, err := openTools(f, log)
	if err != nil {
		return err
	}
	server, err := mcpserver.New(set.tools, &mcpserver.Options{
		Version: env.Version(), Instructions: set.instructions, Logger: log,
		Structured: f.data || profile.InJSON(f.profile), Connected: set.connected, Called: set.called, Answered: set.answered,
	})
	if err == nil {
		if listener != nil {
			fmt.Fprintf(s.Err, "quarry: listening on http://%s%s\n", listener.Addr(), mcpserver.Path)
			err = server.Serve(ctx, listener, web)
		} else {
			if s.IsTerminal(s.Out) {
				fmt.Fprintln(s.Err, "quarry: speaking MCP on stdin and stdout; quarry mcp install shows how to connect a client")
			}
			err = server.ServeStdio(ctx, s.In, s.Out)
		}
	}
	if errors.Is(err, mcpserver.ErrUnended) {
		return err // a call is still running, and close would wait for it
	}
	if listener != nil {
		return errors.Join(err, set.close())
	}
	// The client waits two seconds for the process to end, so closing has a time limit too. A file
	// that is not closed in time looks as after a crash, which its format tolerates.
	closed := make(chan error, 1)
	go func() { closed <- set.close() }()
	select {
	case failed := <-closed:
		return errors.Join(err, failed)
	case <-time.After(closeTime):
		return err
	}
}

// closeTime is how much of the client's two seconds is left after mcpserver.DefaultGrace.
const closeTime = 300 * time.Millisecond

// listen checks the HTTP flags and opens the port. For stdio it returns nil.
func (f *mcpFlags) listen(s env.Streams) (*mcpserver.HTTPOptions, net.Listener, error) {
	if f.http == "" {
		if f.tokenFile != "" || f.allowRemote || len(f.hosts)+len(f.origins) > 0 {
			return nil, nil, errors.New("--token-file, --allow-remote, --allow-host and --allow-origin are for --http")
		}
		return nil, nil, nil
	}
	address, remote, err := httpAddress(f.http)
	if err != nil {
		return nil, nil, err
	}
	if remote && !f.allowRemote {
		return nil, nil, fmt.Errorf("--http %s can be reached from other machines: add --allow-remote if that is meant", f.http)
	}
	token, err := f.token(s)
	if err != nil {
		return nil, nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	return &mcpserver.HTTPOptions{Token: token, Hosts: f.hosts, Origins: f.origins, Remote: remote}, listener, nil
}

// httpAddress completes a listening address. Without a host, only this machine can connect; Go's
// default would be every network, which people don't expect here.
func httpAddress(given string) (address string, remote bool, err error) {
	if _, err := strconv.ParseUint(given, 10, 16); err == nil {
		given = ":" + given
	}
	host, port, err := net.SplitHostPort(given)
	if err != nil {
		return "", false, fmt.Errorf("--http %s: an address is host:port, as 127.0.0.1:7777", given)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", false, fmt.Errorf("--http %s: invalid port %q", given, port)
	}
	host = cmp.Or(host, "127.0.0.1")
	return net.JoinHostPort(host, port), !isLoopback(host), nil
}

// isLoopback reports whether a host name or address always means this machine.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// token reads the server's token from its file. If there is none, it generates and prints one.
func (f *mcpFlags) token(s env.Streams) (string, error) {
	if f.tokenFile == "" {
		var b [32]byte
		if _, err := rand.Read(b[:]); err != nil {
			return "", err
		}
		token := base64.RawURLEncoding.EncodeToString(b[:])
		fmt.Fprintf(s.Err, "quarry: no --token-file, so this run has a token of its own; clients have to send\n  Authorization: Bearer %s\n", token)
		return token, nil
	}
	name := config.ExpandHome(f.tokenFile, os.Getenv)
	f.secret = name
	const most = 4096
	data, info, err := outside.Read(name, most)
	if err != nil && info != nil && (!info.Mode().IsRegular() || info.Size() > most) {
		return "", fmt.Errorf("--token-file %s is not a small file", f.tokenFile)
	}
	if err != nil {
		return "", fmt.Errorf("--token-file %w", env.PathError(f.tokenFile, err))
	}
	token := strings.TrimSpace(string(data))
	if len(token) < 16 || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("--token-file %s: a token is one word of 16 characters or more", f.tokenFile)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(s.Err, "quarry: others can read %s: chmod 600 it\n", f.tokenFile)
	}
	return token, nil
}
