package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"quarry/internal/stress"
)

// The scripts in testdata/script run the program as from a shell. They serve as documentation that
// is always correct.
func TestMain(m *testing.M) {
	testscript.Main(guests{m}, map[string]func(){
		"quarry": func() {
			in := os.Stdin
			if len(os.Args) > 1 && (os.Args[1] == "search" || os.Args[1] == "rg") && os.Getenv("PIPED") == "" && !slices.Contains(os.Args, "-") {
				in, _ = os.Open(os.DevNull) // a script's standard input would otherwise be a pipe
			}
			ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // as cmd/quarry does
			os.Exit(Run(ctx, os.Args[1:], Streams{In: in, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

// guests runs tests isolated from the user's configuration, indexes and undo
// logs.
type guests struct{ m *testing.M }

func (g guests) Run() int {
	stress.InMemory()
	dir, err := os.MkdirTemp("", "qt")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("QUARRY_CONFIG", os.DevNull)
	for _, name := range []string{"XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"} {
		os.Setenv(name, dir)
	}
	return g.m.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		// Each script has its own home folder. testscript's own value, /no-home, is not an absolute
		// path on Windows, and root could create it elsewhere.
		Setup: func(env *testscript.Env) error {
			home := env.WorkDir + "-home"
			for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"} {
				env.Setenv(name, home)
			}
			env.Setenv("SLASHES", filepath.ToSlash(env.WorkDir))
			env.Defer(func() { os.RemoveAll(home) })
			return os.Mkdir(home, 0o755)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "links":
				return stress.CanLink(t), nil
			case "wine":
				return stress.UnderWine(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// crlf FILE... converts the files to \r\n line endings.
			"crlf": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, name := range args {
					text := strings.ReplaceAll(ts.ReadFile(name), "\n", "\r\n")
					ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o666))
				}
			},
			// numbers N FILE replaces the word NUMBERS in the file by the numbers from 1 to N,
			// separated by \n as written in JSON.
			"numbers": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				var list strings.Builder
				for i := range n {
					fmt.Fprintf(&list, `%d\n`, i+1)
				}
				text := strings.Replace(ts.ReadFile(args[1]), "NUMBERS", list.String(), 1)
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
			},
			// id VARIABLE sets the variable to the first word of the last output. After quarry log,
			// that is the id of the newest change.
			"id": func(ts *testscript.TestScript, _ bool, args []string) {
				word, _, _ := strings.Cut(ts.ReadFile("stdout"), " ")
				ts.Setenv(args[0], word)
			},
			// nul FILE... makes the files binary.
			"nul": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, name := range args {
					ts.Check(os.WriteFile(ts.MkAbs(name), []byte(ts.ReadFile(name)+"\x00"), 0o666))
				}
			},
		},
	})
}
