package trash

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// Environment variables of the test binary when it runs as a child.
const (
	envRole = "QUARRY_TRASH_TEST_ROLE"
	envDirs = "QUARRY_TRASH_TEST_DIRS"
	envSeed = "QUARRY_TRASH_TEST_SEED"
)

func TestMain(m *testing.M) {
	switch os.Getenv(envRole) {
	case "victim":
		victim()
	case "putter":
		putter()
	default:
		os.Exit(m.Run())
	}
}

// exitOnError replaces testing.TB in a child process.
type exitOnError struct{ testing.TB }

func (exitOnError) Helper()        {}
func (exitOnError) Cleanup(func()) {}
func (exitOnError) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(3)
}

func childDesk() (*desk, int) {
	dirs := strings.Split(os.Getenv(envDirs), "\n")
	seed, _ := strconv.Atoi(os.Getenv(envSeed))
	return newDesk(exitOnError{}, dirs[0], dirs[1] == "", Options{DataDir: dirs[1]}), seed
}

// victim moves files to the trash and restores them until it is killed.
func victim() {
	d, seed := childDesk()
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	for {
		os.Stdout.Write([]byte{'.'})
		if items := d.list(); len(items) > 0 && r.IntN(2) == 0 {
			_, err := d.bin.Restore(items[r.IntN(len(items))], rootfs.Path{})
			d.must(err)
			continue
		}
		dir := fmt.Sprint("d", r.IntN(3))
		if _, err := os.Lstat(filepath.Join(d.dir, dir, "same")); err == nil {
			d.put(dir + "/same")
		}
	}
}

// putter moves its files to the trash, all under the same name.
func putter() {
	d, seed := childDesk()
	for i := range 20 {
		d.put(fmt.Sprintf("p%d/%d/same.md", seed, i))
	}
}

func (d *desk) child(role string, seed int) *exec.Cmd {
	d.t.Helper()
	exe, err := os.Executable()
	d.must(err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), envRole+"="+role, envSeed+"="+strconv.Itoa(seed), envDirs+"="+d.dir+"\n"+d.data)
	cmd.Stderr = os.Stderr
	return cmd
}

// Whenever a process is killed, each item is at its path, or in the trash with its
// record, complete and not duplicated.
func TestKilledAtAnyMoment(t *testing.T) {
	stress.SkipTiny(t)
	const kills = 60 // per trash
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		t.Setenv("TMPDIR", "/dev/shm") // kills don't need a disk
	}
	kinds(t, func(t *testing.T, d *desk) {
		run := stress.Start(t, "kill -9 of a trash: "+path.Base(t.Name()), 1, 170)
		for i := range 3 {
			d.write(fmt.Sprintf("d%d/same/file", i), fmt.Sprint(i))
		}
		for seed := range run.Cases() {
			d.killAndRestore(stress.Rand(seed), kills)
			run.Tried(kills)
			if t.Failed() {
				t.Logf("STRESS_SEED=%d", seed)
			}
		}
	})
}

// killAndRestore kills processes that move three folders to the trash and back. No folder
// is ever lost or duplicated.
func (d *desk) killAndRestore(r *rand.Rand, kills int) {
	t := d.t
	for round := range kills {
		cmd := d.child("victim", r.Int())
		out, err := cmd.StdoutPipe()
		d.must(err)
		d.must(cmd.Start())
		if _, err := io.CopyN(io.Discard, bufio.NewReaderSize(out, 16), int64(1+r.IntN(20))); err != nil {
			t.Fatal("the child failed: ", err)
		}
		for range r.IntN(40) {
			os.Stat(d.dir)
		}
		cmd.Process.Kill()
		cmd.Wait()
		where := map[string]int{}
		for i := range 3 {
			name := fmt.Sprintf("d%d/same", i)
			if d.read(name+"/file") == fmt.Sprint(i) {
				where[name]++
			}
		}
		for _, item := range d.list() {
			if !item.Inside {
				t.Fatalf("round %d: %s lost its record", round, item.ID)
			}
			where[item.Path.String()]++
		}
		if len(where) != 3 || where["d0/same"]*where["d1/same"]*where["d2/same"] != 1 {
			t.Fatalf("round %d: %v", round, where)
		}
	}
	for _, item := range d.list() {
		if _, err := d.bin.Restore(item, rootfs.Path{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		if got := d.read(fmt.Sprintf("d%d/same/file", i)); got != fmt.Sprint(i) {
			t.Errorf("d%d: %q", i, got)
		}
	}
}

func TestProcessesTrashOneName(t *testing.T) {
	stress.SkipTiny(t)
	kinds(t, func(t *testing.T, d *desk) {
		const workers = 3
		var cmds []*exec.Cmd
		for w := range workers {
			for i := range 20 {
				d.write(fmt.Sprintf("p%d/%d/same.md", w, i), fmt.Sprint(w, i))
			}
		}
		for w := range workers {
			cmd := d.child("putter", w)
			d.must(cmd.Start())
			cmds = append(cmds, cmd)
		}
		for _, cmd := range cmds {
			d.must(cmd.Wait())
		}
		if n := len(d.list()); n != workers*20 {
			t.Fatalf("%d items, want %d", n, workers*20)
		}
		for _, item := range d.list() {
			_, err := d.bin.Restore(item, rootfs.Path{})
			d.must(err)
		}
		for w := range workers {
			for i := range 20 {
				if got := d.read(fmt.Sprintf("p%d/%d/same.md", w, i)); got != fmt.Sprint(w, i) {
					t.Errorf("p%d/%d holds %q", w, i, got)
				}
			}
		}
		if gone, err := d.bin.Empty(context.Background(), EmptyOptions{}); len(gone) != 0 || err != nil {
			t.Errorf("left: %v, %v", gone, err)
		}
	})
}
