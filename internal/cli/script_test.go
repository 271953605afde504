package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts of testdata/script run the program as a shell would; they are
// the documentation of its commands that can't be wrong.
func TestMain(m *testing.M) {
	// The configuration of whoever runs the tests is none of their business.
	if filepath.Base(os.Args[0]) != "quarry" {
		os.Setenv("QUARRY_CONFIG", os.DevNull)
	}
	testscript.Main(m, map[string]func(){
		"quarry": func() {
			os.Exit(Run(context.Background(), os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// crlf FILE... gives the files \r\n line endings.
			"crlf": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, name := range args {
					text := strings.ReplaceAll(ts.ReadFile(name), "\n", "\r\n")
					ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o666))
				}
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
