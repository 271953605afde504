package config

import (
	"errors"
	"strconv"
	"time"

	"quarry"
)

// Bytes sets a size to the value of a key, unless that is the default.
func (f *File) Bytes(env Env, root, key string, to *int64) error {
	size, err := f.Get(env, root, key)
	if err == nil && size.Source != FromDefault {
		*to, err = strconv.ParseInt(size.Text, 10, 64)
	}
	return err
}

// Duration does the same for a time.
func (f *File) Duration(env Env, root, key string, to *time.Duration) error {
	age, err := f.Get(env, root, key)
	if err == nil && age.Source != FromDefault {
		*to, err = time.ParseDuration(age.Text)
	}
	return err
}

// Limits sets the limits of a folder's undo log, and the maximum size of a changed file.
func (f *File) Limits(env Env, root string, opts *quarry.Options) error {
	return errors.Join(f.Bytes(env, root, "journal.keep-size", &opts.KeepBytes), f.Duration(env, root, "journal.keep-age", &opts.KeepAge),
		f.Bytes(env, root, "change.max-size", &opts.MaxSize))
}
