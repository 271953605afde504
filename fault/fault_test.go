package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// The first error in the tree with a code decides, however it is wrapped.
func TestCodeOf(t *testing.T) {
	sentinel := New(ReadOnly, "no state", "give a state folder")
	path := &PathError{Op: "open", Path: "a", Kind: NotFolder}
	for _, c := range []struct {
		name string
		err  error
		want Code
		hint string
	}{
		{"a sentinel", fmt.Errorf("write: %w", sentinel), ReadOnly, "give a state folder"},
		{"a path", path, InvalidArgument, ""},
		{"a path with a next step", &PathError{Kind: AlreadyExists}, AlreadyExists, "nothing is ever overwritten; choose another name, or delete what is there"},
		{"what is inside is more exact", &PathError{Kind: Conflict, Err: sentinel}, Conflict, "give a state folder"},
		{"joined", errors.Join(path, sentinel), InvalidArgument, "give a state folder"},
		{"a context", fmt.Errorf("x: %w", context.Canceled), Timeout, ""},
		{"anything else", errors.New("x"), IOError, ""},
		{"a zero kind", &PathError{}, IOError, ""},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("%s: code %s, want %s", c.name, got, c.want)
		}
		if got := HintOf(c.err); got != c.hint {
			t.Errorf("%s: hint %q, want %q", c.name, got, c.hint)
		}
	}
	if !errors.Is(path, NotFolder) || !errors.Is(path, InvalidArgument) || errors.Is(path, NotRegular) {
		t.Error("errors.Is must know the finer code and the reported one, and no other")
	}
	if !errors.Is(&PathError{Kind: NotFound}, fs.ErrNotExist) {
		t.Error("a path that is not found must be fs.ErrNotExist")
	}
}

// Every code has words, and its reported code is in the table.
func TestTable(t *testing.T) {
	for code, e := range table {
		if e.words == "" || code.Words() != e.words {
			t.Errorf("%s has no words", code)
		}
		if again := code.Code().Code(); again != code.Code() {
			t.Errorf("%s is reported as %s, which is reported as %s", code, code.Code(), again)
		}
	}
}

// A full disk has a hint wherever it occurs: in a file, the journal or the trash.
func TestFullDiskHint(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("append 0001.seg: %w", syscall.ENOSPC),
		&PathError{Op: "write", Path: "a.txt", Kind: IOError, Err: syscall.ENOSPC},
	} {
		if hint := HintOf(err); !strings.Contains(hint, "quarry doctor") {
			t.Errorf("%v: hint %q", err, hint)
		}
	}
}

// A message shows only the beginning of a long glob.
func TestLongGlob(t *testing.T) {
	e := &GlobError{Pattern: strings.Repeat("é", 30_000), Offset: 12, Reason: "too long"}
	if text := e.Error(); len(text) > 600 || !strings.HasSuffix(text, "…\": too long at offset 12") {
		t.Errorf("%d bytes: %.700s", len(text), text)
	}
}
