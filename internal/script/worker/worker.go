// Package worker runs scripts in a process of their own, because nothing inside a
// process bounds the memory of an interpreter.
//
// The process holds no file and no folder. Its memory and processor time are
// bounded by the system (rlimit, a job object on Windows) and by a watch inside;
// its time by the server, which kills it with the call. A worker that was killed
// is started anew for the next script.
package worker

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/internal/script"
)

// Limits of one script; zero values are the defaults.
type Limits struct {
	Time      time.Duration // 30 s, with what the server does for it
	Memory    int64         // 256 MB of the worker
	Processor int           // 20 s of the worker, over all scripts of a process
	Steps     uint64        // 50 million
	Output    int           // 16 KB
	Asked     int           // 10,000 functions
}

func (l Limits) filled() Limits {
	l.Time = cmp.Or(l.Time, 30*time.Second)
	l.Memory = cmp.Or(l.Memory, 256<<20)
	l.Processor = cmp.Or(l.Processor, 20)
	l.Steps = cmp.Or(l.Steps, 50_000_000)
	l.Output = cmp.Or(l.Output, 16<<10)
	l.Asked = cmp.Or(l.Asked, 10_000)
	return l
}

// Pool starts workers and keeps one for the next script. It is safe for
// concurrent use: scripts at the same time have a process each.
type Pool struct {
	Command []string // the worker's program: it calls Main
	Limits  Limits

	mu   sync.Mutex
	idle *process
}

// process is a worker.
type process struct {
	cmd   *exec.Cmd
	in    *os.File
	out   *os.File
	read  *json.Decoder
	write *json.Encoder
	errs  *tail
	limit func() // ends what bounds it
	used  time.Duration
}

// ErrGone is for a worker that ended before its script did.
var ErrGone = errors.New("the script's process ended")

// Run runs a script. answer is called for each function, one at a time.
func (p *Pool) Run(ctx context.Context, text string, change bool, answer func(ctx context.Context, name string, args json.RawMessage) (any, error)) (script.Outcome, error) {
	limits := p.Limits.filled()
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	w, err := p.take(limits)
	if err != nil {
		return script.Outcome{}, err
	}
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { w.kill(); close(killed) })
	out, err := w.run(ctx, limits, script.Job{Script: text, Change: change, Steps: limits.Steps, Output: limits.Output}, answer)
	if !stop() {
		<-killed // the kill is under way: the worker is not used again
		err = cmp.Or(err, ErrGone)
	}
	if err != nil {
		w.kill()
		return script.Outcome{}, w.ending(ctx, err, limits)
	}
	p.put(w, limits)
	return out, nil
}

// Close ends the worker that waits.
func (p *Pool) Close() {
	p.mu.Lock()
	w := p.idle
	p.idle = nil
	p.mu.Unlock()
	if w != nil {
		w.kill()
	}
}

func (p *Pool) take(limits Limits) (*process, error) {
	p.mu.Lock()
	w := p.idle
	p.idle = nil
	p.mu.Unlock()
	if w != nil {
		return w, nil
	}
	return startProcess(p.Command)
}

// put keeps a worker for the next script, unless another one waits or it has
// used half of its processor time.
func (p *Pool) put(w *process, limits Limits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil || w.used > time.Duration(limits.Processor)*time.Second/4 {
		go w.kill()
		return
	}
	p.idle = w
}

func startProcess(command []string) (*process, error) {
	if len(command) == 0 {
		return nil, errors.New("no program is named to run scripts")
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, err
	}
	w := &process{cmd: exec.Command(command[0], command[1:]...), in: inW, out: outR, errs: &tail{}}
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = inR, outW, w.errs
	w.cmd.Dir = os.TempDir() // not the workspace: a process keeps its folder in use
	w.cmd.Env = environment()
	isolate(w.cmd)
	err = w.cmd.Start()
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, fmt.Errorf("the process for scripts could not be started: %w", err)
	}
	w.read = json.NewDecoder(bufio.NewReaderSize(outR, 64<<10))
	w.write = json.NewEncoder(inW)
	w.write.SetEscapeHTML(false)
	return w, nil
}

// environment keeps what a program needs to start, and nothing of the user's.
func environment() []string {
	env := []string{"GOMAXPROCS=2"}
	for _, name := range []string{"SystemRoot", "GOCOVERDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func (w *process) run(ctx context.Context, limits Limits, job script.Job, reply func(context.Context, string, json.RawMessage) (any, error)) (script.Outcome, error) {
	began := time.Now()
	defer func() { w.used += time.Since(began) }()
	if w.limit == nil {
		limit, err := confine(w.cmd.Process, limits.Memory)
		if err != nil {
			return script.Outcome{}, err
		}
		w.limit = limit
	}
	if err := w.write.Encode(toWorker{Run: &start{job, limits.Memory, limits.Processor}}); err != nil {
		return script.Outcome{}, err
	}
	for asked := 0; ; asked++ {
		var m fromWorker
		if err := w.read.Decode(&m); err != nil {
			return script.Outcome{}, err
		}
		if m.Done != nil {
			return *m.Done, nil
		}
		if m.Ask == nil {
			return script.Outcome{}, errors.New("the script's process sent nothing")
		}
		var a answer
		if asked >= limits.Asked {
			a.Error = &script.Error{Message: fmt.Sprintf("the script called more than %d functions", limits.Asked), Hint: "Search once and work on the hits."}
		} else {
			before := time.Now()
			value, err := reply(ctx, m.Ask.Name, m.Ask.Args)
			began = began.Add(time.Since(before)) // the server's time is not the script's
			a = packed(value, err)
		}
		if err := w.write.Encode(toWorker{Answer: &a}); err != nil {
			return script.Outcome{}, err
		}
	}
}

// maxAnswer bounds what one function may give a script.
const maxAnswer = 8 << 20

func packed(value any, err error) answer {
	if err != nil {
		if e, ok := errors.AsType[*script.Error](err); ok {
			return answer{Error: e}
		}
		return answer{Error: &script.Error{Message: err.Error()}}
	}
	data, err := json.Marshal(value)
	switch {
	case err != nil:
		return answer{Error: &script.Error{Message: err.Error()}}
	case len(data) > maxAnswer:
		return answer{Error: &script.Error{Message: fmt.Sprintf("the result has %d MB, more than the %d MB a script may have at once", len(data)>>20, maxAnswer>>20), Hint: "Narrow the path, the glob or the lines, or give a limit."}}
	}
	return answer{Value: data}
}

// ending says why a worker ended before its script did.
func (w *process) ending(ctx context.Context, err error, limits Limits) error {
	said := w.errs.String()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &script.Error{Message: fmt.Sprintf("the script took longer than %s and was ended; nothing was changed", limits.Time), Hint: "Search narrower, or do less in one script.", Code: "TIMEOUT"}
	case ctx.Err() != nil:
		return ctx.Err()
	case slices.ContainsFunc(memoryWords, func(words string) bool { return strings.Contains(said, words) }):
		return tooMuchMemory(limits)
	case w.cmd.ProcessState != nil && processorSpent(w.cmd.ProcessState):
		return &script.Error{Message: fmt.Sprintf("the script used more than %d s of processor time and was ended; nothing was changed", limits.Processor), Hint: "Let the functions do the work instead of loops.", Code: "TIMEOUT"}
	case strings.Contains(said, "stack overflow") || strings.Contains(said, "goroutine stack exceeds"):
		return &script.Error{Message: "the script is nested too deeply", Hint: "Build the value in steps."}
	}
	// The runtime crashes in other words too when it gets no memory, in the middle of
	// something else.
	if w.cmd.ProcessState != nil && peak(w.cmd.ProcessState) > limits.Memory/2 {
		return tooMuchMemory(limits)
	}
	return fmt.Errorf("%w (%v): %s", ErrGone, err, said)
}

func tooMuchMemory(limits Limits) error {
	return &script.Error{Message: fmt.Sprintf("the script needed more than %d MB of memory and was ended; nothing was changed", limits.Memory>>20), Hint: "Keep fewer texts at once: print what is wanted and let go of the rest.", Code: "TOO_LARGE"}
}

// memoryWord is what a worker says that ends itself for its memory.
const memoryWord = "script memory limit"

// memoryWords are what a worker says, itself or by Go's runtime, that gets no more
// memory, or none for the stack of another thread.
var memoryWords = []string{memoryWord, "out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread"}

func (w *process) kill() {
	w.cmd.Process.Kill()
	w.in.Close()
	w.cmd.Wait() // also when called twice: the second gives an error
	w.out.Close()
	if w.limit != nil {
		w.limit()
	}
}

// tail keeps the first and last of what a process says on standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4<<10 - len(t.text); room > 0 {
		t.text = append(t.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
