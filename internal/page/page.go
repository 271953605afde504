// Package page serves the local page: search, changes, review and health of one workspace, which
// may join several roots. It runs in a browser on the same machine.
//
// The invariant: a client without the token learns nothing about the workspace and changes nothing.
// The Host and Origin of every request are checked. Every request except those for the page's fixed
// files must have the token. The fixed files contain nothing about the workspace. The content of
// workspace files is sent only as JSON, never as markup.
//
// The package accesses a workspace through the Workspace interface. A restart loses no state except
// the durations of the latest searches.
package page

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/activity"
	"quarry/internal/presence"
	"quarry/internal/review"
	"quarry/internal/strangers"
	"quarry/search"
)

// Workspace lists the methods of a workspace that the page needs.
type Workspace interface {
	Dir() string
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error)
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
	Changes(ctx context.Context, limit int) (*change.Log, error)
	Recording(ctx context.Context) (*change.Recording, error)
	Diff(ctx context.Context, id string, o *change.Options) (*change.Change, error)
	DiffAll(ctx context.Context, ids []string) (*change.Change, error)
	Authors(ctx context.Context, path string) (*change.Authors, error)
	Undo(ctx context.Context, id string, opts *change.Options) (*change.Change, error)
	Index() *quarry.Index
	Roots() []quarry.Root
}

// Options are the options of New.
type Options struct {
	Workspace Workspace
	// Name is the workspace's name on the page.
	Name string
	// Version is the version of the program.
	Version string
	// Editor opens files: a known name (vscode, zed, idea, ...), or an address that contains {path}
	// and {line}. "" means vscode, "none" shows no button.
	Editor string
	// ReadOnly disables undoing changes and accepting proposals.
	ReadOnly bool
	// Rules are the workspace's policy, shown on the page.
	Rules []Rule
	// RuleBooks are the rules for changes, one for each root; if empty, none are shown.
	RuleBooks []RuleBook
	// Checks runs the checks of quarry doctor for the health view; nil shows none.
	Checks func(ctx context.Context) ([]Check, error)
	// Activity reports tool calls; if nil, the page says that calls are not recorded.
	Activity *activity.Follower
	// Clients lists the connected clients; nil shows none.
	Clients func() ([]presence.Client, error)
	// Review stores the proposals, and Decide applies decisions. If they are nil, the page shows no
	// proposals.
	Review Review
	Decide review.Workspace
	// Theme returns the last chosen theme, "light" or "dark"; KeepTheme stores it. The browser
	// can't store it, because the page has a new address in each run. If the functions are nil, the
	// choice is forgotten at the end of the run.
	Theme     func() string
	KeepTheme func(theme string) error
	// Token is the secret, and Host is the page's name below localhost, such as
	// "quarry-….localhost". If they are empty, New generates them. If token, host and port are
	// those of an earlier run, tabs from that run can reconnect.
	Token, Host string
	// Logger receives errors; nil logs nothing.
	Logger *slog.Logger
}

// Rule is one line of the policy as shown on the page.
type Rule struct {
	Path  string `json:"path"`
	Read  bool   `json:"read"`
	Write bool   `json:"write"`
	Why   string `json:"why"`
}

// Check is the result of one check of quarry doctor.
type Check struct {
	OK   bool   `json:"ok"`
	Note bool   `json:"note,omitempty"` // for information; there is no problem
	What string `json:"what"`
	Fix  string `json:"fix,omitempty"`
}

// Server serves the page of one workspace.
type Server struct {
	ws      Workspace
	opts    Options
	editor  editor
	token   string
	name    string // the page's name below localhost
	log     *slog.Logger
	started time.Time
	times   *timings
	colours *colours
	counts  *countCache
	pulse   *pulse
	handler http.Handler
	conns   strangers.Conns

	mu      sync.Mutex
	host    map[string]bool // allowed Host headers; guarded by mu
	tickets map[string]bool // unused tickets; guarded by mu
}

// New returns a server for the page of a workspace.
func New(opts Options) (*Server, error) {
	if opts.Workspace == nil {
		return nil, errors.New("page: no workspace")
	}
	ed, err := editorFor(opts.Editor)
	if err != nil {
		return nil, err
	}
	s := &Server{
		ws: opts.Workspace, opts: opts, editor: ed, token: opts.Token, log: opts.Logger, started: time.Now(),
		times: &timings{}, colours: newColours(), counts: &countCache{}, host: map[string]bool{}, tickets: map[string]bool{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.token == "" {
		s.token = NewToken()
	}
	if s.name = opts.Host; s.name == "" {
		s.name = NewHost()
	}
	s.pulse = newPulse(s)
	s.handler = s.guard(s.mux())
	return s, nil
}

// Serve handles requests from a listener until ctx is done. The listener must accept only
// connections from this machine.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return fmt.Errorf("page: %s can be reached from other machines", l.Addr())
	}
	s.allowHost(addr.Port)
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		// Event streams end with ctx, because Shutdown does not wait for them.
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.conns.Watch(server)
	pulse := make(chan struct{})
	go func() { defer close(pulse); s.pulse.run(ctx) }()
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		err = server.Shutdown(end)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		<-done
		<-pulse
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// NewHost generates a name that no other program uses.
func NewHost() string {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return fmt.Sprintf("quarry-%x.localhost", b)
}

// NewToken generates a token of 256 random bits, encoded for use in an address.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Address returns the address of the page, with the token in the fragment, which browsers don't
// send. The address remains valid while the server runs.
func (s *Server) Address(l net.Listener) string { return s.Base(l) + "/enter#token=" + s.token }

// AddressOnce returns an address that can be opened only once. Browsers keep it in their history,
// from which the page's script can't remove it.
func (s *Server) AddressOnce(l net.Listener) string {
	ticket := NewToken()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[ticket] = true
	return s.Base(l) + "/#ticket=" + ticket
}

// Base returns the address without the token. It shows content only in a browser where the page is
// already open.
func (s *Server) Base(l net.Listener) string {
	at := l.Addr().String()
	if own, ok := l.(*loopback); ok && own.named {
		at = fmt.Sprintf("%s:%d", s.name, l.Addr().(*net.TCPAddr).Port)
	}
	return "http://" + at
}

// allowHost sets the Host headers that the server accepts.
func (s *Server) allowHost(port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]", s.name} {
		s.host[fmt.Sprintf("%s:%d", name, port)] = true
	}
}
