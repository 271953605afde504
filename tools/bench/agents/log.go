package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// entry is a line of log.jsonl, which records one command of the agent.
type entry struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Task  string    `json:"task"`
	Calls []logged  `json:"calls"`
}

// logged is one call with its answer. Sent is the number of bytes the model writes, for the tool's
// name and arguments; Received is the number of bytes it reads.
type logged struct {
	Tool      string `json:"tool"` // or "sh" for a shell command
	Arguments string `json:"arguments"`
	Sent      int    `json:"sent"`
	Received  int    `json:"received"`
	Failed    bool   `json:"failed"`
	Millis    int64  `json:"ms"`
	Text      string `json:"text"`
}

func (r *runRecord) append(e entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(r.dir, "log.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(data, '\n')) // one write per entry, so that simultaneous commands don't mix
	return err
}

func (r *runRecord) log() ([]entry, error) {
	data, err := os.ReadFile(filepath.Join(r.dir, "log.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []entry
	lines := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e entry
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, fmt.Errorf("log.jsonl, entry %d: %w", len(all)+1, err)
			}
			all = append(all, e)
		}
		if err == io.EOF {
			return all, nil
		}
	}
}

// turns counts the agent's turns. Commands that ran at the same time were sent together, so they
// count as one turn.
func turns(log []entry) int {
	n := 0
	var until time.Time
	for _, e := range log { // entries are written when commands end, so e.End never decreases
		if n == 0 || !e.Start.Before(until) {
			n++
		}
		until = e.End
	}
	return n
}

// tokens estimates the number of tokens as a quarter of the bytes, as docs/PROFILES.md does for
// definitions.
func tokens(bytes int) int { return (bytes + 3) / 4 }
