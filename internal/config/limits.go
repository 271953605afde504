package config

import (
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

// Limits sets the limits of a folder's undo log, and the maximum size of a changed file.
func (f *File) Limits(env Env, root string, opts *quarry.Options) error {
	if err := f.Bytes(env, root, "journal.keep-size", &opts.KeepBytes); err != nil {
		return err
	}
	if err := f.Bytes(env, root, "change.max-size", &opts.MaxSize); err != nil {
		return err
	}
	age, err := f.Get(env, root, "journal.keep-age")
	if err == nil && age.Source != FromDefault {
		opts.KeepAge, err = time.ParseDuration(age.Text)
	}
	return err
}
