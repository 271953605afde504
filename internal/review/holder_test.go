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

// If this variable is set, the process is a child of TestKilledWhileWaiting that proposes
// a change and waits.
const proposer = "QUARRY_REVIEW_PROPOSER"

func proposeAsVictim(args []string) error {
	dir, state, reviews := args[0], args[1], args[2]
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state, Review: &quarry.ReviewOptions{Dir: reviews, Wait: time.Hour}})
	if err != nil {
		return err
	}
	defer ws.Close()
	_, err = ws.Write(context.Background(), "a.txt", []byte("new\n"), &change.Options{Client: change.Client{Name: agentish}})
	return err
}

// A killed process can't abandon its proposal itself. The proposal is abandoned
// nevertheless, accepting it asks for confirmation, and sending the same change again
// makes it wait again.
func TestKilledWhileWaiting(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "old\n"}, time.Hour)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), proposer+"="+strings.Join([]string{b.dir, t.TempDir(), b.reviews}, "\n"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := b.only()
	if p.State != review.Waiting {
		t.Errorf("while it waits it is %s", p.State)
	}
	b.sameTick()
	before, _ := b.store.Stamp()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	p, err := b.store.Get(p.ID)
	if err != nil || p.State != review.Abandoned {
		t.Fatalf("after the kill it is %s, %v", p.State, err)
	}
	b.sameTick()
	if after, _ := b.store.Stamp(); after == before {
		t.Error("the stamp is the same: a page does not look again")
	}
	if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes}); err == nil || !strings.Contains(err.Error(), "has gone") {
		t.Errorf("accepting it without a confirmation: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := b.agent.Write(t.Context(), "a.txt", []byte("new\n"), &change.Options{Client: change.Client{Name: agentish}})
		done <- err
	}()
	stress.Becomes(func() bool {
		if p, err = b.store.Get(p.ID); err != nil {
			t.Fatal(err)
		}
		return p.State == review.Waiting
	})
	if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{Rest: review.Yes}); err != nil {
		t.Errorf("sent again, it is accepted: %v", err)
	}
	if err := <-done; err != nil || b.read("a.txt") != "new\n" {
		t.Errorf("the call = %v, the file %q", err, b.read("a.txt"))
	}
}

// After a wait the call returns. A program may then end without abandoning its proposal.
// The proposals of a server are abandoned once it has ended.
func TestEndAfterTheWait(t *testing.T) {
	for _, c := range []struct {
		stays bool
		wait  time.Duration
		want  review.State
	}{
		{false, time.Millisecond, review.Waiting}, {false, -1, review.Waiting},
		{true, time.Millisecond, review.Abandoned}, {true, -1, review.Abandoned},
	} {
		t.Run(fmt.Sprint(c.stays, c.wait), func(t *testing.T) {
			b := newBench(t, map[string]string{"a.txt": "old\n"}, -1)
			agent := b.open(&quarry.ReviewOptions{Dir: b.reviews, Wait: c.wait, Stays: c.stays})
			_, err := agent.Write(t.Context(), "a.txt", []byte("new\n"), nil)
			var pending *review.PendingError
			if !errors.As(err, &pending) {
				t.Fatal(err)
			}
			if p, err := b.store.Get(pending.ID); err != nil || p.State != review.Waiting {
				t.Errorf("while it runs it is %s, %v", p.State, err)
			}
			if err := agent.Close(); err != nil {
				t.Fatal(err)
			}
			if p, err := b.store.Get(pending.ID); err != nil || p.State != c.want {
				t.Errorf("after its end it is %s, %v; want %s", p.State, err, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(b.reviews, "waits-*")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// Sweep notices that a process has ended without reading proposals. A new file may not be
// locked yet and is kept.
func TestSweep(t *testing.T) {
	b := newBench(t, nil, -1)
	old, fresh := filepath.Join(b.reviews, "waits-1-1"), filepath.Join(b.reviews, "waits-1-2")
	for _, name := range []string{old, fresh} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	b.store.Sweep()
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of a process that ended: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("a new file: %v", err)
	}
}
