package page

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry"
	"quarry/internal/activity"
	"quarry/internal/mcpserver"
	"quarry/internal/presence"
	"quarry/internal/review"
	"quarry/internal/stress"
	"quarry/tool"
	"quarry/toolset"
)

// agent is an MCP client with a server of its own.
type agent struct {
	t       testing.TB
	session *mcp.ClientSession
	there   *presence.Server
}

// agents is a page with MCP clients, whose changes wait for a decision on the page.
type agents struct {
	*served
	present string // the folder where servers record connected clients
	rulesOf func() ([]string, error)
	calls   string // the folder for recorded tool calls; "" records none
	// Settings for agents connected later: the protocol version ("" is the newest), and the handler
	// of questions to their users.
	protocol    string
	elicitation *mcp.ElicitationCapabilities
	dialog      func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)
}

// showAt announces the page's address to servers, as quarry ui does.
func (a *agents) showAt(t testing.TB) {
	t.Helper()
	if err := a.opts.Review.(*review.Store).ShowAt(a.base + "/review/"); err != nil {
		t.Fatal(err)
	}
}

func serveAgents(t testing.TB, files map[string]string) *agents {
	t.Helper()
	if strings.HasPrefix(t.Name(), "TestBrowser") {
		needsBrowser(t) // must be first: a later skip would leave calls waiting
	}
	s, _ := serveReview(t, files)
	a := &agents{served: s, present: t.TempDir()}
	s.opts.Clients = func() ([]presence.Client, error) { return presence.List(a.present) }
	return a
}

// agent connects an agent. wait is how long its calls wait for a decision; with 0, its changes
// don't need one.
func (a *agents) agent(t testing.TB, name string, wait time.Duration) *agent {
	t.Helper()
	opts := &quarry.Options{StateDir: a.state}
	if wait != 0 {
		opts.Review = &quarry.ReviewOptions{Dir: a.proposals, Wait: wait, Stays: true, Rules: a.rulesOf, Offer: func(ctx context.Context, id, address string) func() {
			return mcpserver.OfferPage(ctx, mcpserver.Offer{ID: id, Address: address, Message: id + " waits"})
		}}
	}
	ws, err := quarry.Open(a.dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := toolset.New(ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	there, err := presence.Open(a.present, presence.Client{Review: wait != 0})
	if err != nil {
		t.Fatal(err)
	}
	answered := func(mcpserver.Answer) {}
	if a.calls != "" {
		log, err := activity.Open(a.calls)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { log.Close() })
		answered = func(c mcpserver.Answer) {
			log.Called(activity.Call{Time: c.Began, Client: c.Client.Name, Session: c.Client.Session, Tool: c.Tool.Name, About: activity.About(c.Arguments, nil), Millis: time.Since(c.Began).Milliseconds(), Bytes: c.Bytes, Error: string(c.Code)})
		}
	}
	server, err := mcpserver.New(tools, &mcpserver.Options{
		Answered:  answered,
		Connected: func(c tool.Client) { there.Connected(c.Name, c.Version, c.Session) },
		Called:    func(c tool.Client, u *tool.Tool) { there.Called(c.Name, c.Version, c.Session, u.Name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); _ = server.ServeStdio(ctx, fromClient, toClient) }()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ClientOptions{ElicitationHandler: a.dialog, Capabilities: &mcp.ClientCapabilities{Elicitation: a.elicitation}})
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: a.protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.refuseAll() // a pending call would delay the end of the test
		_ = session.Close()
		toServer.Close()
		cancel()
		<-done
		there.Close()
		if err := ws.Close(); err != nil {
			t.Errorf("close = %v", err)
		}
	})
	return &agent{t, session, there}
}

// refuseAll refuses all pending proposals.
func (a *agents) refuseAll() {
	list, _ := a.opts.Review.Pending()
	for _, p := range list {
		_, _ = a.opts.Review.Decide(context.Background(), a.opts.Decide, p.ID, review.Decision{By: "page", Rest: review.No})
	}
}

// call calls a tool and returns the text of its answer.
func (a *agent) call(name string, args map[string]any) string {
	a.t.Helper()
	res, err := a.session.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		a.t.Errorf("%s = %v", name, err)
		return ""
	}
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// start calls a tool without waiting for the answer.
func (a *agent) start(name string, args map[string]any) <-chan string {
	out := make(chan string, 1)
	go func() { out <- a.call(name, args) }()
	return out
}

// waiting waits until count proposals are pending. It returns the newest.
func (a *agents) waiting(t testing.TB, count int) *review.Proposal {
	t.Helper()
	var list []*review.Proposal
	if !stress.Becomes(func() bool {
		var err error
		list, err = a.opts.Review.Pending()
		return err == nil && len(list) == count
	}) {
		t.Fatalf("there are never %d proposals", count)
	}
	return list[0]
}

func edits(pairs ...string) []any {
	var list []any
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, map[string]any{"old_text": pairs[i], "new_text": pairs[i+1]})
	}
	return list
}
