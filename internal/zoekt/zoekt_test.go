package zoekt_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/remote"
	"quarry/internal/zoekt"
	"quarry/internal/zoekt/zoekttest"
)

var alpha = zoekttest.Repo{Name: "alpha", Commit: "a1", Files: map[string]string{
	"a.txt":     "hello world\n",
	"src/b.go":  "package b // Hello\n",
	"bin/c.dat": "\x00\x01\x02",
	"bad\xff":   "odd name\n",
}}

var beta = zoekttest.Repo{Name: "beta", Commit: "b1", Files: map[string]string{
	"a.txt": "hello \"repo:alpha\" (or) -not\n",
}}

func start(t *testing.T, repos ...zoekttest.Repo) *zoekttest.Server {
	t.Helper()
	s, err := zoekttest.Start(repos...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, servers string, opts *zoekt.Options) *zoekt.Client {
	t.Helper()
	c, err := zoekt.New(servers, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestQueries(t *testing.T) {
	s := start(t, alpha, beta)
	c := client(t, s.Addr, nil)
	for _, x := range []struct {
		name string
		q    remote.Query
		want string
	}{
		{"everything", remote.Query{}, "alpha/a.txt alpha/bad\xff alpha/bin/c.dat alpha/src/b.go beta/a.txt"},
		{"nothing", remote.None(), ""},
		{"a text, case counts", remote.Text("hello", false), "alpha/a.txt beta/a.txt"},
		{"a text in any case", remote.Text("HELLO", true), "alpha/a.txt alpha/src/b.go beta/a.txt"},
		{"a text in one repository", remote.And(remote.In("beta"), remote.Text("hello", false)), "beta/a.txt"},
		{"operators in a text are text", remote.Text(`"repo:alpha" (or) -not`, false), "beta/a.txt"},
		{"a text that would leave its repository", remote.And(remote.In("alpha"), remote.Text(`x" or repo:beta`, false)), ""},
		{"paths", remote.And(remote.Paths("a.txt", "bad\xff"), remote.In("alpha")), "alpha/a.txt alpha/bad\xff"},
		{"a path by an expression", remote.PathMatch(`^src/.*\.go$`, false), "alpha/src/b.go"},
		{"no repository", remote.And(remote.In(), remote.Text("hello", false)), ""},
		{"names only", remote.NamesOnly(remote.And(remote.Head(), remote.Text("odd", false))), "alpha/bad\xff"},
	} {
		docs, err := c.Search(t.Context(), 0, x.q, false)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		var got []string
		for _, d := range docs {
			got = append(got, d.Repo+"/"+d.Path)
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != x.want {
			t.Errorf("%s: %q, want %q", x.name, s, x.want)
		}
	}
}

func TestContent(t *testing.T) {
	s := start(t, alpha)
	c := client(t, s.Addr, nil)
	docs, err := c.Search(t.Context(), 0, remote.Paths("a.txt"), true)
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	d := docs[0]
	if string(d.Content) != "hello world\n" || d.Commit != "a1" || d.Sum != remote.Checksum(d.Content) {
		t.Errorf("content %q of %s, sum %x", d.Content, d.Commit, d.Sum)
	}
	if _, err := c.Search(t.Context(), 0, remote.PathMatch("a(b", false), true); err == nil || !strings.Contains(err.Error(), "a(b") {
		t.Errorf("a bad expression: %v", err)
	}
	some, err := c.Some(t.Context(), 0, remote.Query{}, 2)
	if err != nil || len(some) != 2 {
		t.Errorf("Some gave %d documents, %v", len(some), err)
	}
}

func TestList(t *testing.T) {
	a, b := start(t, beta), start(t, alpha)
	c := client(t, a.Addr+","+b.Addr, nil)
	repos, failures := c.List(t.Context())
	if len(failures) > 0 || len(repos) != 2 || repos[0].Name != "alpha" || repos[0].Server != 1 || repos[1].Server != 0 {
		t.Fatalf("%+v, %v", repos, failures)
	}
	if r := repos[0]; r.Commit != "a1" || r.Files != 4 || r.Bytes == 0 {
		t.Errorf("%+v", r)
	}
	b.Close()
	repos, failures = c.List(t.Context())
	if len(repos) != 1 || len(failures) != 1 || failures[0].Name != b.Addr {
		t.Errorf("with one server gone: %+v, %v", repos, failures)
	}
}

// TestDeadline: a server that says nothing costs its time once, and less from
// then on.
func TestDeadline(t *testing.T) {
	s := start(t, alpha)
	defer s.Hang()()
	c := client(t, s.Addr, &zoekt.Options{Timeout: 50 * time.Millisecond})
	began := time.Now()
	_, err := c.Search(t.Context(), 0, remote.Query{}, false)
	if err == nil || !strings.Contains(err.Error(), "no answer in 50ms") {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Search(ctx, 0, remote.Query{}, false); err != context.Canceled {
		t.Errorf("cancelled by the caller: %v", err)
	}
}

// TestReplicas: a replica that is gone, or hangs, is stood in for.
func TestReplicas(t *testing.T) {
	gone, slow, good := start(t), start(t), start(t, alpha)
	gone.Close()
	defer slow.Hang()()
	// An answer ends the calls that are on their way, so the good one gives its own
	// once the slow one has heard the question.
	release := good.Hang()
	go func() {
		for slow.Asked() == 0 && t.Context().Err() == nil {
			runtime.Gosched()
		}
		release()
	}()
	c := client(t, gone.Addr+"+"+slow.Addr+"+"+good.Addr, &zoekt.Options{Hedge: 10 * time.Millisecond})
	docs, err := c.Search(t.Context(), 0, remote.Text("hello", false), false)
	if err != nil || len(docs) != 1 {
		t.Errorf("%d documents, %v", len(docs), err)
	}
	if slow.Asked() == 0 || good.Asked() != 1 {
		t.Errorf("the slow one was asked %d times, the good one %d", slow.Asked(), good.Asked())
	}
}

func TestAddresses(t *testing.T) {
	for _, x := range []struct{ servers, problem string }{
		{"127.0.0.1:6070", ""},
		{"a:6070+a2:6070,b:6070", ""},
		{"https://search.example.org", ""},
		{"[::1]:6070", ""},
		{"localhost", "no port"},
		{"", "no port"},
		{"a:6070,", "no port"},
		{"ftp://a:6070", "protocol"},
		{"https://user:pw@a", "more than host and port"},
		{"http://a:6070/path", "more than host and port"},
		{"a:6070,a:6070", "twice"},
	} {
		_, err := zoekt.New(x.servers, nil)
		if x.problem == "" && err != nil || x.problem != "" && (err == nil || !strings.Contains(err.Error(), x.problem)) {
			t.Errorf("New(%q): %v, want %q", x.servers, err, x.problem)
		}
	}
}
