package changer_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	regime "quarry/internal/stress"
)

// TestActorChild is the process that TestKill kills. It makes random changes and prints
// the id of each completed one.
func TestActorChild(t *testing.T) {
	ws, seed := openAsChild(t, "QUARRY_ACTOR", "TestKill")
	a := &actor{ws, rand.New(rand.NewPCG(seed, 9))}
	fmt.Println("ready")
	for {
		if c, err := a.act(t); err == nil && c.ID != "" {
			fmt.Println("done", c.ID)
		}
	}
}

// openAsChild opens the workspace named by the environment variable, and returns the
// round's random seed.
func openAsChild(t *testing.T, variable, parent string) (*quarry.Workspace, uint64) {
	base := os.Getenv(variable)
	if base == "" {
		t.Skip("runs as a child of " + parent)
	}
	seed, _ := strconv.ParseUint(os.Getenv("QUARRY_SEED"), 10, 64)
	ws, err := quarry.Open(filepath.Join(base, "ws"), killOptions(base, nil))
	if err != nil {
		t.Fatal(err)
	}
	return ws, seed
}

// fillKillBase makes the folders of a round and the workspace's files.
func fillKillBase(base string, files map[string]string) error {
	for _, d := range []string{"ws", "state", "data"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			return err
		}
	}
	for name, text := range files {
		full := filepath.Join(base, "ws", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func killOptions(base string, log *slog.Logger) *quarry.Options {
	return &quarry.Options{
		StateDir: filepath.Join(base, "state"), TrashDir: filepath.Join(base, "data"), Trash: change.TrashLocal, Logger: log,
	}
}

// Killing a process at any time leaves only old or new files, and a journal that can undo
// all changes.
func TestKill(t *testing.T) {
	run := regime.Start(t, "kill -9 of a workspace", 150, 10_000)
	var wait sync.WaitGroup
	var mu sync.Mutex
	total, settled := 0, map[string]int{}
	for range 2 {
		wait.Go(func() {
			for seed := range run.Cases() {
				n, outcome := killRound(t, seed)
				mu.Lock()
				total += n
				for what, k := range outcome {
					settled[what] += k
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	t.Logf("%d acknowledged changes, settled at the next start: %v", total, settled)
}

func killRound(t *testing.T, seed uint64) (acknowledged int, outcome map[string]int) {
	base := regime.FastDir(t)
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "ws")
	if err := fillKillBase(base, actorFiles()); err != nil {
		t.Error(err)
		return
	}
	before := snapshot(t, dir)
	cmd := child(t, "TestActorChild", "QUARRY_ACTOR="+base, fmt.Sprintf("QUARRY_SEED=%d", seed))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	ids := killAfter(cmd, out, rand.New(rand.NewPCG(seed, 3)))

	var log bytes.Buffer
	ws, err := quarry.Open(dir, killOptions(base, slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return
	}
	defer ws.Close()
	checkAfterKill(t, ws, seed, ids)
	undoAll(t, ws)
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("seed %d, after undoing all: %s\n%s", seed, diff, log.String())
	}
	outcome = map[string]int{}
	for _, what := range []string{"change was complete", "unfinished change rolled back", "were changed since"} {
		outcome[what] = strings.Count(log.String(), what)
	}
	return len(ids), outcome
}

// killAfter lets the child work for a random time and kills it. It returns the ids of the
// completed changes.
func killAfter(cmd *exec.Cmd, out io.Reader, rng *rand.Rand) (ids []string) {
	lines := bufio.NewScanner(out)
	wanted := rng.IntN(12)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "done "); ok {
			ids = append(ids, id)
		}
		if len(ids) >= wanted {
			break
		}
	}
	time.Sleep(time.Duration(rng.IntN(2500)) * time.Microsecond) // the kill time is random
	cmd.Process.Kill()
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "done "); ok {
			ids = append(ids, id)
		}
	}
	cmd.Wait()
	return ids
}

func checkAfterKill(t *testing.T, ws *quarry.Workspace, seed uint64, ids []string) {
	log, err := ws.Changes(ctx, 0)
	if err != nil || log.Damaged != 0 {
		t.Errorf("seed %d: journal %+v, %v", seed, log, err)
		return
	}
	known := map[string]bool{}
	for _, c := range log.Changes {
		known[c.ID] = true
		if c.Pending {
			t.Errorf("seed %d: change %s is still pending", seed, c.ID)
		}
	}
	for _, id := range ids {
		if !known[id] {
			t.Errorf("seed %d: change %s was acknowledged and is gone", seed, id)
		}
	}
	filepath.WalkDir(ws.Dir(), func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".quarry-tmp-") {
			t.Errorf("seed %d: %s is left over", seed, p)
		}
		return nil
	})
}
