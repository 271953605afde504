package presence

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/internal/stress"
)

func TestPresence(t *testing.T) {
	dir := t.TempDir()
	a, err := Open(dir, Client{Profile: "quarry", Review: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir, Client{Transport: "stdio"})
	if err != nil {
		t.Fatal(err)
	}
	a.Called("cursor", "1.9", "s1", "edit_file")
	b.Connected("claude-code", "2.1", "s2")
	list, err := List(dir)
	if err != nil || len(list) != 2 || list[0].Name != "claude-code" || list[1].Name != "cursor" {
		t.Fatalf("list = %+v, %v", list, err)
	}
	if c := list[1]; c.Calls != 1 || len(c.Sessions) != 1 || c.LastTool != "edit_file" || !c.Review || c.Profile != "quarry" || c.PID != os.Getpid() {
		t.Errorf("cursor = %+v", c)
	}
	if c := list[0]; c.Calls != 0 || c.Version != "2.1" { // it has connected, but not called a tool
		t.Errorf("claude-code = %+v", c)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := List(dir); err != nil || len(list) != 1 || list[0].Name != "claude-code" {
		t.Errorf("after the end of one: %+v, %v", list, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	// The file of a killed process is not locked.
	left := filepath.Join(dir, "1-1.json")
	if err := os.WriteFile(left, []byte(`[{"name":"ghost"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := List(dir); err != nil || len(list) != 0 {
		t.Errorf("a ghost: %+v, %v", list, err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("the file of a server that begins is gone: %v", err)
	}
	if err := os.Chtimes(left, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if list, err := List(dir); err != nil || len(list) != 0 {
		t.Errorf("an old ghost: %+v, %v", list, err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the file of a killed process stays: %v", err)
	}
}

// All calls are counted, even if they are too frequent to be written one by one.
func TestBurst(t *testing.T) {
	stress.SkipTiny(t)
	dir := t.TempDir()
	s, err := Open(dir, Client{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tool := range []string{"read_file", "search_files", "move_file"} {
		s.Called("cursor", "1", "s", tool)
	}
	var list []Client
	stress.Becomes(func() bool {
		list, err = List(dir)
		return err == nil && len(list) == 1 && list[0].Calls == 3
	})
	if len(list) != 1 || list[0].Calls != 3 || len(list[0].Sessions) != 1 || list[0].LastTool != "move_file" {
		t.Errorf("list = %+v, %v", list, err)
	}
}
