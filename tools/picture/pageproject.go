//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// proposed is an agent's version of internal/payment/client.go, with three
// changes, one of which should be refused.
const proposed = `package payment

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Client charges for orders.
type Client struct {
	http    *http.Client
	policy  *RetryPolicy
	log     *slog.Logger
	timeout time.Duration
	token   string
}

// WithPolicy sets the RetryPolicy. Nil means DefaultPolicy.
func WithPolicy(p *RetryPolicy) Option {
	return func(c *Client) { c.policy = p }
}

// Charge takes the money for an order.
func (c *Client) Charge(ctx context.Context, o *Order) (*Receipt, error) {
	req, err := c.request(ctx, o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	resp, err := c.do(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("charge order %s: %w", o.ID, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.log.Error("read receipt", "err", err, "token", c.token)
		return nil, fmt.Errorf("read receipt: %w", err)
	}
	return parseReceipt(body)
}
`

// pageProject holds the files of the service in the pictures of the page.
var pageProject = map[string]string{
	".gitignore": "bin/\n*.log\n",
	"go.mod":     "module example.com/orders\n\ngo 1.26\n",
	"README.md":  "# orders-api\n\nTakes orders and charges for them. See [retries](docs/retries.md).\n",
	"docs/retries.md": "# Retries\n\nA `RetryPolicy` says how often and how long the client tries.\nThe default makes 4 attempts.\n\n" +
		"The client waits for `retryAfter` before each attempt. A server can ask for\nmore with the `Retry-After` header; the client never waits longer than `max_wait`.\n",
	"config/orders.toml": "[payment]\nurl = \"https://pay.example.com\"\nmax_wait = \"30s\"\nattempts = 4\n",
	".env":               "PAYMENT_TOKEN=not-a-real-one\n",
	"internal/payment/policy.go": `package payment

import "time"

// A RetryPolicy says how often and how long a Client tries.
//
// A value of it is safe for concurrent use.
type RetryPolicy struct {
	MaxAttempts int
	MaxWait     time.Duration
	Jitter      float64 // 0 to 1
}

// DefaultPolicy is the RetryPolicy of a Client that has none.
var DefaultPolicy = &RetryPolicy{MaxAttempts: 4, MaxWait: 30 * time.Second, Jitter: 0.2}
`,
	"internal/payment/retry.go": `package payment

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// ErrGaveUp is for a request that failed as often as the policy allows.
var ErrGaveUp = errors.New("gave up")

// maxWait bounds what a server may ask for.
const maxWait = 2 * time.Minute

// retryAfter returns how long to wait before the next attempt.
// It honours the Retry-After header and is never longer than maxWait.
func retryAfter(resp *http.Response, attempt int) time.Duration {
	if s := resp.Header.Get("Retry-After"); s != "" {
		if n, err := strconv.Atoi(s); err == nil {
			return min(time.Duration(n)*time.Second, maxWait)
		}
	}
	return jitter(time.Second<<attempt, 0.2)
}

// do sends req until it succeeds, the policy gives up or ctx ends.
func (c *Client) do(ctx context.Context, req *http.Request) (*http.Response, error) {
	policy := c.policyOrDefault()

	for attempt := 1; ; attempt++ {
		resp, err := c.http.Do(req.Clone(ctx))
		if err == nil && !shouldRetry(resp.StatusCode) {
			return resp, nil
		}
		if attempt >= policy.MaxAttempts {
			return resp, errors.Join(ErrGaveUp, err)
		}
		wait := retryAfter(resp, attempt)
		if wait > policy.MaxWait {
			return nil, &TooLongError{Wait: wait, RetryAfter: resp.Header.Get("Retry-After")}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// shouldRetry reports whether a status is worth another attempt.
func shouldRetry(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500
}

// jitter spreads d so that clients do not return at the same moment.
func jitter(d time.Duration, share float64) time.Duration {
	if share <= 0 {
		return d
	}
	return d + time.Duration(rand.Float64()*share*float64(d))
}
`,
	"internal/payment/errors.go": `package payment

import (
	"fmt"
	"time"
)

// TooLongError says that the server asked for more than MaxWait.
type TooLongError struct {
	Wait       time.Duration
	RetryAfter string // as the server sent it
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("server asks to wait %v (Retry-After: %q)", e.Wait, e.RetryAfter)
}
`,
	"internal/payment/client.go": `package payment

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

// Client charges for orders.
type Client struct {
	http   *http.Client
	policy *RetryPolicy
	log    *slog.Logger
}

// WithPolicy sets the RetryPolicy. Nil means DefaultPolicy.
func WithPolicy(p *RetryPolicy) Option {
	return func(c *Client) { c.policy = p }
}

// Charge takes the money for an order.
func (c *Client) Charge(ctx context.Context, o *Order) (*Receipt, error) {
	req, err := c.request(ctx, o)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("read receipt: %w", err)
	}
	return parseReceipt(body)
}
`,
	"internal/payment/retry_test.go": `package payment

import "testing"

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, header string
		attempt      int
	}{
		{"seconds", "3", 1},
		{"nothing", "", 2},
	} {
		if got := retryAfter(response(c.header), c.attempt); got <= 0 {
			t.Errorf("retryAfter(%q, %d) = %v", c.header, c.attempt, got)
		}
	}
}
`,
	"internal/httpapi/limit.go": `package httpapi

import (
	"net/http"
	"strconv"
	"time"
)

func reject(w http.ResponseWriter, retryAfter time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	http.Error(w, "too many requests", http.StatusTooManyRequests)
}
`,
}

// agent is an agent with the calls it makes before the picture is taken.
type agent struct {
	client, version string
	review          bool
	calls           []call
}

type call struct {
	tool string
	args map[string]any
}

var agents = []agent{
	{client: "claude-code", version: "2.1.4", calls: []call{
		{"write_file", map[string]any{"path": "config/example.toml", "content": "# Copy to orders.toml and fill in.\n[payment]\nurl = \"\"\nmax_wait = \"30s\"\nattempts = 4\n"}},
		{"move_file", map[string]any{"source": "docs/retries.md", "destination": "docs/retrying.md", "update_links": true}},
	}},
	{client: "cursor", version: "1.9.0", calls: []call{
		{"edit_file", map[string]any{"path": "internal/httpapi/limit.go", "old_text": "\thttp.Error(w,", "new_text": "\tslog.Warn(\"rejected\", \"wait\", retryAfter)\n\thttp.Error(w,"}},
		{"edit_file", map[string]any{"path": "internal/payment/retry_test.go", "old_text": "\t\t{\"nothing\", \"\", 2},\n", "new_text": "\t\t{\"nothing\", \"\", 2},\n\t\t{\"a date\", \"Wed, 21 Oct 2026 07:28:00 GMT\", 1},\n\t\t{\"too long\", \"86400\", 1},\n"}},
	}},
	{client: "claude-code", version: "2.1.4", calls: []call{
		{"edit_file", map[string]any{"path": "internal/payment/retry.go", "old_text": "\t\tif n, err := strconv.Atoi(s); err == nil {\n\t\t\treturn min(time.Duration(n)*time.Second, maxWait)\n\t\t}\n", "new_text": "\t\tif n, err := strconv.Atoi(s); err == nil && n >= 0 {\n\t\t\treturn min(time.Duration(n)*time.Second, maxWait)\n\t\t}\n\t\tif at, err := http.ParseTime(s); err == nil {\n\t\t\treturn min(max(time.Until(at), 0), maxWait)\n\t\t}\n"}},
	}},
	{client: "claude-code", version: "2.1.4", review: true, calls: []call{
		{"write_file", map[string]any{"path": "internal/payment/client.go", "content": proposed, "summary": "Charge with a deadline, and say which order failed"}},
	}},
	{client: "cursor", version: "1.9.0", review: true, calls: []call{
		{"edit_file", map[string]any{"path": "config/orders.toml", "old_text": "attempts = 4", "new_text": "attempts = 6"}},
	}},
}

func makeProject(ctx context.Context, program, dir, root string) error {
	if err := writeProject(root, pageProject); err != nil {
		return err
	}
	for _, d := range []string{"home", "runtime"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	for _, s := range agents {
		if err := s.run(ctx, program, dir, root); err != nil {
			return err
		}
	}
	return nil
}

// writeOrders adds more lines than one answer of the page holds, for the pictures of every
// view.
func writeOrders(root, all string) error {
	if all == "" {
		return nil
	}
	orders := map[string]string{}
	for month := range 6 {
		var b strings.Builder
		for day := range 60 {
			fmt.Fprintf(&b, "%d,2026-%02d-%02d,paid\n", 1000*month+day, month+1, day/2+1)
		}
		orders[fmt.Sprintf("testdata/orders-%d.csv", month+1)] = b.String()
	}
	return writeProject(root, orders)
}

// run makes the agent's calls over MCP.
func (s *agent) run(ctx context.Context, program, dir, root string) error {
	args := []string{"mcp", "--root", root}
	if s.review {
		args = append(args, "--review")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(environment(dir), "QUARRY_REVIEW_WAIT=0s")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	answers := bufio.NewReader(out)
	// ask sends a request and waits for the answer. If id is 0, it sends a notification.
	ask := func(id int, method string, params any) error {
		message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
		if id > 0 {
			message["id"] = id
		}
		if err := json.NewEncoder(in).Encode(message); err != nil || id == 0 {
			return err
		}
		line, err := answers.ReadString('\n')
		if err == nil && strings.Contains(line, `"isError":true`) && !s.review {
			err = fmt.Errorf("%s: %s", method, line)
		}
		return err
	}
	err = errors.Join(
		ask(1, "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": s.client, "version": s.version}}),
		ask(0, "notifications/initialized", map[string]any{}))
	for i, c := range s.calls {
		if err == nil {
			err = ask(i+2, "tools/call", map[string]any{"name": c.tool, "arguments": c.args})
		}
	}
	if s.review && err == nil {
		return nil // it keeps running for the picture, and ends with this program
	}
	return errors.Join(err, in.Close(), cmd.Wait())
}
