// Package zoekttest is a small server of Zoekt's protocol for tests.
//
// It holds documents in memory and reads every one of them for each query, so it
// is right where the real server is clever. What it does as the real one does,
// seen there: it keeps no binary, tiny or large file and says so in its place,
// folds letters by their lower case, matches expressions with RE2, and answers
// in an order of its own.
package zoekttest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"quarry/internal/zoekt/wire"
)

// Repo is a repository at one commit.
type Repo struct {
	Name   string
	Commit string
	Files  map[string]string // content by path
}

// Server serves repositories on a port of this machine.
type Server struct {
	Addr string

	server *http.Server
	mu     sync.Mutex
	repos  []Repo
	hang   chan struct{} // not nil: answers wait until it is closed
	asked  int
	sent   int
	key    [2]string // a header and its value, without which nobody gets an answer
}

// Start serves until Close.
func Start(repos ...Repo) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: l.Addr().String(), repos: repos}
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	s.server = &http.Server{Handler: s, Protocols: &p, ReadHeaderTimeout: 10 * time.Second}
	go s.server.Serve(l) //nolint:errcheck // it ends with Close
	return s, nil
}

// Close ends the server at once, as a kill would.
func (s *Server) Close() { s.server.Close() }

// Set replaces what is served.
func (s *Server) Set(repos ...Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos = repos
}

// Hang makes every answer wait until release is called.
func (s *Server) Hang() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := make(chan struct{})
	s.hang = wait
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hang = nil
		close(wait)
	})
}

// Lock makes the server refuse calls without a header, as a proxy before it may.
func (s *Server) Lock(header, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = [2]string{header, value}
}

func (s *Server) locked(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key[0] != "" && r.Header.Get(s.key[0]) != s.key[1]
}

// Asked is how many calls came in.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Server) state() ([]Repo, chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.repos, s.hang
}

// Sent is how many contents went out.
func (s *Server) Sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func (s *Server) sending() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	repos, hang := s.state()
	if hang != nil {
		select {
		case <-hang:
		case <-r.Context().Done():
			return
		}
	}
	if s.locked(r) {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	err := s.answer(r.Context(), repos, r, w)
	code := "0"
	if err != nil {
		code = "3"
		w.Header().Set("Grpc-Message", url.PathEscape(err.Error()))
	}
	w.Header().Set("Grpc-Status", code)
}

func (s *Server) answer(ctx context.Context, repos []Repo, r *http.Request, w io.Writer) error {
	frame, err := io.ReadAll(r.Body)
	if err != nil || len(frame) < 5 {
		return fmt.Errorf("no message: %w", err)
	}
	message := frame[5:]
	switch method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; method {
	case "List":
		return send(w, list(repos))
	case "StreamSearch":
		return s.search(ctx, repos, message, w)
	default:
		return fmt.Errorf("no method %s", method)
	}
}

func send(w io.Writer, message []byte) error {
	head := make([]byte, 5)
	binary.BigEndian.PutUint32(head[1:], uint32(len(message)))
	_, err := w.Write(append(head, message...))
	return err
}

func list(repos []Repo) []byte {
	var out []byte
	for _, r := range repos {
		branch := wire.AppendString(wire.AppendString(nil, 1, "main"), 2, r.Commit)
		body := wire.AppendMessage(wire.AppendString(nil, 2, r.Name), 5, branch)
		size := 0
		for _, c := range r.Files {
			size += len(c)
		}
		stats := wire.AppendInt(wire.AppendInt(nil, 3, int64(len(r.Files))), 5, int64(size))
		out = wire.AppendMessage(out, 1, wire.AppendMessage(wire.AppendMessage(nil, 1, body), 3, stats))
	}
	return out
}

type options struct {
	whole bool
	most  int
}

// search sends documents one by one, each in a message.
func (s *Server) search(ctx context.Context, repos []Repo, message []byte, w io.Writer) error {
	var q matcher
	var opts options
	err := wire.Each(message, func(f *wire.Field) error {
		return wire.Each(f.Data, func(f *wire.Field) (err error) {
			if f.Num == 1 {
				q, err = read(f.Data)
				return err
			}
			return wire.Each(f.Data, func(f *wire.Field) error {
				switch f.Num {
				case 2:
					opts.whole = f.Int != 0
				case 4:
					opts.most = int(f.Int)
				}
				return nil
			})
		})
	})
	if err != nil {
		return err
	}
	n := 0
	for _, r := range repos {
		for path, content := range r.Files { // in the order of the map: any
			if ctx.Err() != nil {
				return ctx.Err()
			}
			d := &doc{r.Name, path, kept(content)}
			if !q(d) {
				continue
			}
			if n++; n > opts.most {
				return send(w, chunk(wire.AppendMessage(nil, 1, wire.AppendInt(nil, 9, 1))))
			}
			if opts.whole {
				s.sending()
			}
			if err := send(w, chunk(wire.AppendMessage(nil, 3, d.encode(r.Commit, opts.whole)))); err != nil {
				return err
			}
		}
	}
	return nil
}

func chunk(response []byte) []byte { return wire.AppendMessage(nil, 6, response) }

// kept is what the server has in the place of a content.
func kept(content string) string {
	switch {
	case len(content) > 2<<20:
		return "NOT-INDEXED: exceeds the maximum size limit"
	case len(content) > 0 && len(content) < 3:
		return "NOT-INDEXED: contains too few trigrams"
	case strings.IndexByte(content, 0) >= 0:
		return "NOT-INDEXED: contains binary content"
	}
	return content
}

type doc struct{ repo, path, content string }

func (d *doc) encode(commit string, whole bool) []byte {
	b := wire.AppendString(wire.AppendString(nil, 3, d.path), 4, d.repo)
	if whole {
		b = wire.AppendString(b, 10, d.content)
	}
	sum := crc64.Checksum([]byte(d.content), crc64.MakeTable(crc64.ISO))
	b = wire.AppendMessage(b, 11, binary.BigEndian.AppendUint64(nil, sum))
	return wire.AppendString(b, 15, commit)
}

// matcher is a query.
type matcher func(*doc) bool

// leaf is what the leaves of a query have.
type leaf struct {
	texts []string
	text  string // the last of them
	flags [8]bool
	subs  []matcher
}

// read reads the message Q.
func read(message []byte) (q matcher, err error) {
	err = wire.Each(message, func(f *wire.Field) (err error) {
		q, err = node(f)
		return err
	})
	if err == nil && q == nil {
		err = errors.New("empty query")
	}
	return q, err
}

func node(f *wire.Field) (matcher, error) {
	if f.Num == 5 {
		all := f.Int != 0
		return func(*doc) bool { return all }, nil
	}
	l, err := readLeaf(f)
	if err != nil {
		return nil, err
	}
	switch f.Num {
	case 2: // a regular expression: case in field 4, path in 2
		re := l.text
		if !l.flags[4] {
			re = "(?i)" + re
		}
		compiled, err := regexp.Compile("(?m)" + re)
		return func(d *doc) bool { return compiled.MatchString(d.about(l.flags[2])) }, err
	case 13: // a substring: case in field 2, path in 3
		return func(d *doc) bool { return contains(d.about(l.flags[3]), l.text, l.flags[2]) }, nil
	case 10:
		return func(d *doc) bool { return has(l.texts, d.repo) }, nil
	case 11:
		return func(d *doc) bool { return has(l.texts, d.path) }, nil
	case 12:
		return l.subs[0], nil
	case 14:
		return func(d *doc) bool { return l.count(d) == len(l.subs) }, nil
	case 15:
		return func(d *doc) bool { return l.count(d) > 0 }, nil
	case 16:
		return func(d *doc) bool { return l.count(d) == 0 }, nil
	case 17:
		return func(*doc) bool { return l.text == "HEAD" }, nil
	}
	return nil, fmt.Errorf("unknown query %d", f.Num)
}

// readLeaf reads the body of any kind of query.
func readLeaf(f *wire.Field) (*leaf, error) {
	l := &leaf{}
	kind := f.Num
	return l, wire.Each(f.Data, func(f *wire.Field) error {
		switch {
		case f.Data == nil:
			l.flags[f.Num&7] = f.Int != 0
		case kind == 12 || kind >= 14 && kind <= 16:
			q, err := read(f.Data)
			l.subs = append(l.subs, q)
			return err
		case kind == 10: // a map entry: its key
			return wire.Each(f.Data, func(f *wire.Field) error {
				if f.Num == 1 {
					l.texts = append(l.texts, string(f.Data))
				}
				return nil
			})
		default:
			if !utf8.Valid(f.Data) {
				return errors.New("string field contains invalid UTF-8")
			}
			l.text = string(f.Data)
			l.texts = append(l.texts, l.text)
		}
		return nil
	})
}

func (l *leaf) count(d *doc) (n int) {
	for _, q := range l.subs {
		if q(d) {
			n++
		}
	}
	return n
}

func (d *doc) about(name bool) string {
	if name {
		return d.path
	}
	return d.content
}

func has(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func contains(text, part string, sensitive bool) bool {
	if sensitive {
		return strings.Contains(text, part)
	}
	lower := func(s string) []byte { return bytes.Map(unicode.ToLower, []byte(s)) }
	return bytes.Contains(lower(text), lower(part))
}
