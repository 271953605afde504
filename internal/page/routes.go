package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed assets
var assets embed.FS

// route is one kind of request. The safety tests use the table of routes to check that all but the
// fixed ones answer nothing without the token.
type route struct {
	method, path string
	fixed        bool // the answer is always the same bytes
	handle       http.HandlerFunc
}

// enterPath accepts a ticket instead of the token. helloPath is requested before the token is sent.
const (
	enterPath = "/api/enter"
	helloPath = "/api/hello"
)

func (s *Server) routes() []route {
	return []route{
		{"GET", "/{$}", true, s.shell},
		{"GET", "/enter", true, s.entrance},
		{"GET", "/search", true, s.shell},
		{"GET", "/changes", true, s.shell},
		{"GET", "/changes/{id}", true, s.shell},
		{"GET", "/review", true, s.shell},
		{"GET", "/review/{id}", true, s.shell},
		{"GET", "/health", true, s.shell},
		{"GET", "/activity", true, s.shell},
		{"GET", "/assets/{name}", true, s.asset},

		{"POST", enterPath, false, s.enter},
		{"GET", helloPath, false, s.hello},
		{"GET", "/api/about", false, answered(s.about)},
		{"GET", "/api/search", false, s.search},
		{"GET", "/api/suggest", false, answered(s.suggest)},
		{"GET", "/api/file", false, answered(s.file)},
		{"GET", "/api/rendered", false, answered(s.rendered)},
		{"GET", "/api/image", false, s.image},
		{"GET", "/api/find", false, answered(s.find)},
		{"GET", "/api/colours", false, answered(s.fileColours)},
		{"GET", "/api/changes", false, answered(s.changes)},
		{"GET", "/api/around", false, answered(s.around)},
		{"GET", "/api/counts", false, answered(s.lineCounts)},
		{"GET", "/api/diff/{id}", false, answered(s.diff)},
		{"GET", "/api/session/{id}", false, answered(s.session)},
		{"GET", "/api/authors", false, answered(s.authors)},
		{"GET", "/api/back/{id}", false, answered(s.back)},
		{"POST", "/api/back/{id}", false, s.writes(answered(s.goBack))},
		{"POST", "/api/undo", false, s.writes(s.undo)},
		{"GET", "/api/review", false, answered(s.proposals)},
		{"GET", "/api/review/{id}", false, answered(s.proposal)},
		{"GET", "/api/review/{id}/whole", false, answered(s.wholeFile)},
		{"POST", "/api/review/{id}", false, s.writes(answered(s.decide))},
		{"GET", "/api/rules", false, answered(s.rules)},
		{"POST", "/api/rules", false, s.writes(answered(s.saveRules))},
		{"POST", "/api/rules/try", false, answered(s.tryRules)},
		{"GET", "/api/activity", false, answered(s.activity)},
		{"POST", "/api/activity/purge", false, answered(s.purgeActivity)},
		{"GET", "/api/health", false, answered(s.health)},
		{"GET", "/api/checks", false, answered(s.checks)},
		{"POST", "/api/theme", false, answered(s.keepTheme)},
		{"GET", "/api/events", false, s.events},
	}
}

// writes refuses requests if the page is read-only.
func (s *Server) writes(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.opts.ReadOnly {
			fail(w, badRequest("this page is read-only"))
			return
		}
		h(w, r)
	}
}

func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		h := r.handle
		if !r.fixed && r.path != enterPath && r.path != helloPath {
			h = s.private(h)
		}
		mux.HandleFunc(r.method+" "+r.path, h)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
	})
	return mux
}

// shell serves the page itself, whose script reads the address.
func (s *Server) shell(w http.ResponseWriter, r *http.Request) { serveAsset(w, r, "index.html") }

// entrance serves the page at the address that contains the token or a ticket; the script moves on
// to another address at once. The status is "not found", although the body is the page. Because of
// the status Chromium hides the address in its history, so it is neither listed nor completed.
func (s *Server) entrance(w http.ResponseWriter, r *http.Request) {
	serveAsset(&missing{w}, r, "index.html")
}

// missing changes the handler's status to "not found".
type missing struct{ http.ResponseWriter }

func (m *missing) WriteHeader(int) { m.ResponseWriter.WriteHeader(http.StatusNotFound) }

func (s *Server) asset(w http.ResponseWriter, r *http.Request) { serveAsset(w, r, r.PathValue("name")) }

// kinds are the content types of the assets. The system's table is not used, because it may be
// wrong or missing.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml",
}

// packed holds the assets compressed with gzip, by name.
var packed = sync.OnceValue(func() map[string][]byte {
	all := map[string][]byte{}
	list, _ := assets.ReadDir("assets") // never fails, since the folder is embedded
	for _, e := range list {
		data, _ := assets.ReadFile("assets/" + e.Name())
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = z.Write(data)
		_ = z.Close()
		all[e.Name()] = b.Bytes()
	}
	return all
})

func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	data, err := assets.ReadFile(path.Join("assets", path.Base(name)))
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kinds[path.Ext(name)])
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = packed()[name]
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(data)
}
