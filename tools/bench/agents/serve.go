package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// request is sent by the command call to the run's daemon, which returns a reply. The daemon keeps
// an MCP connection open for each tree. So the server keeps its index and session, as with a real
// client.
type request struct {
	Task  string     `json:"task"`
	Calls []toolCall `json:"calls"`
	Stop  bool       `json:"stop"`
}

type toolCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

type reply struct {
	Results []result `json:"results"`
	Error   string   `json:"error"` // an error of this program, not of a tool
}

type result struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
	Millis int64  `json:"ms"`
}

// idle is how long a daemon and its servers run without calls.
const idle = 4 * time.Hour

// serve runs the daemon of a run.
func (t trial) serve(r *runRecord) error {
	dir, err := os.MkdirTemp("", "agents")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return err
	}
	defer listener.Close()
	r.Socket = filepath.Join(dir, "s")
	if err := r.save(); err != nil {
		return err
	}
	d := daemon{trial: t, run: r, sessions: map[string]*session{}}
	defer d.close()
	ends := time.AfterFunc(idle, func() { listener.Close() })
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil
		}
		ends.Reset(idle)
		go func() {
			defer conn.Close()
			var q request
			if err := json.NewDecoder(conn).Decode(&q); err != nil {
				return
			}
			if q.Stop {
				d.close()
			}
			json.NewEncoder(conn).Encode(d.answer(q))
			if q.Stop {
				listener.Close()
			}
		}()
	}
}

type daemon struct {
	trial trial
	run   *runRecord

	mu       sync.Mutex
	sessions map[string]*session // by task
}

type session struct {
	*mcp.ClientSession
	log *os.File
	mu  sync.Mutex // held during a call, so that calls in one tree run in order
}

func (d *daemon) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for task, s := range d.sessions {
		s.Close()
		s.log.Close()
		delete(d.sessions, task)
	}
}

func (d *daemon) session(task string) (*session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sessions[task]; s != nil {
		return s, nil
	}
	log, err := os.OpenFile(filepath.Join(d.run.dir, "rpc-"+task+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	var more []string
	if d.run.Arm == "hooks" {
		more = []string{"--record"}
	}
	c, err := d.trial.connect(context.Background(), d.run, task, log, more...)
	if err != nil {
		log.Close()
		return nil, err
	}
	s := &session{ClientSession: c, log: log}
	d.sessions[task] = s
	return s, nil
}

func (d *daemon) answer(q request) reply {
	if q.Stop {
		return reply{}
	}
	s, err := d.session(q.Task)
	if err != nil {
		return reply{Error: err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out reply
	for _, c := range q.Calls {
		out.Results = append(out.Results, callTool(s.ClientSession, c))
	}
	return out
}

func callTool(s *mcp.ClientSession, c toolCall) result {
	start := time.Now()
	answer, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: c.Tool, Arguments: c.Arguments})
	out := result{Millis: time.Since(start).Milliseconds()}
	if err != nil {
		out.Text, out.Failed = err.Error(), true
		return out
	}
	var text strings.Builder
	for _, part := range answer.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		} else {
			data, _ := json.Marshal(part)
			text.Write(data)
		}
	}
	out.Text, out.Failed = text.String(), answer.IsError
	return out
}

// connect starts the program in the tree of a task and initializes the session. If log isn't nil,
// every message is written to it.
func (t trial) connect(ctx context.Context, r *runRecord, task string, log io.Writer, more ...string) (*mcp.ClientSession, error) {
	tree, err := filepath.EvalSymlinks(r.tree(task))
	if err != nil {
		return nil, fmt.Errorf("no tree of task %s: %w", task, err)
	}
	args := append([]string{"mcp", "--root", tree, "--profile", r.Profile}, more...)
	if r.Tools != "" {
		args = append(args, "--tools", r.Tools)
	}
	c := exec.Command(r.Program, args...)
	c.Env = r.environment()
	errs, err := os.OpenFile(filepath.Join(r.dir, "stderr-"+task+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer errs.Close() // the child process has its own copy
	c.Stderr = errs
	var transport mcp.Transport = &mcp.CommandTransport{Command: c}
	if log != nil {
		transport = &mcp.LoggingTransport{Transport: transport, Writer: log}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "trial", Version: "1"}, nil)
	s, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w (see %s)", r.Program, strings.Join(args, " "), err, errs.Name())
	}
	return s, nil
}

// ask sends a request to the run's daemon. If none is running, it starts one.
func (t trial) ask(r *runRecord, q request) (reply, error) {
	conn, err := net.Dial("unix", r.Socket)
	if r.Socket == "" || err != nil {
		if q.Stop {
			return reply{}, nil
		}
		if conn, err = t.start(r); err != nil {
			return reply{}, err
		}
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(q); err != nil {
		return reply{}, err
	}
	var a reply
	if err := json.NewDecoder(conn).Decode(&a); err != nil {
		return reply{}, fmt.Errorf("the server of the run ended: %w", err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

func (t trial) start(r *runRecord) (net.Conn, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, "serve", "-dir", t.dir, r.Name)
	detach(c)
	old := r.Socket
	if err := c.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			return nil, fmt.Errorf("the daemon of the run ended: %v", err)
		default:
		}
		fresh, err := t.open(r.Name)
		if err != nil || fresh.Socket == "" || fresh.Socket == old {
			continue // run.json does not exist yet or is being written
		}
		if conn, err := net.Dial("unix", fresh.Socket); err == nil {
			return conn, nil
		}
	}
	return nil, errors.New("the daemon of the run did not start in a minute")
}

func (t trial) stop(r *runRecord) error {
	_, err := t.ask(r, request{Stop: true})
	return err
}
