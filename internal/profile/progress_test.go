package profile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry"
	"quarry/internal/profile"
	"quarry/search"
	"quarry/tool"
)

// While an index is built, only a slow call gets progress reports, and get_index_status
// gives the percentage.
func TestProgressOfBuild(t *testing.T) {
	f := fixture{files: map[string]string{}, opts: quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}}}
	for i := range 1500 { // smaller trees are not indexed in the background
		f.files[fmt.Sprintf("d%d/f%d.txt", i%20, i)] = "some words of a line\n"
	}
	hold := make(chan struct{})
	begun := sync.OnceFunc(func() { close(hold) })
	release := make(chan struct{})
	f.opts.Index.Progress = func(search.Progress) { // pauses halfway through the build
		begun()
		<-release
	}
	ws := f.make(t)
	defer sync.OnceFunc(func() { close(release) })()
	select {
	case <-hold:
	case <-time.After(time.Minute):
		t.Fatal("the index tells nothing of its build")
	}
	reg := tools(t, ws, profile.Options{})
	status := call(t, reg, "get_index_status", "{}")
	if !strings.Contains(status.Text, `"indexing"`) || !strings.Contains(status.Text, `"indexingProgress"`) {
		t.Errorf("status in the middle of a build: %s", status.Text)
	}
	told := make(chan string, 100)
	ctx := tool.WithProgress(t.Context(), func(done, total int64, message string) {
		if total > 0 && done > total { // a search reports progress without a total
			t.Errorf("%d of %d", done, total)
		}
		told <- message
	})
	if r := reg.Lookup("search_files").Execute(ctx, json.RawMessage(`{"regex":"some"}`)); r.IsError {
		t.Fatal(r.Text)
	}
	if len(told) == 0 {
		t.Fatal("a call during a build tells nothing")
	}
	if m := <-told; !strings.HasPrefix(m, "the index is being built: ") || !strings.Contains(m, " of 1500 files") {
		t.Errorf("told %q", m)
	}
}
