package review_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/rootfs"
)

// If the store can't be written, it still shows its proposals, and says why they can't be
// decided.
func TestReadOnlyStore(t *testing.T) {
	b := newBench(t, nil, -1)
	b.propose(change.Op{Verb: change.CreateFile, Path: "a.txt", Content: []byte("x\n")})
	for _, problem := range []error{syscall.EROFS, syscall.EACCES} {
		if err := os.Remove(filepath.Join(b.reviews, "lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		s, err := review.OpenLayered(b.reviews, &rootfs.Layer{Before: func(call string) error {
			if call == "create" {
				return problem
			}
			return nil
		}})
		if err != nil {
			t.Fatalf("%v: %v", problem, err)
		}
		if list, err := s.List(); err != nil || len(list) != 1 {
			t.Errorf("%v: %d proposals, %v", problem, len(list), err)
		}
		if _, err := s.Withdraw("p-0001", change.Client{}); !errors.Is(err, problem) || !strings.Contains(err.Error(), "can't be written") {
			t.Errorf("%v: abandon = %v", problem, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
