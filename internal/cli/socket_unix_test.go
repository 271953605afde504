//go:build unix

package cli

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// If standard input is a socket, as in programs started by Node, it is searched only if named as -.
// If a search without paths finds nothing, a message says that.
func TestSocketAsInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeTree(t, dir, map[string]string{"go.mod": "module x\n"})
	for _, c := range []struct {
		args []string
		code int
		out  string
		says bool
	}{
		{[]string{"search", "needle"}, 1, "", true},
		{[]string{"search", "module"}, 0, "go.mod:1:module x\n", false},
		{[]string{"search", "needle", "."}, 1, "", false},
		{[]string{"search", "needle", "-"}, 0, "1:needle\n", false},
	} {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		in, other := os.NewFile(uintptr(pair[0]), "in"), os.NewFile(uintptr(pair[1]), "out")
		conn, err := net.FileConn(other)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte("needle\n"))
		conn.Close()
		other.Close()
		var out, errs bytes.Buffer
		code := Run(t.Context(), c.args, Streams{In: in, Out: &out, Err: &errs})
		in.Close()
		if says := strings.Contains(errs.String(), "standard input is a socket"); code != c.code || out.String() != c.out || says != c.says {
			t.Errorf("%q: exit code %d, %q, %q", c.args, code, out.String(), errs.String())
		}
	}
}
