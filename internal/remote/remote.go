// Package remote says what can be asked of servers that have the text of
// repositories: which documents satisfy a condition, and what is in them. It
// holds data; a Client asks.
package remote

import (
	"context"
	"fmt"
	"hash/crc64"
	"time"
)

// Client asks a set of servers, each of which has repositories of its own. It is
// safe for concurrent use. An answer is all of it or an error.
type Client interface {
	// Servers is how many there are, and Name how one was given.
	Servers() int
	Name(server int) string
	// List asks all servers which repositories they have, in the order of their
	// names.
	List(ctx context.Context) ([]Repo, []Failure)
	// Search asks one server for the documents of a query, in no order, with
	// their content or without. Some is for a few that need not be all.
	Search(ctx context.Context, server int, q Query, content bool) ([]Doc, error)
	Some(ctx context.Context, server int, q Query, most int) ([]Doc, error)
	Close()
}

// Doc is a document a server found.
type Doc struct {
	Repo   string
	Path   string // in the repository
	Commit string
	// Sum is the CRC-64 (ISO) of what the server keeps, see Checksum.
	Sum     uint64
	Content []byte // when asked for
}

// Repo is a repository a server has.
type Repo struct {
	Name    string
	Branch  string
	Commit  string
	Changed time.Time // when that commit was made; zero if unknown
	Indexed time.Time
	Files   int
	Bytes   int64
	Server  int // which of the client's servers has it
}

// Failure is a server that could not answer.
type Failure struct {
	Server int
	Name   string
	Err    error
}

func (f Failure) Error() string { return fmt.Sprintf("server %s: %v", f.Name, f.Err) }

// Checksum is Doc.Sum of a content.
func Checksum(content []byte) uint64 { return crc64.Checksum(content, crc64.MakeTable(crc64.ISO)) }
