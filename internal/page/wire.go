package page

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"quarry/fault"
)

// pathID encodes a path for JSON, which requires UTF-8. It returns a valid path unchanged. Any
// other path becomes NUL and base64; the NUL marks it, because no path contains one.
func pathID(p string) string {
	if utf8.ValidString(p) {
		return p
	}
	return "\x00" + base64.RawURLEncoding.EncodeToString([]byte(p))
}

// pathOf decodes the result of pathID.
func pathOf(id string) string {
	rest, coded := strings.CutPrefix(id, "\x00")
	if !coded {
		return id
	}
	if b, err := base64.RawURLEncoding.DecodeString(rest); err == nil && len(b) > 0 {
		return string(b)
	}
	return id
}

// units returns the length of s in UTF-16 code units, which JavaScript uses for offsets.
func units(s []byte) int {
	n := 0
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		if n++; r > 0xFFFF {
			n++
		}
		s = s[size:]
	}
	return n
}

// problem is an error sent to the page.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func problemOf(err error) problem {
	return problem{Code: string(fault.CodeOf(err)), Message: err.Error(), Hint: fault.HintOf(err)}
}

// badRequest is an error that says why a request is invalid.
type badRequest string

func (e badRequest) Error() string { return string(e) }

// answered returns a handler that sends the result of f as JSON.
func answered(f func(w http.ResponseWriter, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(w, r)
		if err != nil {
			fail(w, err)
			return
		}
		respond(w, http.StatusOK, v)
	}
}

// fail sends an error.
func fail(w http.ResponseWriter, err error) {
	p, status := problemOf(err), http.StatusUnprocessableEntity
	var bad badRequest
	switch {
	case errors.As(err, &bad):
		p.Code, status = string(fault.InvalidArgument), http.StatusBadRequest
	case p.Code == string(fault.NotFound):
		status = http.StatusNotFound
	case p.Code == string(fault.Conflict):
		status = http.StatusConflict
	}
	respond(w, status, map[string]any{"error": p})
}

func respond(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
}

// maxBody limits the size of a request's body.
const maxBody = 1 << 20

// readBody decodes a JSON body into into. It refuses other content types, because a form on another
// site could send those.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	return readBodyOf(w, r, maxBody, into)
}

func readBodyOf(w http.ResponseWriter, r *http.Request, most int64, into any) error {
	if r.Header.Get("Content-Type") != "application/json" {
		return badRequest("the content type has to be application/json")
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return badRequest(fmt.Sprintf("the request has more than %d MB", most>>20))
		}
		return badRequest("invalid request: " + err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return badRequest("invalid request: more than one value")
	}
	return nil
}

// lines writes one JSON value per line and flushes each.
type lines struct {
	w     http.ResponseWriter
	flush *http.ResponseController
}

func newLines(w http.ResponseWriter) *lines {
	w.Header().Set("Content-Type", "application/x-ndjson")
	return &lines{w, http.NewResponseController(w)}
}

func (l *lines) send(v any, now bool) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := l.w.Write(append(data, '\n')); err != nil {
		return err
	}
	if now {
		return l.flush.Flush()
	}
	return nil
}
