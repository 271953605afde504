package cli

import (
	"os"
	"path/filepath"
	"strconv"

	"quarry"
	"quarry/internal/config"
)

// personal are the options of a person's own commands: every file of the folder
// may be searched, by the ignore rules of git and ripgrep.
func personal(root string, workers int) *quarry.Options {
	opts := &quarry.Options{Trusted: true, AllowAny: true, Workers: workers}
	follow := config.FollowOutside(root, os.Getenv)
	opts.Outside = func() ([]byte, []quarry.IgnoreFile, bool) {
		global, above, changed := follow.Rules()
		files := make([]quarry.IgnoreFile, len(above))
		for i, f := range above {
			files[i] = quarry.IgnoreFile(f)
		}
		return global, files, changed
	}
	opts.GlobalIgnore, opts.IgnoreAbove, _ = opts.Outside()
	return opts
}

// indexPlace says where the index of a folder is. All processes share one index,
// whatever they may see.
func indexPlace(root string) (*quarry.IndexOptions, error) {
	cache, err := config.CacheDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	runtime, err := config.RuntimeDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	id := config.RootID(root)
	home := filepath.Join(cache, "index")
	return &quarry.IndexOptions{
		Home:    home,
		Dir:     filepath.Join(home, id),
		Socket:  filepath.Join(runtime, id+".sock"),
		Version: version(), Program: thisProgram(),
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

// asking lets a short command use the index of a process that owns one.
func asking(root string, opts *quarry.Options) {
	if place, err := indexPlace(root); err == nil {
		place.Ask = true
		opts.Index = place
	}
}
