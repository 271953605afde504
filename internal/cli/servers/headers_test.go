package servers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHeaders(t *testing.T) {
	for _, c := range []struct {
		text string
		want http.Header
		bad  string
	}{
		{"# who we are\n\nauthorization: Bearer s3cret:x\r\nX-Team:  a b \n", http.Header{"Authorization": {"Bearer s3cret:x"}, "X-Team": {"a b"}}, ""},
		{"X-A: 1\nx-a: 2", http.Header{"X-A": {"1", "2"}}, ""},
		{"Authorization Bearer s3cret", nil, ":1: a line is Name: value"},
		{"#\nAuthorization : s3cret", nil, ":2: a line is Name: value"},
		{": s3cret", nil, ":1: a line is Name: value"},
		{"s3cret:", nil, ":1: the header has no value"},
		{"A: s3cret\x00", nil, ":1: the value has control characters"},
		{"te: s3cret", nil, ":1: this header is for the protocol to set"},
		{"grpc-timeout: s3cret", nil, ":1: this header is for the protocol to set"},
		{"# nothing\n", nil, ": there is no header in it"},
		{"A: " + strings.Repeat("s3cret", 4000), nil, ": more than 16 KB"},
	} {
		got, err := parseHeaders([]byte(c.text))
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.bad == "") || err != nil && err.Error() != c.bad {
			t.Errorf("%.40q: %v, want %q\n%s", c.text, err, c.bad, diff)
		}
	}
}

func FuzzParseHeaders(f *testing.F) {
	for _, s := range []string{"A: b\n", "# x\r\nAuthorization: Bearer x", "\xef\xbb\xbfA:b", ":", "Grpc-Timeout: 1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		header, err := parseHeaders(data)
		if (err == nil) != (len(header) > 0) {
			t.Fatalf("%q: %v, %v", data, header, err)
		}
		for name, values := range header {
			for _, v := range values {
				if strings.ContainsAny(name+v, "\r\n\x00") || name == "" || v == "" {
					t.Fatalf("%q: %q: %q", data, name, v)
				}
			}
		}
	})
}

func TestUnprotected(t *testing.T) {
	for servers, want := range map[string]string{
		"https://a,https://b:1+HTTPS://c": "", "127.0.0.1:1,localhost:2+[::1]:3,http://127.0.0.1:4": "",
		"https://a,search:6070": "search:6070", "https://a+http://b": "http://b", "10.0.0.1:1": "10.0.0.1:1", "127.0.0.1.evil.org:1": "127.0.0.1.evil.org:1",
	} {
		if got, _ := unprotected(servers); got != want {
			t.Errorf("%s: %q goes without encryption, want %q", servers, got, want)
		}
	}
}
