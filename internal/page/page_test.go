package page

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry"
	"quarry/change"
)

// served is a running page for a workspace in a temporary folder.
type served struct {
	*Server
	ws     *quarry.Workspace
	dir    string
	base   string // http://127.0.0.1:port
	listen net.Listener
	state  string // the state folder
	// proposals is the folder for proposals, set by serveReview.
	proposals string
	end       func(testing.TB) // ends the server; otherwise it ends with the test
}

// serve starts a page for a workspace with the given files.
func serve(t testing.TB, files map[string]string, with func(*Options)) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, files, with)
}

func serveOn(t testing.TB, l net.Listener, files map[string]string, with func(*Options)) *served {
	t.Helper()
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: state, Trash: change.TrashLocal})
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Workspace: ws, Name: "demo", Version: "test"}
	if with != nil {
		with(&opts)
	}
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	var once sync.Once
	end := func(t testing.TB) {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("Serve = %v", err)
			}
		})
	}
	t.Cleanup(func() {
		end(t)
		if err := ws.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return &served{Server: s, ws: ws, dir: dir, state: state, base: "http://" + l.Addr().String(), listen: l, end: end}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// request sends a request with the token, as the page does.
func (s *served) request(t testing.TB, method, path, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(tokenHeader, s.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(data)
}

// get requests a path and decodes the JSON answer.
func get[T any](t testing.TB, s *served, path string) T {
	t.Helper()
	res, body := s.request(t, "GET", path, "")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s = %d %s", path, res.StatusCode, body)
	}
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

var sample = map[string]string{
	"secret-name.txt": "secret-content\n",
	"a/b.go":          "package b\n\n// needle is here\nfunc F() {}\n",
	"c.md":            "# c\n\nneedle\n",
}

// TestNothingWithoutToken tests every route in the table, including future ones.
func TestNothingWithoutToken(t *testing.T) {
	s := serve(t, sample, nil)
	if _, err := s.ws.Write(t.Context(), "a/b.go", []byte("package b\n"), nil); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(s.base, "http://")
	port := host[strings.LastIndex(host, ":"):]
	attempts := []struct {
		name string
		set  func(*http.Request)
		want int
	}{
		{"no token", func(*http.Request) {}, http.StatusUnauthorized},
		{"empty token", func(r *http.Request) { r.Header.Set(tokenHeader, "") }, http.StatusUnauthorized},
		{"wrong token", func(r *http.Request) { r.Header.Set(tokenHeader, s.token[:len(s.token)-1]+"_") }, http.StatusUnauthorized},
		{"token in a cookie", func(r *http.Request) { r.Header.Set("Cookie", tokenHeader+"="+s.token) }, http.StatusUnauthorized},
		{"token in the query", func(r *http.Request) { r.URL.RawQuery = "token=" + s.token }, http.StatusUnauthorized},
		{"foreign host", func(r *http.Request) { r.Host = "evil.example" + port; r.Header.Set(tokenHeader, s.token) }, http.StatusForbidden},
		{"other port in host", func(r *http.Request) { r.Host = "127.0.0.1:1"; r.Header.Set(tokenHeader, s.token) }, http.StatusForbidden},
		{"host without a port", func(r *http.Request) { r.Host = "127.0.0.1"; r.Header.Set(tokenHeader, s.token) }, http.StatusForbidden},
		{"foreign origin", func(r *http.Request) {
			r.Header.Set("Origin", "http://evil.example")
			r.Header.Set(tokenHeader, s.token)
		}, http.StatusForbidden},
		{"null origin", func(r *http.Request) { r.Header.Set("Origin", "null"); r.Header.Set(tokenHeader, s.token) }, http.StatusForbidden},
		{"origin with another port", func(r *http.Request) {
			r.Header.Set("Origin", "http://127.0.0.1:1")
			r.Header.Set(tokenHeader, s.token)
		}, http.StatusForbidden},
		{"origin with tls", func(r *http.Request) { r.Header.Set("Origin", "https://"+host); r.Header.Set(tokenHeader, s.token) }, http.StatusForbidden},
		{"two origins", func(r *http.Request) {
			r.Header["Origin"] = []string{"http://" + host, "http://evil.example"}
			r.Header.Set(tokenHeader, s.token)
		}, http.StatusForbidden},
		{"sent by another site", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set(tokenHeader, s.token)
		}, http.StatusForbidden},
		{"sent by another port", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site"); r.Header.Set(tokenHeader, s.token) }, http.StatusForbidden},
	}
	for _, route := range s.routes() {
		path := strings.NewReplacer("{$}", "", "{id}", "x", "{name}", "app.js").Replace(route.path)
		fixed := ""
		for _, a := range attempts {
			req, err := http.NewRequest(route.method, s.base+path, strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			if route.method == "POST" {
				req.Header.Set("Content-Type", "application/json")
			}
			a.set(req)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			data, _ := io.ReadAll(res.Body)
			res.Body.Close()
			body := string(data)
			want := a.want
			if route.fixed && want == http.StatusUnauthorized {
				if want = http.StatusOK; path == "/enter" {
					want = http.StatusNotFound // hides the address in the history
				}
				if fixed == "" {
					fixed = body
				}
				if body != fixed {
					t.Errorf("%s %s, %s: a fixed file differs", route.method, path, a.name)
				}
			} else if body != "" {
				t.Errorf("%s %s, %s: body %q, want none", route.method, path, a.name, body)
			}
			if res.StatusCode != want {
				t.Errorf("%s %s, %s = %d, want %d", route.method, path, a.name, res.StatusCode, want)
			}
			for _, word := range []string{"secret", "needle", s.dir, s.token, "demo"} {
				if strings.Contains(body, word) {
					t.Errorf("%s %s, %s tells %q", route.method, path, a.name, word)
				}
			}
			if res.Header.Get("Content-Security-Policy") != policy || res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s, %s: headers %v", route.method, path, a.name, res.Header)
			}
		}
	}
	if log, err := s.ws.Changes(t.Context(), 0); err != nil || len(log.Changes) != 1 {
		t.Errorf("%d changes after the attempts, %v; want 1", len(log.Changes), err)
	}
}

// Unknown routes, other methods and preflight requests are refused.
func TestUnknownRequests(t *testing.T) {
	s := serve(t, sample, nil)
	for _, c := range []struct{ method, path string }{
		{"GET", "/x"}, {"GET", "/api"}, {"GET", "/api/"}, {"GET", "/assets/"}, {"GET", "/assets/../page.go"}, {"GET", "/assets/%2e%2e%2fpage.go"},
		{"POST", "/search"}, {"PUT", "/api/undo"}, {"DELETE", "/api/file"}, {"OPTIONS", "/api/undo"}, {"GET", "/api/undo"}, {"TRACE", "/"},
	} {
		res, body := s.request(t, c.method, c.path, "")
		if res.StatusCode < 400 || strings.Contains(body, "package page") {
			t.Errorf("%s %s = %d %q", c.method, c.path, res.StatusCode, body)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s allows other origins", c.method, c.path)
		}
	}
}

func TestServeRefusesOtherMachines(t *testing.T) {
	s := serve(t, nil, nil)
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Skipf("can't listen on all addresses of this machine, needs an IPv4 network: %v", err)
	}
	defer l.Close()
	if err := s.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "other machines") {
		t.Errorf("Serve on %s = %v", l.Addr(), err)
	}
}

// answer reads the stream of a search's results.
func answer(t testing.TB, s *served, query string) (files []wireFile, done *wireDone, wrong *problem) {
	t.Helper()
	res, body := s.request(t, "GET", "/api/search?"+query, "")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("search %s = %d %s", query, res.StatusCode, body)
	}
	sc := bufio.NewScanner(strings.NewReader(body))
	sc.Buffer(nil, 10<<20)
	for sc.Scan() {
		var one struct {
			File  *wireFile
			Done  *wireDone
			Error *problem
		}
		if err := json.Unmarshal(sc.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if one.File != nil {
			files = append(files, *one.File)
		}
		if one.Done != nil {
			done = one.Done
		}
		if one.Error != nil {
			wrong = one.Error
		}
	}
	return files, done, wrong
}

func TestSearch(t *testing.T) {
	s := serve(t, map[string]string{
		"a/b.go": "package b\n\n// needle is hère: 😀 needle\nfunc F() {}\n", "c.md": "Needle\n", ".hidden": "needle\n", ".env": "needle\n", ".gitignore": "*.log\n", "x.log": "needle\n",
	}, nil)
	for _, c := range []struct {
		query string
		want  string // paths
	}{
		{"q=needle", "a/b.go c.md"},
		{"q=needle&case=1", "a/b.go"},
		{"q=eedl&word=1", ""},
		{"q=needle&glob=*.md", "c.md"},
		{"q=needle&glob=*.md,a/**", "a/b.go c.md"},
		{"q=needle&glob={*.md,*.go}", "a/b.go c.md"},
		{"q=needle&type=go", "a/b.go"},
		{"q=needle&hidden=1", ".hidden a/b.go c.md"},
		{"q=needle&ignored=1", "a/b.go c.md x.log"},
		{"q=n..dle&mode=regex", "a/b.go c.md"},
		{"q=n..dle", ""},
		{"q=B.GO&mode=paths", "a/b.go"},
		{"q=*.md&mode=paths", "c.md"},
		{"q=a+b&mode=paths", "a/b.go"},
		{"q=needle&mode=words", "a/b.go c.md"},
	} {
		files, done, wrong := answer(t, s, c.query)
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		if strings.HasSuffix(c.query, "words") {
			slices.Sort(paths)
			paths = slices.Compact(paths)
		}
		if got := strings.Join(paths, " "); got != c.want || wrong != nil || done == nil {
			t.Errorf("%s: %s, done %v, error %v; want %s", c.query, got, done, wrong, c.want)
		}
	}
	files, _, _ := answer(t, s, "q=needle&case=1")
	line := files[0].Lines[1]
	// The offsets count è as one unit and 😀 as two.
	if want := []int{3, 9, 22, 28}; !line.Hit || !slices.Equal(line.Spans, want) {
		t.Errorf("spans %v of %q, want %v", line.Spans, line.Text, want)
	}
	if _, _, wrong := answer(t, s, "q=(&mode=regex"); wrong == nil || wrong.Code != "INVALID_PATTERN" {
		t.Errorf("an invalid pattern gives %v", wrong)
	}
	for _, bad := range []string{"q=", "q=x&mode=y", "q=x&offset=-1", "q=" + strings.Repeat("x", maxQuery+1)} {
		if res, body := s.request(t, "GET", "/api/search?"+bad, ""); res.StatusCode != http.StatusBadRequest || !strings.Contains(body, "INVALID_ARGUMENT") {
			t.Errorf("%.20s = %d %s", bad, res.StatusCode, body)
		}
	}
}

func TestFileIsShownAsItIs(t *testing.T) {
	long := strings.Repeat("x", 3*maxShownLine)
	s := serve(t, map[string]string{"a.txt": "one\n\x1b[31mtwo\u202e\n" + long + "\n", ".env": "k=v\n"}, nil)
	f := get[wireText](t, s, "/api/file?path=a.txt")
	if f.Total != 3 || f.Lines[1] != "\x1b[31mtwo\u202e" || len(f.Lines[2]) != maxShownLine || !slices.Equal(f.Cut, []int{3}) {
		t.Errorf("file = %+v", f)
	}
	if res, body := s.request(t, "GET", "/api/file?path=.env", ""); res.StatusCode == http.StatusOK {
		t.Errorf("a secret is shown: %s", body)
	}
	if res, body := s.request(t, "GET", "/api/file?path=%00", ""); res.StatusCode == http.StatusOK || strings.Contains(body, "regular file") {
		t.Errorf("a lone NUL is taken for the top folder: %d %s", res.StatusCode, body)
	}
	if res, body := s.request(t, "GET", "/api/file?path=../../etc/passwd", ""); res.StatusCode == http.StatusOK {
		t.Errorf("a file outside is shown: %s", body)
	}
}

func TestChangesAndUndo(t *testing.T) {
	s := serve(t, map[string]string{"a.txt": "one\n"}, nil)
	for _, text := range []string{"two\n", "three\n", "four\n"} {
		if _, err := s.ws.Write(t.Context(), "a.txt", []byte(text), &change.Options{Tool: "write_file"}); err != nil {
			t.Fatal(err)
		}
	}
	type listing struct {
		Changes []wireChange
		Total   int
	}
	list := get[listing](t, s, "/api/changes").Changes
	if len(list) != 3 || list[0].Tool != "write_file" {
		t.Fatalf("changes = %+v", list)
	}
	// The oldest change can't be undone, because its file was modified since.
	d := get[struct {
		Undo      bool
		Conflicts []wireConflict
		Files     []diffFile
	}](t, s, "/api/diff/"+list[2].ID)
	if d.Undo || len(d.Conflicts) != 1 || len(d.Files) != 1 || d.Files[0].Add != 1 || d.Files[0].Del != 1 {
		t.Errorf("diff of the oldest = %+v", d)
	}
	if res, body := s.request(t, "POST", "/api/undo", `{"ids":["`+list[2].ID+`"]}`); res.StatusCode != http.StatusConflict || !strings.Contains(body, "conflicts") {
		t.Errorf("undo of the oldest = %d %s", res.StatusCode, body)
	}
	type plan struct {
		Authors []struct {
			Name    string
			Changes int
		}
		Files   []diffFile
		Nothing bool
	}
	back := "/api/back/" + list[2].ID
	shown := get[plan](t, s, back)
	if len(shown.Authors) != 1 || shown.Authors[0].Changes != 2 || len(shown.Files) == 0 {
		t.Fatalf("going back = %+v", shown)
	}
	if by := get[plan](t, s, back+"?by=somebody"); !by.Nothing {
		t.Errorf("of somebody else = %+v", by)
	}
	if res, body := s.request(t, "POST", back, `{}`); res.StatusCode != http.StatusOK {
		t.Fatalf("going back = %d %s", res.StatusCode, body)
	}
	if data, _ := os.ReadFile(filepath.Join(s.dir, "a.txt")); string(data) != "two\n" {
		t.Errorf("after going back: %q", data)
	}
	if again := get[plan](t, s, back); !again.Nothing {
		t.Errorf("once more = %+v", again)
	}
	if res, _ := s.request(t, "GET", "/api/back/nothing", ""); res.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown change = %d", res.StatusCode)
	}
	for _, bad := range []string{`{"ids":[]}`, `{"ids":[""]}`, `{}`, `[]`, `{"ids":["x"],"y":1}`, `{"ids":["x"]} {}`} {
		if res, _ := s.request(t, "POST", "/api/undo", bad); res.StatusCode != http.StatusBadRequest {
			t.Errorf("undo %s = %d", bad, res.StatusCode)
		}
	}
}

// TestEvents checks that the page is informed of another process's changes.
func TestEvents(t *testing.T) {
	s := serve(t, map[string]string{"a.txt": "one\n"}, nil)
	req, _ := http.NewRequestWithContext(t.Context(), "GET", s.base+"/api/events", nil)
	req.Header.Set(tokenHeader, s.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	heard := make(chan string, 100)
	go func() {
		sc := bufio.NewScanner(res.Body)
		for sc.Scan() {
			heard <- sc.Text()
		}
	}()
	wait := func(want string) {
		t.Helper()
		for deadline := time.After(time.Minute); ; {
			select {
			case line := <-heard:
				if strings.Contains(line, want) {
					return
				}
			case <-deadline:
				t.Fatalf("no %q", want)
			}
		}
	}
	wait(`{"newest":"","pending":false}`)
	c, err := s.ws.Write(t.Context(), "a.txt", []byte("two\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	wait(`"newest":"` + c.ID + `"`)
}
