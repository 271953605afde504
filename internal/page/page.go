// Package page is the local page: search, changes, review and health of one
// workspace, which may be several joined, in a browser of the same machine.
//
// The invariant: whoever does not hold the token learns nothing about the
// workspace and changes nothing. Every request is checked for its Host and its
// Origin, every request but those for the fixed files of the page also for the
// token, and the fixed files say nothing about the workspace. What files say
// leaves the server as JSON alone, never as markup.
//
// The package sees a workspace through the Workspace interface. It holds no
// state that a restart would lose, except how long the last searches took.
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

// Workspace is what the page needs of a workspace.
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

// Options of New.
type Options struct {
	Workspace Workspace
	// Name of the workspace as the page shows it.
	Name string
	// Version of the program.
	Version string
	// Editor opens files: a known name (vscode, zed, idea, ...), or an address
	// with {path} and {line} in it; "" is vscode, "none" shows no button.
	Editor string
	// ReadOnly says that nothing can be undone or accepted here.
	ReadOnly bool
	// Rules are the workspace's policy, for the page to show.
	Rules []Rule
	// RuleBooks are the rules for changes, one for each root; none shows none.
	RuleBooks []RuleBook
	// Checks are run for the health view, as quarry doctor does; nil shows none.
	Checks func(ctx context.Context) ([]Check, error)
	// Activity follows the calls of tools; nil shows that they are not kept.
	Activity *activity.Follower
	// Clients tells who is connected; nil shows nobody.
	Clients func() ([]presence.Client, error)
	// Review keeps the proposals, and Decide carries decisions out; nil shows
	// none.
	Review Review
	Decide review.Workspace
	// Theme is the theme that was chosen last, "light" or "dark", and KeepTheme
	// keeps one. The address of the page is new in each run, so the browser can't.
	// If they are nil, the choice ends with the run.
	Theme     func() string
	KeepTheme func(theme string) error
	// Token is the secret, and Host the name of the page below localhost, as
	// "quarry-….localhost"; "" makes one up. A page with the token and the host of an
	// earlier run, on the same port, is found again by the tabs of that run.
	Token, Host string
	// Logger hears of what goes wrong; nil is silent.
	Logger *slog.Logger
}

// Rule is one line of the policy.
type Rule struct {
	Path  string `json:"path"`
	Read  bool   `json:"read"`
	Write bool   `json:"write"`
	Why   string `json:"why"`
}

// Check is something that was looked at.
type Check struct {
	OK   bool   `json:"ok"`
	Note bool   `json:"note,omitempty"` // good to know, nothing to repair
	What string `json:"what"`
	Fix  string `json:"fix,omitempty"`
}

// Server is the page of one workspace.
type Server struct {
	ws      Workspace
	opts    Options
	editor  editor
	token   string
	name    string // below localhost
	log     *slog.Logger
	started time.Time
	times   *timings
	colours *colours
	counts  *countCache
	pulse   *pulse
	handler http.Handler
	conns   strangers.Conns

	mu      sync.Mutex
	host    map[string]bool // what a Host header may say; guarded by mu
	tickets map[string]bool // those that are not used yet; guarded by mu
}

// New makes the page of a workspace.
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

// Serve answers on a listener until the context ends. The listener has to be
// one of this machine alone.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return fmt.Errorf("page: %s can be reached from other machines", l.Addr())
	}
	s.allowHost(addr.Port)
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		// Streams end when the server ends; Shutdown does not wait for them.
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

// NewHost makes up a name that no other program had.
func NewHost() string {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return fmt.Sprintf("quarry-%x.localhost", b)
}

// NewToken makes up 256 bits that an address can hold.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Address is where a browser finds the page, with the token in the fragment,
// which browsers don't send. It can be opened any number of times.
func (s *Server) Address(l net.Listener) string { return s.Base(l) + "/enter#token=" + s.token }

// AddressOnce is an address that can be opened once: a browser keeps it in its
// history, where the script of the page can't remove it.
func (s *Server) AddressOnce(l net.Listener) string {
	ticket := NewToken()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[ticket] = true
	return s.Base(l) + "/#ticket=" + ticket
}

// Base is the address without the token: it shows something only in a browser in
// which the page is open.
func (s *Server) Base(l net.Listener) string {
	at := l.Addr().String()
	if own, ok := l.(*loopback); ok && own.named {
		at = fmt.Sprintf("%s:%d", s.name, l.Addr().(*net.TCPAddr).Port)
	}
	return "http://" + at
}

// allowHost sets the names by which the server may be addressed.
func (s *Server) allowHost(port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]", s.name} {
		s.host[fmt.Sprintf("%s:%d", name, port)] = true
	}
}
