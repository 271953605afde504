package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"

	"quarry/internal/crew"
)

// tokenHeader is the header with the token. Another site can't send it without a preflight request,
// because it is not on the browser's list of safe headers, and the server refuses preflight
// requests.
const tokenHeader = "X-Quarry-Token"

// policy is the content policy: nothing from other servers, no inline script or style, no
// frame, and no string that becomes markup (trusted types). Images of the
// workspace are blobs, because requests for them need the token.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard is called before every route. A request with a foreign Host or Origin gets
// nothing, not even a fixed file.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Embedder-Policy", "require-corp")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", "no-store")
		if !s.ours(r) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a request is addressed to this server by one of its own names and was not
// sent by a page of another origin. Checking the Host header prevents DNS rebinding, in which a
// foreign name resolves to this machine.
func (s *Server) ours(r *http.Request) bool {
	s.mu.Lock()
	known := s.host[r.Host]
	s.mu.Unlock()
	if !known {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	// Links on other pages may lead here: a navigation sends no secret and gets a fixed file.
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// holdsToken reports whether a request has the token. It compares in constant time.
func (s *Server) holdsToken(r *http.Request) bool {
	given := sha256.Sum256([]byte(r.Header.Get(tokenHeader)))
	want := sha256.Sum256([]byte(s.token))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// enter exchanges a ticket for the token. The ticket is sent in the token's header and is valid
// only once.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	ticket := r.Header.Get(tokenHeader)
	s.mu.Lock()
	known := s.tickets[ticket]
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !known {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.conns.Known(r)
	respond(w, http.StatusOK, map[string]string{"token": s.token})
}

// hello proves that this server knows the token without revealing it. A tab that lost the
// connection requests this proof before it sends the token again, because another program may now
// use the port.
func (s *Server) hello(w http.ResponseWriter, r *http.Request) {
	nonce := r.URL.Query().Get("nonce")
	if len(nonce) < 32 || len(nonce) > 128 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	mac := hmac.New(sha256.New, []byte(s.token))
	mac.Write([]byte("quarry hello " + r.Host + " " + nonce))
	respond(w, http.StatusOK, map[string]string{"proof": hex.EncodeToString(mac.Sum(nil))})
}

// private calls next only for requests with the token.
func (s *Server) private(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.holdsToken(r) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.conns.Known(r)
		defer func() {
			// Report and log panics; net/http would only drop the connection.
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				s.log.Error("the page failed", "path", r.URL.Path, "error", p, "stack", string(crew.StackOf(p)))
				respond(w, http.StatusInternalServerError, map[string]any{"error": problem{Code: "INTERNAL", Message: fmt.Sprintf("the page failed: %v", p), Hint: "the output of quarry ui says more"}})
			}
		}()
		next(w, r)
	}
}
