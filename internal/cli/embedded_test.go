package cli

import (
	"strings"
	"testing"

	"quarry/internal/quarrytest"
	"quarry/project"
	"quarry/search"
)

// A program that embeds the library shares the undo log and the index with the command line.
func TestEmbeddedChangesAreInTheLog(t *testing.T) {
	dir := t.TempDir()
	quarrytest.PutFile(t, dir+"/go.mod", "module a\n")
	quarrytest.PutFile(t, dir+"/.gitignore", "*.log\n")
	quarrytest.PutFile(t, dir+"/a.txt", "one\n")
	quarrytest.PutFile(t, dir+"/sub/b.log", "one\n")
	log, undo := program(t, dir, "log"), program(t, dir, "undo")
	undo.Env = log.Env // use the same home folder
	ws, err := project.Open(dir+"/sub", func(name string) (value string) {
		for _, e := range log.Env {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				value = v
			}
		}
		return value
	})
	if err != nil {
		t.Fatal(err)
	}
	quarrytest.Must(t)(ws.Replace(t.Context(), search.Query{Pattern: "one"}, "two", nil))
	if err := ws.Index().Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if err := ws.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := log.CombinedOutput(); err != nil || !strings.Contains(string(out), "replaced 1 match in 1 file") {
		t.Errorf("log: %v\n%s", err, out)
	}
	if out, err := undo.CombinedOutput(); err != nil || !strings.Contains(string(out), "replaced 1 match in 1 file") {
		t.Errorf("undo: %v\n%s", err, out)
	}
}
