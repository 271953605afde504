package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"quarry/internal/config"
	"quarry/internal/rootfs/outside"
)

// Records stores the contents that settings files had before an entry was added, so that
// removing the entry restores them exactly. Records are private, because settings may
// contain keys of other servers.
type Records struct {
	Dir string
}

// record describes an entry added to a file.
type record struct {
	File    string   `json:"file"`
	Entry   string   `json:"entry"`
	Existed bool     `json:"existed"`          // the file existed
	Before  []byte   `json:"before,omitempty"` // its contents before
	After   string   `json:"after"`            // hash of the written text
	Made    []string `json:"made,omitempty"`   // folders made for it, innermost first
}

func (r *Records) name(file, entry string) string {
	return filepath.Join(r.Dir, config.RootID(file, entry)+".json")
}

func (r *Records) read(file, entry string) (*record, bool) {
	data, _, err := outside.Read(r.name(file, entry), 64<<20)
	if err != nil {
		return nil, false
	}
	var rec record
	if json.Unmarshal(data, &rec) != nil || rec.File != file || rec.Entry != entry {
		return nil, false
	}
	return &rec, true
}

// Missing returns the parent folders of a file that don't exist, innermost first.
func Missing(file string) []string {
	var list []string
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return list
		}
		list = append(list, dir)
	}
}

// Installed records that an entry was added to a file, which changed its contents from
// old to text and made the missing folders. After several installs, the contents before
// the first are kept if the file was not otherwise changed in between.
func (r *Records) Installed(file, entry string, old, text []byte, existed bool, missing []string) error {
	rec := &record{File: file, Entry: entry, Existed: existed, Before: old, Made: missing}
	if earlier, ok := r.read(file, entry); ok && existed && earlier.After == hashOf(old) {
		rec.Existed, rec.Before, rec.Made = earlier.Existed, earlier.Before, earlier.Made
	}
	rec.After = hashOf(text)
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(r.Dir, "new-*") // CreateTemp uses mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), r.name(file, entry))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// Before returns the contents of a file before an entry was added. ok is false if they
// are unknown, or if the file has changed since.
func (r *Records) Before(file, entry string, now []byte) (before []byte, existed, ok bool) {
	rec, found := r.read(file, entry)
	if !found || rec.After != hashOf(now) {
		return nil, false, false
	}
	return rec.Before, rec.Existed, true
}

// Known reports whether an entry was added to a file.
func (r *Records) Known(file, entry string) bool {
	_, found := r.read(file, entry)
	return found
}

// Forget deletes the record of an entry that was removed.
func (r *Records) Forget(file, entry string) error {
	err := os.Remove(r.name(file, entry))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveSettings removes a file that was created for an entry, and the folders created
// with it, if they are empty. It refuses if the file has changed since it was read.
func (r *Records) RemoveSettings(file, entry string, old []byte) error {
	rec, found := r.read(file, entry)
	if current, err := ReadSettings(file); err != nil || !bytes.Equal(current, old) {
		return errors.Join(errors.New("the file was changed meanwhile: try again"), err)
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	if found {
		for _, dir := range rec.Made {
			if os.Remove(dir) != nil {
				break // it is not empty
			}
		}
	}
	return nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
