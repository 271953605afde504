package owner_test

import (
	"errors"
	"path/filepath"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/internal/owner"
)

// A mark is sent to the owner of the index. It is refused if there is none.
func TestMarkReachesTheOwner(t *testing.T) {
	h := bareHouse(t)
	h.put("f.txt", "text\n")
	ws := h.keep(&quarry.Options{AllowAny: true})
	answer, err := quarry.SendMark(t.Context(), &quarry.IndexOptions{Socket: h.socket()}, change.Mark{Tool: "Edit", Paths: []string{"f.txt"}})
	if err != nil || answer.Recording {
		t.Errorf("got %+v, %v; want an answer that nothing is recorded", answer, err)
	}
	ws.Close()
	if _, err := quarry.SendMark(t.Context(), &quarry.IndexOptions{Socket: filepath.Join(t.TempDir(), "none")}, change.Mark{}); !errors.Is(err, owner.ErrNoOwner) {
		t.Errorf("got %v, want no owner", err)
	}
}
