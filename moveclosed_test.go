package quarry_test

import (
	"testing"

	"quarry"
	"quarry/fault"
)

// A folder is not moved when that would open what the owner's rules close.
func TestMoveKeepsClosed(t *testing.T) {
	files := map[string]string{"docs/private/x.txt": "closed", "docs/open.txt": "open", "keys/server.pem": "closed", "lib/.git/config": "closed", "lib/a.txt": "open"}
	for _, c := range []struct {
		name, from, to string
		opts           quarry.Options
		code           fault.Code
	}{
		{"out of a denied place", "docs", "docs2", quarry.Options{Deny: []string{"docs/private"}}, fault.ProtectedPath},
		{"out of a denied place, deeper", "docs", "a/b/docs", quarry.Options{Deny: []string{"/docs/private/**"}}, fault.ProtectedPath},
		{"into an allowed place", "keys", "testdata", quarry.Options{Allow: []string{"testdata/*.pem"}}, fault.ProtectedPath},
		{"closed at both places", "docs", "docs2", quarry.Options{Deny: []string{"private"}}, ""},
		{"closed by name", "keys", "keys2", quarry.Options{Deny: []string{"docs"}}, ""},
		{"with a repository inside", "lib", "lib2", quarry.Options{Deny: []string{"docs"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := changeable(t, files, &c.opts)
			_, err := ws.Move(ctx, c.from, c.to, nil)
			if (err == nil) != (c.code == "") || err != nil && fault.CodeOf(err) != c.code {
				t.Fatalf("%v, want %q", err, c.code)
			}
			for _, at := range []string{c.from, c.to} {
				for _, name := range []string{"/private/x.txt", "/server.pem", "/.git/config"} {
					if _, err := ws.Read(ctx, at+name, nil); err == nil {
						t.Errorf("%s can be read", at+name)
					}
				}
			}
		})
	}
}
