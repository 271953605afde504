package recorder_test

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"quarry"
	"quarry/internal/render"
)

// If nothing can be recorded, a clear error says so, and reading files and listing
// changes still work. Once recording is possible again, nothing that happened in between
// is missing. The test runs in a child process with its own mounts.
func TestRecordingFails(t *testing.T) {
	if dir := os.Getenv("QUARRY_RECORDING_FAILS"); dir != "" {
		recordingFails(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRecordingFails$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "QUARRY_RECORDING_FAILS="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("no namespaces here: %v", err)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("needs user namespaces in which mounting is allowed, or root: %s", out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func recordingFails(t *testing.T, dir string) {
	mount := func(t *testing.T, at string, flags uintptr) {
		if err := syscall.Mount("none", at, "tmpfs", flags, "size=400k,mode=700"); err != nil {
			t.Skipf("mount: %v", err)
		}
	}
	filler := func(p *place) string { return filepath.Join(p.state, "filler") }
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	for _, c := range []struct {
		name, says string
		begin, end func(t *testing.T, p *place)
	}{
		{"the disk is full", "no space", func(t *testing.T, p *place) {
			for size := 1 << 20; size > 0; size /= 2 { // fill the disk to the last byte
				f, err := os.OpenFile(filler(p), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				must(t, err)
				_, _ = f.Write(make([]byte, size))
				must(t, f.Close())
			}
		}, func(t *testing.T, p *place) { must(t, os.Remove(filler(p))) }},
		{"no more files can be opened", "too many open files", func(t *testing.T, p *place) {
			must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}))
		}, func(t *testing.T, p *place) { must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			mount(t, p.state, 0)
			defer func() { _ = syscall.Unmount(p.state, syscall.MNT_DETACH) }()
			p.put("a.txt", "one\n")
			ws := p.open()
			p.put("a.txt", "two\n")
			p.log(ws)
			noise := make([]byte, 100<<10)
			_, err := rand.Read(noise)
			must(t, err)
			p.put("a.txt", hex.EncodeToString(noise))
			p.put("new.txt", "new\n")
			c.begin(t, p)
			log, err := ws.Changes(t.Context(), 0)
			st, errStatus := ws.Recording(t.Context())
			c.end(t, p)
			must(t, errStatus)
			switch {
			case err != nil && !strings.Contains(err.Error(), c.says): // not even our own log can be read
				t.Error(err)
			case err != nil:
				t.Logf("says %q", err)
			case len(log.Changes) != 1 || !strings.Contains(log.Unrecorded, c.says) || !strings.Contains(st.Problem, c.says):
				t.Errorf("%d changes, %q, %q", len(log.Changes), log.Unrecorded, st.Problem)
			default:
				t.Logf("says %q", st.Problem)
			}
			list := p.log(ws)
			if len(list) != 2 || list[0].Summary != "changed 2 files, 1 of them new" {
				t.Fatalf("afterwards:\n%s", p.summaries(ws))
			}
			if st, err = ws.Recording(t.Context()); err != nil || st.Problem != "" {
				t.Errorf("still %q, %v", st.Problem, err)
			}
			_, err = ws.Undo(t.Context(), list[0].ID, nil)
			must(t, err)
			if got := p.text("a.txt") + p.text("new.txt"); got != "two\n-" {
				t.Errorf("undone: %q", got)
			}
		})
	}
	t.Run("the state folder is read only", func(t *testing.T) {
		p := newPlace(t)
		mount(t, p.state, syscall.MS_RDONLY)
		defer func() { _ = syscall.Unmount(p.state, syscall.MNT_DETACH) }()
		p.put("a.txt", "one\n")
		ws, err := quarry.Open(p.dir, p.options())
		must(t, err)
		defer ws.Close()
		must(t, ws.Index().Wait(t.Context()))
		st, err := ws.Recording(t.Context())
		for err == nil && st.Problem == "" {
			st, err = ws.Recording(t.Context())
		}
		must(t, err)
		if st.On || !strings.Contains(st.Problem, "read-only") {
			t.Errorf("%+v", st)
		}
		t.Logf("says %q", st.Problem)
	})
	t.Run("no budget", func(t *testing.T) {
		p := newPlace(t)
		p.put("a.txt", "one\n")
		o := p.options()
		o.Index.Record.MaxBytes = -1
		ws, err := quarry.Open(p.dir, o)
		must(t, err)
		defer ws.Close()
		must(t, ws.Index().Wait(t.Context()))
		st, err := ws.Recording(t.Context())
		for err == nil && st.Problem == "" {
			st, err = ws.Recording(t.Context())
		}
		must(t, err)
		if st.On || !strings.Contains(st.Problem, "record.max-size is 0") {
			t.Errorf("%+v", st)
		}
		if _, err := ws.Write(t.Context(), "a.txt", []byte("two\n"), nil); err != nil {
			t.Errorf("our own changes: %v", err)
		}
		t.Logf("says %q", st.Problem)
	})
}

// If the system has no watches left, changes in the folders without one are found when
// the log is asked for. The status and quarry doctor say how many folders that are.
func TestOutOfWatches(t *testing.T) {
	p := newPlace(t)
	for i := range 20 {
		p.put(fmt.Sprintf("d%d/e/f.txt", i), "old\n")
	}
	o := p.options()
	o.Index.MaxWatches = 5
	ws, err := quarry.Open(p.dir, o)
	must(t, err)
	defer ws.Close()
	must(t, ws.Index().Wait(t.Context()))
	p.recording(ws)
	before := (&world{place: p}).tree()
	for i := range 20 {
		p.put(fmt.Sprintf("d%d/e/f.txt", i), "new\n")
		p.put(fmt.Sprintf("d%d/new/g.txt", i), "g\n")
	}
	list := p.log(ws)
	if len(list) != 1 || len(list[0].Paths) != 60 {
		t.Fatalf("got %+v", list)
	}
	st, err := ws.Recording(t.Context())
	must(t, err)
	if text := render.Recording(st); st.Unwatched == 0 || !strings.Contains(text, "not watched: what changes there is found when the log is asked for") {
		t.Errorf("the status says %q", text)
	}
	_, err = ws.Undo(t.Context(), list[0].ID, nil)
	must(t, err)
	if d := differ(before, (&world{place: p}).tree()); len(d) > 0 {
		t.Errorf("after the undo differ %v", d)
	}
}
