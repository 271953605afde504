package env

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"quarry"
	"quarry/change"
	"quarry/internal/config"
)

// Settings holds the settings from quarry.toml for this run.
type Settings struct {
	Off        bool // --no-config
	Completing bool // a shell requests completions
	file       *config.File
	Given      map[string]bool // flags given on the command line
	Unwritten  error           // first write error of Say
}

// File returns the configuration file, which is read at the first call.
func (s Streams) File() (*config.File, error) {
	if s.Conf == nil || s.Conf.Off {
		return &config.File{}, nil
	}
	if s.Conf.file == nil {
		f, err := config.Load(s.Env())
		if err != nil {
			return nil, err
		}
		s.Conf.file = f
	}
	return s.Conf.file, nil
}

// Journal sets the limits of a folder's undo log, and the maximum size of a changed file.
func (s Streams) Journal(root string, opts *quarry.Options) error {
	file, err := s.File()
	if err != nil {
		return err
	}
	return file.Limits(s.Env(), root, opts)
}

// ForRoot returns the value of a key in the section of a root, unless a flag or the environment
// sets the key. A server of several roots calls it for each root.
func (s Streams) ForRoot(root, key string) (v config.Value, ok bool) {
	file, err := s.File()
	if err != nil || s.Conf == nil {
		return v, false
	}
	set, err := file.Get(s.Env(), root, key)
	if err != nil || set.Source != config.FromRoot || s.Conf.Given[set.Name] {
		return v, false
	}
	return set.Value, true
}

// SectionOf applies a root's section of the configuration to an agent's options. It matters for
// servers of several roots; for a single root, the flags already have these values.
func (s Streams) SectionOf(root string, opts *quarry.Options) {
	if v, ok := s.ForRoot(root, "mcp.allow"); ok {
		opts.Allow = v.List
	}
	if v, ok := s.ForRoot(root, "mcp.deny"); ok {
		opts.Deny = v.List
	}
	if v, ok := s.ForRoot(root, "mcp.trash"); ok {
		opts.Trash = change.TrashKind(v.Text)
	}
	if v, ok := s.ForRoot(root, "mcp.read-only"); ok {
		opts.ReadOnly = v.Text == "true"
	}
	if v, ok := s.ForRoot(root, "mcp.force"); ok {
		opts.AllowAny = v.Text == "true"
	}
}

// ReviewWait returns how long a change waits for a decision.
func (s Streams) ReviewWait(root string) (time.Duration, error) {
	file, err := s.File()
	if err != nil {
		return 0, err
	}
	set, err := file.Get(s.Env(), root, "review.wait")
	if err != nil || set.Source == config.FromDefault {
		return 0, err
	}
	wait, err := config.ParseDuration(set.Text)
	if err == nil && wait == 0 {
		wait = -1
	}
	return wait, err
}

// KeepsActivity reports whether tool calls in a root are recorded.
func (s Streams) KeepsActivity(root string) bool {
	file, err := s.File()
	if err != nil {
		return false
	}
	set, err := file.Get(s.Env(), root, "mcp.activity")
	return err == nil && set.Text != "false"
}

// ReviewRules returns the rules for changes in a root. It reads the file every time, so that new
// rules apply at once.
func (s Streams) ReviewRules(root string) (config.Setting, error) {
	file := &config.File{}
	if s.Conf != nil && !s.Conf.Off {
		var err error
		if file, err = config.Load(s.Env()); err != nil {
			return config.Setting{}, err
		}
	}
	return file.Get(s.Env(), root, "review.rules")
}

// IndexCap sets the limit on the total size of all indexes.
func (s Streams) IndexCap(root string, place *quarry.IndexOptions) error {
	file, err := s.File()
	if err != nil {
		return err
	}
	return file.Bytes(s.Env(), root, "index.max-size", &place.MaxBytes)
}

// Recorded holds the flags --record and --no-record.
type Recorded struct{ on, off bool }

// Add adds both flags.
func (r *Recorded) Add(fl *pflag.FlagSet) {
	fl.BoolVar(&r.on, "record", false, "record what other programs change, to list and undo it")
	fl.BoolVar(&r.off, "no-record", false, "don't record what other programs change")
}

// Record sets whether the process requests recording of the changes in a root: as a flag says, else
// as the setting record.on says, else def.
func (s Streams) Record(root string, r Recorded, def bool, opts *quarry.Options) error {
	if r.on && r.off {
		return errors.New("give --record or --no-record, not both")
	}
	file, err := s.File()
	if err != nil {
		return err
	}
	set, err := file.Get(s.Env(), root, "record.on")
	if err != nil {
		return err
	}
	if set.Source != config.FromDefault {
		def = set.Text == "true"
	}
	if !def && !r.on || r.off || opts.Index == nil || opts.Index.Ask {
		return nil
	}
	record, size := &quarry.RecordOptions{}, int64(-1)
	if err := file.Bytes(s.Env(), root, "record.max-size", &size); err != nil || size == 0 {
		return err
	}
	record.MaxBytes, opts.Index.Record = max(size, 0), record
	return file.Duration(s.Env(), root, "record.keep-age", &record.KeepAge)
}
