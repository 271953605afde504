package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"quarry"
	"quarry/internal/config"
)

// personal is how a person's own commands open a folder: everything in it may
// be searched, by the rules git and ripgrep would use.
func personal(root string, workers int) *quarry.Options {
	opts := &quarry.Options{
		Trusted: true, AllowAny: true, Workers: workers,
		GlobalIgnore: config.GlobalExcludes(os.Getenv),
	}
	for _, f := range config.RulesAbove(root) {
		opts.IgnoreAbove = append(opts.IgnoreAbove, quarry.IgnoreFile(f))
	}
	return opts
}

// indexPlace says where the index of a folder lives when it is opened with
// these options. Uses that see different files have different indexes.
func indexPlace(root string, opts *quarry.Options) (*quarry.IndexOptions, error) {
	cache, err := config.CacheDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	runtime, err := config.RuntimeDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	id := config.RootID(root, fingerprint(opts))
	home := filepath.Join(cache, "index")
	return &quarry.IndexOptions{
		Home:   home,
		Dir:    filepath.Join(home, id),
		Socket: filepath.Join(runtime, id+".sock"),
	}, nil
}

// indexCap sets how much all indexes together may take.
func (s Streams) indexCap(root string, place *quarry.IndexOptions) error {
	file, err := s.file()
	if err != nil {
		return err
	}
	size, err := file.Get(s.getenv(), root, "index.max-size")
	if err == nil && size.Source != config.FromDefault {
		place.MaxBytes, err = strconv.ParseInt(size.Text, 10, 64)
	}
	return err
}

// fingerprint tells options apart that make a workspace see other files.
func fingerprint(o *quarry.Options) string {
	h := sha256.New()
	fmt.Fprintf(h, "%v %q %q %q", o.Trusted, o.Allow, o.Deny, o.GlobalIgnore)
	for _, f := range o.IgnoreAbove {
		fmt.Fprintf(h, " %q %q %q", f.Name, f.Above, f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// asking lets a short command use the index of a process that keeps one.
func asking(root string, opts *quarry.Options) {
	if place, err := indexPlace(root, opts); err == nil {
		place.Ask = true
		opts.Index = place
	}
}
