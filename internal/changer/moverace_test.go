package changer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
)

// If another process changes a file right after a move was checked, the file is moved
// back.
func TestMoveIsJudgedAgain(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []bool{false, true} {
		from, to := "tmp.json", "settings.json"
		if folder {
			from, to = "tmp", "set"
		}
		file, errEvil := filepath.Join(dir, from), errors.New("evil")
		if folder {
			if err := os.Mkdir(file, 0o755); err != nil {
				t.Fatal(err)
			}
			file = filepath.Join(file, "settings.json")
		}
		put := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		put("good")
		judged := 0
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashLocal, Guard: func(path string) func(before, after []byte) error {
			if !strings.HasPrefix(path, to) || folder && path != "set/settings.json" {
				return nil
			}
			return func(before, after []byte) error {
				if judged++; judged == 1 {
					put("evil") // from now on, simulate a write by another process
				}
				if string(before)+string(after) == "evil" {
					return errEvil
				}
				return nil
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ws.Move(t.Context(), from, to, nil)
		if !errors.Is(err, errEvil) {
			t.Errorf("move of %s: %v", from, err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s is not back: %v", from, err)
		}
		if _, err := os.Stat(filepath.Join(dir, to)); err == nil {
			t.Errorf("%s is there", to)
		}
		ws.Close()
	}
}
