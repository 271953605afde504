//go:build linux && !portable

package rootfs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"quarry/fault"
	"quarry/internal/stress"
)

// TestMain lets the test binary act as the child: "edit" works until it is killed,
// "token" and "careless" add tokens to files.
func TestMain(m *testing.M) {
	if job := os.Getenv("ROOTFS_CHILD"); job != "" {
		if err := child(job, os.Getenv("ROOTFS_DIR"), os.Getenv("ROOTFS_ID")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func startChild(t *testing.T, job, dir, id string) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ROOTFS_CHILD="+job, "ROOTFS_DIR="+dir, "ROOTFS_ID="+id)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, out
}

func child(job, dir, id string) error {
	r, err := Open(dir, nil)
	if err != nil {
		return err
	}
	switch job {
	case "edit":
		return editForever(r)
	case "create":
		return createForever(r)
	case "token":
		return addTokens(r, id)
	case "careless":
		return addCarelessly(dir, id)
	}
	return errors.New("unknown job " + job)
}

// numbered returns content of which every part shows n, so that torn content is recognized.
func numbered(n int) []byte {
	b := []byte(strconv.Itoa(n) + "\n")
	return append(append(b, bytes.Repeat([]byte{byte('a' + n%26)}, (n*7919)%300_000)...), "\nend "+strconv.Itoa(n)...)
}

// numberOf returns the number of a numbered content, or an error if the content is torn.
func numberOf(b []byte) (int, error) {
	head, _, _ := bytes.Cut(b, []byte("\n"))
	n, err := strconv.Atoi(string(head))
	if err != nil || !bytes.Equal(b, numbered(n)) {
		return 0, fmt.Errorf("torn: %d bytes, starts %.20q", len(b), b)
	}
	return n, nil
}

func editForever(r *Root) error {
	for {
		b, v, _, err := r.ReadFile(Path{"f"}, 0)
		if err != nil {
			return err
		}
		n, err := numberOf(b)
		if err != nil {
			return err
		}
		if _, err := r.Replace(Path{"f"}, numbered(n+1), v, nil); err != nil {
			return err
		}
		fmt.Println(n + 1)
	}
}

// createForever makes, renames and removes files: when n is acknowledged, file "n" exists
// and n-1 is gone.
func createForever(r *Root) error {
	for n := 1; ; n++ {
		name := strconv.Itoa(n)
		if _, _, err := r.Create(Path{"new"}, numbered(n), nil); err != nil {
			return err
		}
		if err := r.Rename(Path{"new"}, Path{name}); err != nil {
			return err
		}
		fmt.Println(n)
		if n > 1 {
			if err := r.Remove(Path{strconv.Itoa(n - 1)}); err != nil {
				return err
			}
		}
	}
}

// killed runs a child until a random moment and returns the last number it
// acknowledged.
func killed(t *testing.T, job, dir string, rnd *rand.Rand) int {
	t.Helper()
	cmd, out := startChild(t, job, dir, "")
	last := 0
	lines := bufio.NewScanner(out)
	after, micros := 1+rnd.IntN(3), rnd.IntN(3000)
	for i := 0; lines.Scan(); i++ {
		last, _ = strconv.Atoi(lines.Text())
		if i == after {
			time.AfterFunc(time.Duration(micros)*time.Microsecond, func() { cmd.Process.Signal(syscall.SIGKILL) })
		}
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return last
}

func tidy(t *testing.T, dir string) Cleaned {
	t.Helper()
	r := openRoot(t, dir, nil)
	defer r.Close()
	res, err := r.CleanTemps(context.Background(), Path{})
	must(t, err)
	for _, err := range res.Errors {
		t.Error(err)
	}
	for _, n := range entryNames(dir) {
		if IsTemp(filepath.Base(n)) || strings.Contains(n, ".conflict-") {
			t.Errorf("left over after cleaning: %s", n)
		}
	}
	return res
}

// TestKill kills a process at random moments of its changes. Acknowledged changes must be present, no file
// may be torn, and no files may be left over.
func TestKill(t *testing.T) {
	t.Parallel()
	stress.SkipTiny(t)
	for _, c := range []struct {
		name, job string
		links     bool
	}{{"replace", "edit", false}, {"in place", "edit", true}, {"create, rename, remove", "create", false}} {
		t.Run(c.name, func(t *testing.T) {
			run := stress.Start(t, "kill -9: "+c.name, 300, 10_000)
			dir := memoryDir(t)
			f := dir + "/f"
			must(t, os.WriteFile(f, numbered(0), 0o644))
			if c.links {
				must(t, os.Link(f, dir+"/g"))
			}
			acks, restored, removed := 0, 0, 0
			for seed := range run.Cases() {
				last := killed(t, c.job, dir, stress.Rand(seed))
				acks += last
				if !c.links && c.job == "edit" {
					if _, err := numberOf([]byte(content(t, f))); err != nil {
						t.Fatal("before cleaning:", err)
					}
				}
				res := tidy(t, dir)
				restored, removed = restored+len(res.Restored), removed+res.Removed
				if c.job == "create" {
					checkCreated(t, dir, last)
					continue
				}
				n, err := numberOf([]byte(content(t, f)))
				if err != nil {
					t.Fatal(err)
				}
				if n != last && n != last+1 {
					t.Fatalf("acknowledged %d, found %d", last, n)
				}
				if c.links && content(t, dir+"/g") != content(t, f) {
					t.Fatal("the two names differ")
				}
			}
			t.Logf("%d left-overs removed, %d files restored", removed, restored)
		})
	}
}

func checkCreated(t *testing.T, dir string, last int) {
	t.Helper()
	for _, n := range []int{last, last + 1} {
		b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
		if err != nil {
			continue
		}
		if got, err := numberOf(b); err != nil || got != n {
			t.Fatalf("file %d holds %d, %v", n, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, strconv.Itoa(last))); err != nil {
		if _, err := os.Stat(filepath.Join(dir, strconv.Itoa(last+1))); err != nil {
			t.Fatalf("%d was acknowledged and is gone", last)
		}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries { // for the next round
		if e.Name() == "new" {
			if _, err := numberOf([]byte(content(t, filepath.Join(dir, "new")))); err != nil {
				t.Fatal(err)
			}
		}
		if e.Name() != "f" {
			must(t, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
}

const tokenFiles = 3

// addTokens makes conditional edits: each adds a line to a file, based on the version it
// read.
func addTokens(r *Root, id string) error {
	who, count, _ := strings.Cut(id, "/")
	total, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := range total {
		p := Path{fmt.Sprintf("f%d", i%tokenFiles)}
		for {
			b, v, _, err := r.ReadFile(p, 0)
			if errors.Is(err, fault.Conflict) {
				continue
			}
			if err != nil {
				return err
			}
			_, err = r.Splice(p, []Edit{{Off: int64(len(b)), Data: fmt.Appendf(nil, "%s-%d\n", who, i)}}, v, nil)
			if err == nil {
				break
			}
			if !errors.Is(err, fault.Conflict) {
				return err
			}
		}
		fmt.Printf("%s-%d\n", who, i)
	}
	r.drain(false)
	return r.Close()
}

// addCarelessly appends like an ordinary program, without checking versions.
func addCarelessly(dir, id string) error {
	who, count, _ := strings.Cut(id, "/")
	total, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := range total {
		f, err := os.OpenFile(fmt.Sprintf("%s/f%d", dir, i%tokenFiles), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		if i%2 == 0 {
			time.Sleep(200 * time.Microsecond) // keep it open for a while
		}
		if _, err := fmt.Fprintf(f, "%s-%d\n", who, i); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		fmt.Printf("%s-%d\n", who, i)
	}
	return nil
}

// TestLostUpdate lets processes make conditional edits while another appends without checking
// versions. Every acknowledged line must be in its file once.
func TestLostUpdate(t *testing.T) {
	t.Parallel()
	stress.SkipTiny(t)
	processes, edits := 8, 200
	if testing.Short() {
		processes, edits = 4, 100
	}
	if stress.Long() {
		processes, edits = 8, 2000
	}
	run := stress.Start(t, "lost update: files", 1, 1)
	dir := memoryDir(t)
	for i := range tokenFiles {
		must(t, os.WriteFile(fmt.Sprintf("%s/f%d", dir, i), nil, 0o644))
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	acked := map[string]bool{}
	for i := range processes + 1 {
		job, id := "token", fmt.Sprintf("p%d/%d", i, edits)
		if i == processes {
			job, id = "careless", fmt.Sprintf("c/%d", edits)
		}
		cmd, out := startChild(t, job, dir, id)
		wg.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				mu.Lock()
				acked[lines.Text()] = true
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v", job, err)
			}
		})
	}
	wg.Wait()
	found := map[string]int{}
	for i := range tokenFiles {
		for line := range strings.Lines(content(t, fmt.Sprintf("%s/f%d", dir, i))) {
			found[strings.TrimSuffix(line, "\n")]++
		}
	}
	lost, rescued := 0, 0
	copies, err := filepath.Glob(dir + "/*.conflict-*")
	must(t, err)
	for _, c := range copies {
		for line := range strings.Lines(content(t, c)) {
			if token := strings.TrimSuffix(line, "\n"); found[token] == 0 {
				found[token]++
				rescued++
			}
		}
		must(t, os.Remove(c))
	}
	for token := range acked {
		if found[token] != 1 {
			lost++
			t.Errorf("%s is there %d times", token, found[token])
		}
	}
	if want := (processes + 1) * edits; len(acked) != want || len(found) != want {
		t.Errorf("%d acknowledged, %d found, want %d", len(acked), len(found), want)
	}
	tidy(t, dir)
	run.Tried(len(acked))
	t.Logf("%d processes and a careless writer, %d edits, %d of the careless writer's in conflict copies, %d lost", processes, len(acked), rescued, lost)
}
