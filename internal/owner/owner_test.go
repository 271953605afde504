package owner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("OWNER_TEST_CHILD"); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

// child claims the lease, reports that, and waits to be killed.
func child(dir string) {
	lease, err := Claim(state(nil, dir))
	if err != nil || lease == nil {
		fmt.Println("no")
		os.Exit(1)
	}
	fmt.Println("yes")
	io.Copy(io.Discard, os.Stdin)
}

func state(t testing.TB, dir string) *rootfs.Root {
	r, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
	if err != nil {
		panic(err)
	}
	if t != nil {
		t.Cleanup(func() { r.Close() })
	}
	return r
}

func needsSharing(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
	default:
		t.Skip("processes share an index on Linux, macOS and Windows")
	}
}

func TestOneLease(t *testing.T) {
	root := state(t, t.TempDir())
	a, err := Claim(root)
	if err != nil || a == nil {
		t.Fatal(a, err)
	}
	if b, err := Claim(root); err != nil || b != nil {
		t.Errorf("second claim: %v %v", b, err)
	}
	a.Release()
	b, err := Claim(root)
	if err != nil || b == nil {
		t.Fatalf("claim after release: %v %v", b, err)
	}
	b.Release()
}

func TestLeaseEndsWithItsProcess(t *testing.T) {
	needsSharing(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "OWNER_TEST_CHILD="+dir)
	in, _ := cmd.StdinPipe()
	defer in.Close()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4)
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "yes\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	if l, err := Claim(state(t, dir)); err != nil || l != nil {
		t.Errorf("claim beside a living owner: %v %v", l, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	l, err := Claim(state(t, dir))
	if err != nil || l == nil {
		t.Fatalf("claim after its death: %v %v", l, err)
	}
	l.Release()
}

// serve starts an owner in this process.
func serve(t *testing.T, handle Handler) (socket string, server *Server) {
	t.Helper()
	needsSharing(t)
	dir := t.TempDir()
	lease, err := Claim(state(t, dir))
	if err != nil || lease == nil {
		t.Fatal(lease, err)
	}
	socket = filepath.Join(dir, "s", "sock")
	if server, err = lease.Listen(socket, handle); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		lease.Release()
	})
	return socket, server
}

func TestAsk(t *testing.T) {
	socket, _ := serve(t, func(_ context.Context, req []byte, send func([]byte) error) error {
		if string(req) == "fail" {
			return errors.New("cannot")
		}
		for i := range 3 {
			if err := send(bytes.Repeat(req, i*3000)); err != nil {
				return err
			}
		}
		return nil
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c, err := Dial(socket)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for range 20 {
				var sizes []int
				err := c.Ask(context.Background(), []byte("ab"), func(b []byte) error { sizes = append(sizes, len(b)); return nil })
				if err != nil || fmt.Sprint(sizes) != "[0 6000 12000]" {
					t.Errorf("%v %v", sizes, err)
				}
			}
			var remote *RemoteError
			if err := c.Ask(context.Background(), []byte("fail"), nil); !errors.As(err, &remote) || remote.Message != "cannot" {
				t.Errorf("remote error: %v", err)
			}
		})
	}
	wg.Wait()
}

// A panic in one request does not end the owner.
func TestHandlerPanics(t *testing.T) {
	socket, _ := serve(t, func(_ context.Context, req []byte, send func([]byte) error) error {
		if len(req) == 0 {
			panic("boom")
		}
		return send(req)
	})
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var remote *RemoteError
	if err := c.Ask(t.Context(), nil, nil); !errors.As(err, &remote) || !strings.Contains(remote.Message, "boom") {
		t.Errorf("err %v", err)
	}
	got := ""
	if err := c.Ask(t.Context(), []byte("on"), func(b []byte) error { got = string(b); return nil }); err != nil || got != "on" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestClientGoesAway(t *testing.T) {
	ended := make(chan error, 1)
	socket, _ := serve(t, func(ctx context.Context, _ []byte, send func([]byte) error) error {
		send([]byte("one"))
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	})
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	if err := c.Ask(context.Background(), nil, func([]byte) error { return stop }); err != stop {
		t.Errorf("err %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the owner didn't notice")
	}
}

// If an owner dies during an answer, the client gets an error, not an end.
func TestCutAnswer(t *testing.T) {
	needsSharing(t)
	socket := filepath.Join(t.TempDir(), "s", "sock")
	l, err := listenAt(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var whole bytes.Buffer
	writeFrame(&whole, frameData, []byte("hello"))
	writeFrame(&whole, frameEnd, nil)
	for cut := range whole.Len() {
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			readFrame(conn, nil)
			conn.Write(whole.Bytes()[:cut])
			conn.Close()
		}()
		c, err := Dial(socket)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ask(context.Background(), []byte("x"), func([]byte) error { return nil }); !errors.Is(err, ErrNoOwner) {
			t.Errorf("cut after %d bytes: %v", cut, err)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	dir := t.TempDir()
	if _, err := Dial(filepath.Join(dir, "none")); !errors.Is(err, ErrNoOwner) {
		t.Errorf("no socket: %v", err)
	}
	needsSharing(t)
	stress.NeedsUnix(t, "a folder others can enter")
	lease, _ := Claim(state(t, dir))
	open := filepath.Join(dir, "open")
	os.Mkdir(open, 0o755)
	os.Chmod(open, 0o755) // independent of the umask
	if _, err := lease.Listen(filepath.Join(open, "sock"), nil); err == nil || !strings.Contains(err.Error(), "0700") {
		t.Errorf("a folder others can enter: %v", err)
	}
}

func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	writeFrame(&b, frameData, []byte("hello"))
	f.Add(b.Bytes())
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 'd'})
	f.Fuzz(func(t *testing.T, data []byte) {
		if kind, body, err := readFrame(bytes.NewReader(data), nil); err == nil {
			var again bytes.Buffer
			if err := writeFrame(&again, kind, body); err != nil || !bytes.HasPrefix(data, again.Bytes()) {
				t.Errorf("%q reads as %c %q", data, kind, body)
			}
		}
	})
}

// A suspended owner still has its socket and accepts connections, but sends nothing.
func TestSuspendedOwnerIsNone(t *testing.T) {
	needsSharing(t)
	socket := filepath.Join(t.TempDir(), "s", "sock")
	l, err := listenAt(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.patience = aliveEvery
	err = c.Ask(context.Background(), []byte("anything"), func([]byte) error { return nil })
	if !errors.Is(err, ErrNoOwner) {
		t.Errorf("a silent owner: %v, want ErrNoOwner", err)
	}
}

// A client receives the owner's progress.
func TestOwnerTellsHowFarItIs(t *testing.T) {
	var heard progress.Count
	socket, _ := serve(t, func(ctx context.Context, req []byte, send func([]byte) error) error {
		for range 3 {
			progress.Of(ctx).Add(2)
		}
		stress.Becomes(func() bool { return heard.Files.Load() >= 3 })
		return nil
	})
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	heard.Add(1) // counted before the request
	if err := c.Ask(progress.With(t.Context(), &heard), []byte("q"), func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if heard.Files.Load() != 4 || heard.Matches.Load() != 7 {
		t.Errorf("heard of %d files and %d matches, want 4 and 7", heard.Files.Load(), heard.Matches.Load())
	}
	for _, odd := range [][]byte{nil, {1}, {0x80}, {1, 1}, {200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200}} {
		h := hearing{watch: &heard, files: 3, matches: 6}
		if h.progress(odd); heard.Files.Load() != 4 || heard.Matches.Load() != 7 {
			t.Errorf("%v was heard as %d files and %d matches", odd, heard.Files.Load(), heard.Matches.Load())
		}
	}
}

// A slow owner keeps sending frameAlive.
func TestBusyOwnerShowsLife(t *testing.T) {
	done := make(chan struct{})
	socket, _ := serve(t, func(ctx context.Context, req []byte, send func([]byte) error) error {
		<-done
		return send([]byte("late"))
	})
	conn, err := dialAt(socket, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := writeFrame(conn, frameRequest, []byte("q")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if kind, _, err := readFrame(conn, nil); kind != frameAlive || err != nil {
			t.Fatalf("%q %v", kind, err)
		}
	}
	close(done)
	for {
		kind, data, err := readFrame(conn, nil)
		if err != nil {
			t.Fatal(err)
		}
		if kind == frameAlive {
			continue
		}
		if kind != frameData || string(data) != "late" {
			t.Errorf("%q %q", kind, data)
		}
		break
	}
}
