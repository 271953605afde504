package review_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

// If this variable is set, the process is a child of TestKilledWhileApplying that decides
// and is killed.
const victim = "QUARRY_REVIEW_VICTIM"

func TestMain(m *testing.M) {
	if args := os.Getenv(victim); args != "" {
		if err := decideAsVictim(strings.Split(args, "\n")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if args := os.Getenv(proposer); args != "" {
		if err := proposeAsVictim(strings.Split(args, "\n")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	stress.InMemory()
	os.Exit(m.Run())
}

func decideAsVictim(args []string) error {
	dir, state, reviews, id := args[0], args[1], args[2], args[3]
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
	if err != nil {
		return err
	}
	defer ws.Close()
	store, err := review.Open(reviews)
	if err != nil {
		return err
	}
	defer store.Close()
	fmt.Println("ready")
	_, err = store.Decide(context.Background(), ws, id, review.Decision{By: "shell", Rest: review.Yes})
	return err
}

// TestKilledWhileApplying kills a process at a random moment while it applies a proposal
// of many files. Afterwards all files are old or all are new, and the proposal's state
// says which.
func TestKilledWhileApplying(t *testing.T) {
	run := stress.Start(t, "kill -9 while a proposal is applied", 4, 200)
	for seed := range run.Cases() {
		killOnce(t, run, seed)
	}
}

func killOnce(t *testing.T, run *stress.Run, seed uint64) {
	const files = 12
	contents := map[string]string{}
	for i := range files {
		contents[fmt.Sprintf("d%d/f.txt", i)] = "old\n"
	}
	b := newBench(t, contents, -1)
	set := change.Set{Tool: "apply_changes", Client: change.Client{Name: agentish}}
	for i := range files {
		set.Ops = append(set.Ops, change.Op{Verb: change.EditFile, Path: fmt.Sprintf("d%d/f.txt", i), Edits: []change.Edit{{Old: "old", New: "new"}}})
	}
	var pending *review.PendingError
	if _, err := b.agent.Apply(t.Context(), set); !errors.As(err, &pending) {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victim+"="+strings.Join([]string{b.dir, b.state, b.reviews, pending.ID}, "\n"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 6)
	if _, err := out.Read(ready); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(stress.Rand(seed).IntN(30_000)) * time.Microsecond) // the process is killed after a random time
	_ = cmd.Process.Kill()
	_ = cmd.Wait()

	// The next process settles the journal first, and then the proposal.
	ws := b.open(nil)
	if err := b.store.Settle(t.Context(), ws); err != nil {
		t.Fatal(err)
	}
	p, err := b.store.Get(pending.ID)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for name := range contents {
		data, err := os.ReadFile(filepath.Join(b.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		seen[string(data)]++
	}
	switch {
	case seen["old\n"] == files && p.State == review.Waiting:
	case seen["new\n"] == files && p.State == review.Accepted:
	default:
		run.Violation(seed, "files %v, proposal %s (%s)", seen, p.State, p.Problem)
	}
}
