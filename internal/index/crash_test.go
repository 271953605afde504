package index

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

const childEnv = "QUARRY_INDEX_CHILD" // tree and state folder of the child, one a line

func TestMain(m *testing.M) {
	if dirs := os.Getenv(childEnv); dirs != "" {
		if err := child(dirs); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	stress.InMemory()
	os.Exit(m.Run())
}

// child changes a tree and flushes and merges its index until it is killed.
func child(dirs string) error {
	var tree, stateDir string
	var seed uint64
	if _, err := fmt.Sscanf(dirs, "%q %q %d", &tree, &stateDir, &seed); err != nil {
		return err
	}
	root, err := rootfs.Open(tree, &rootfs.Options{AllowAny: true})
	if err != nil {
		return err
	}
	state, err := rootfs.Open(stateDir, &rootfs.Options{Trusted: true, AllowAny: true})
	if err != nil {
		return err
	}
	ix, err := Open(root, state, &Options{Fields: wordFields, racy: time.Millisecond})
	if err != nil {
		return err
	}
	w := &world{t: &testing.T{}, r: rand.New(rand.NewPCG(seed, 2)), dir: tree, root: root, state: state, ix: ix}
	ctx := context.Background()
	fmt.Println("ready")
	for {
		for range 3 {
			w.change()
		}
		if err := ix.Sweep(ctx, rootfs.Path{}); err != nil {
			return err
		}
		if err := ix.Flush(ctx); err != nil {
			return err
		}
		if err := ix.Merge(ctx); err != nil {
			return err
		}
	}
}

// A process killed at any moment of building, flushing and merging leaves an index that
// opens and answers correctly.
func TestKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Skip("can't start this test as a process: ", err)
	}
	w := newWorld(t, 5, true)
	for range 40 {
		w.write(w.name(), w.text())
	}
	kills, flushed := 0, 0
	for seed := range stress.Start(t, "kill -9 of an index", 40, 4_000).Cases() {
		kills++
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%q %q %d", childEnv, w.dir, w.stateDir, seed))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip("can't start a process: ", err)
		}
		bufio.NewReader(out).ReadString('\n')
		timer := time.NewTimer(time.Duration(w.r.IntN(40_000)) * time.Microsecond)
		<-timer.C // the kill time is random
		cmd.Process.Kill()
		cmd.Wait()
		w.open()
		if w.ix.Status().Documents > 0 {
			flushed++
		}
		for range 3 {
			w.check()
		}
		w.ix.Close()
	}
	if kills >= 40 && flushed < kills/4 { // on a busy machine, fewer prove little
		t.Errorf("only %d of %d children had flushed anything", flushed, kills)
	}
}
