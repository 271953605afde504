package zoekt

import (
	"encoding/binary"
	"time"

	"quarry/internal/remote"
	"quarry/internal/zoekt/wire"
)

// unlimited is for limits that we set ourselves: the server's own defaults
// would cut an answer in silence.
const unlimited = 1<<31 - 1

// encodeSearch writes a StreamSearchRequest.
func encodeSearch(q remote.Query, whole bool, most int, wall time.Duration) []byte {
	if most <= 0 {
		most = unlimited
	}
	opts := wire.AppendBool(nil, 2, whole)
	opts = wire.AppendInt(opts, 3, int64(most)) // matches of a shard
	opts = wire.AppendInt(opts, 4, int64(most)) // of all
	var d []byte
	d = wire.AppendInt(d, 1, int64(wall/time.Second))
	d = wire.AppendInt(d, 2, int64(wall%time.Second))
	opts = wire.AppendMessage(opts, 6, d)
	opts = wire.AppendBool(opts, 10, true) // chunks: a document has one at least, so the leaner form
	request := wire.AppendMessage(wire.AppendMessage(nil, 1, encode(q)), 2, opts)
	return wire.AppendMessage(nil, 3, request)
}

// encodeList writes a ListRequest for every repository.
func encodeList() []byte {
	const fieldRepos = 1
	return wire.AppendMessage(wire.AppendMessage(nil, 1, encode(remote.Query{})), 2, wire.AppendInt(nil, 1, fieldRepos))
}

// found is what the messages of one search said.
type found struct {
	docs    []remote.Doc
	crashes uint64 // of shards, and 1 while a server is loading its own
	skipped uint64 // shards and documents that were not looked at
}

// addChunk reads a StreamSearchResponse.
func (r *found) addChunk(message []byte) error {
	return wire.Each(message, func(f *wire.Field) error {
		if !f.Is(6, wire.Bytes) {
			return nil
		}
		return wire.Each(f.Data, r.responseField)
	})
}

func (r *found) responseField(f *wire.Field) error {
	switch {
	case f.Is(1, wire.Bytes):
		return wire.Each(f.Data, func(f *wire.Field) error {
			switch {
			case f.Is(3, wire.Varint):
				r.crashes += f.Int
			case f.Is(9, wire.Varint), f.Is(11, wire.Varint):
				r.skipped += f.Int
			}
			return nil
		})
	case f.Is(3, wire.Bytes):
		var d remote.Doc
		if err := readDoc(&d, f.Data); err != nil {
			return err
		}
		r.docs = append(r.docs, d)
	}
	return nil
}

// readDoc reads a FileMatch.
func readDoc(d *remote.Doc, message []byte) error {
	return wire.Each(message, func(f *wire.Field) error {
		switch {
		case f.Is(3, wire.Bytes):
			d.Path = string(f.Data)
		case f.Is(4, wire.Bytes):
			d.Repo = string(f.Data)
		case f.Is(10, wire.Bytes):
			d.Content = f.Data
		case f.Is(11, wire.Bytes):
			if len(f.Data) == 8 {
				d.Sum = binary.BigEndian.Uint64(f.Data)
			}
		case f.Is(15, wire.Bytes):
			d.Commit = string(f.Data)
		}
		return nil
	})
}

// readList reads a ListResponse.
func readList(message []byte) (repos []remote.Repo, crashes uint64, err error) {
	err = wire.Each(message, func(f *wire.Field) error {
		switch {
		case f.Is(1, wire.Bytes):
			r, dead, err := readRepo(f.Data)
			if err != nil {
				return err
			}
			if !dead && r.Name != "" {
				repos = append(repos, r)
			}
		case f.Is(3, wire.Varint):
			crashes += f.Int
		}
		return nil
	})
	return repos, crashes, err
}

// readRepo reads a RepoListEntry; dead is one that is there no longer.
func readRepo(message []byte) (r remote.Repo, dead bool, err error) {
	err = wire.Each(message, func(f *wire.Field) error {
		switch {
		case f.Is(1, wire.Bytes):
			return wire.Each(f.Data, func(f *wire.Field) (err error) {
				switch {
				case f.Is(2, wire.Bytes):
					r.Name = string(f.Data)
				case f.Is(5, wire.Bytes) && r.Commit == "": // the first is HEAD
					r.Branch, r.Commit, err = readBranch(f.Data)
				case f.Is(15, wire.Varint):
					dead = f.Int != 0
				case f.Is(16, wire.Bytes):
					r.Changed, err = readTime(f.Data)
				}
				return err
			})
		case f.Is(2, wire.Bytes):
			return wire.Each(f.Data, func(f *wire.Field) (err error) {
				if f.Is(4, wire.Bytes) {
					r.Indexed, err = readTime(f.Data)
				}
				return err
			})
		case f.Is(3, wire.Bytes):
			return wire.Each(f.Data, func(f *wire.Field) error {
				switch {
				case f.Is(3, wire.Varint):
					r.Files = int(min(f.Int, unlimited))
				case f.Is(5, wire.Varint):
					r.Bytes = int64(min(f.Int, 1<<62))
				}
				return nil
			})
		}
		return nil
	})
	return r, dead, err
}

func readBranch(message []byte) (name, version string, err error) {
	err = wire.Each(message, func(f *wire.Field) error {
		switch {
		case f.Is(1, wire.Bytes):
			name = string(f.Data)
		case f.Is(2, wire.Bytes):
			version = string(f.Data)
		}
		return nil
	})
	return name, version, err
}

// readTime reads a Timestamp. Go's zero time is sent for one that is unknown.
func readTime(message []byte) (time.Time, error) {
	var sec, nano int64
	err := wire.Each(message, func(f *wire.Field) error {
		switch {
		case f.Is(1, wire.Varint):
			sec = int64(f.Int)
		case f.Is(2, wire.Varint):
			nano = int64(f.Int)
		}
		return nil
	})
	if err != nil || sec <= 0 || sec > 1<<40 || nano < 0 || nano >= 1e9 {
		return time.Time{}, err
	}
	return time.Unix(sec, nano).UTC(), nil
}
