package quarry_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	regime "quarry/internal/stress"
)

// told is what a process of TestOwnersKilled says after a question.
type told struct {
	Answer []byte // JSON text can't hold every byte of a file
	Plan   string
	Remote bool
	Keeper bool // it says that it owns the index
}

func ownerOptions(base string) *quarry.Options {
	return &quarry.Options{Workers: 2, Index: &quarry.IndexOptions{Dir: filepath.Join(base, "index"), Socket: filepath.Join(base, "run", "sock")}}
}

// TestOwnerChild is one of the processes that share an index: it answers
// questions from stdin, and tells on stdout. A question without a query asks
// whether it is the owner.
func TestOwnerChild(t *testing.T) {
	base := os.Getenv("QUARRY_OWNERS")
	if base == "" {
		t.Skip("runs as a child of TestOwnersKilled")
	}
	ws, err := quarry.Open(filepath.Join(base, "ws"), ownerOptions(base))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var q *quarry.Query
		if err := in.Decode(&q); err != nil {
			return
		}
		var r told
		if q != nil {
			res, err := ws.Search(ctx, *q)
			r.Answer = []byte(answerText(res, err))
			if err == nil {
				r.Plan, r.Remote = res.Stats.Plan, res.Stats.Remote
			}
		}
		st, err := ws.IndexStatus(ctx)
		if err != nil {
			t.Fatal(err)
		}
		r.Keeper = !st.Remote && st.State != "not_found"
		if err := out.Encode(&r); err != nil {
			return
		}
	}
}

// ownerProc is such a process.
type ownerProc struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out *bufio.Reader
	end io.Closer
}

func startOwner(t *testing.T, base string) *ownerProc {
	t.Helper()
	cmd := child(t, "TestOwnerChild", "QUARRY_OWNERS="+base, "GOMAXPROCS=2")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &ownerProc{cmd, json.NewEncoder(in), bufio.NewReader(out), in}
}

func (p *ownerProc) ask(q *quarry.Query) error { return p.in.Encode(q) }

func (p *ownerProc) hear() (r told, err error) {
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	return r, err
}

func (p *ownerProc) kill() {
	p.cmd.Process.Kill()
	p.end.Close()
	p.cmd.Wait()
}

// ownersRun is the state of TestOwnersKilled.
type ownersRun struct {
	t       *testing.T
	base    string
	procs   []*ownerProc
	scan    *quarry.Workspace
	m       *mutator
	answers map[string]int // by how they came about
}

// keeper asks everybody and returns the one that owns the index, -1 if nobody
// does.
func (r *ownersRun) keeper() int {
	r.t.Helper()
	found := -1
	for i, a := range r.everybody(nil, -1) {
		if !a.Keeper {
			continue
		}
		if found >= 0 {
			r.t.Fatalf("processes %d and %d both own the index", found, i)
		}
		found = i
	}
	return found
}

// everybody puts a question to all processes at once and returns what they
// tell. The one called dying is killed meanwhile, and may tell nothing.
func (r *ownersRun) everybody(q *quarry.Query, dying int) []told {
	r.t.Helper()
	for i, p := range r.procs {
		if err := p.ask(q); err != nil {
			r.t.Fatalf("process %d: %v", i, err)
		}
	}
	if dying >= 0 {
		// At any moment from before the first answer to after the last.
		time.Sleep(time.Duration(r.m.rng.IntN(6000)) * time.Microsecond)
		r.procs[dying].kill()
	}
	all := make([]told, len(r.procs))
	for i, p := range r.procs {
		a, err := p.hear()
		if err != nil && i != dying {
			r.t.Fatalf("process %d: %v", i, err)
		}
		all[i] = a
	}
	return all
}

// check compares all answers with a scan.
func (r *ownersRun) check(what string, dying int) {
	r.t.Helper()
	q := r.m.query()
	if dying >= 0 && r.m.rng.IntN(3) == 0 {
		q = quarry.Query{Pattern: "."} // a long answer, to be cut in the middle
	}
	want := answer(r.t, r.scan, q)
	for i, a := range r.everybody(&q, dying) {
		if i == dying {
			continue
		}
		how := "scan"
		if strings.HasPrefix(a.Plan, "index:") {
			how = map[bool]string{true: "asked", false: "owned"}[a.Remote]
		}
		r.answers[how]++
		if got := string(a.Answer); got != want {
			r.t.Fatalf("%s, process %d, answered by %s, %+v:\n%s", what, i, how, q, cmp.Diff(want, got))
		}
	}
}

// Six processes share an index, and whoever owns it is killed again and again,
// while it answers, while it builds, while files change: every answer of the
// others is the scan's, and there is never more than one owner.
func TestOwnersKilled(t *testing.T) {
	base := fastDir(t)
	for _, d := range []string{"ws", "index"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := &ownersRun{t: t, base: base, answers: map[string]int{}}
	r.m = &mutator{rng: regime.Rand(0), dir: filepath.Join(base, "ws")}
	for range 100 {
		r.m.step()
	}
	var err error
	if r.scan, err = quarry.Open(filepath.Join(base, "ws"), nil); err != nil {
		t.Fatal(err)
	}
	defer r.scan.Close()
	for range 6 {
		r.procs = append(r.procs, startOwner(t, base))
	}
	defer func() {
		for _, p := range r.procs {
			p.kill()
		}
	}()
	run := regime.Start(t, "processes: owner killed", 50, 2000)
	for seed := range run.Cases() {
		r.m.rng = regime.Rand(seed)
		for range r.m.rng.IntN(4) {
			r.m.step()
			r.check("after a change", -1)
		}
		owner := r.keeper()
		if owner < 0 { // the last one died and nobody has asked since
			r.check("without an owner", -1)
			if owner = r.keeper(); owner < 0 {
				t.Fatal("nobody took over")
			}
		}
		r.m.step()
		r.check("killed", owner)
		r.procs[owner] = startOwner(t, base)
	}
	r.check("at the end", -1)
	if r.answers["asked"] == 0 || r.answers["owned"] == 0 {
		t.Errorf("the index was hardly used: %v", r.answers)
	}
	t.Logf("answers: %v", r.answers)
}
