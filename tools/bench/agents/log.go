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

// entry is a line of log.jsonl: one command of the agent.
type entry struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Task  string    `json:"task"`
	Calls []logged  `json:"calls"`
}

// logged is one call with its answer. Sent and Received count the bytes that the
// model writes and reads: the tool's name and the arguments, and the text.
type logged struct {
	Tool      string `json:"tool"` // or sh
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
	_, err = f.Write(append(data, '\n')) // a single write keeps entries of simultaneous commands apart
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

// turns counts how often the agent waited: commands that ran at the same time
// were sent together and count as one turn.
func turns(log []entry) int {
	n := 0
	var until time.Time
	for _, e := range log { // entries are written at the end of commands, so e.End never decreases
		if n == 0 || !e.Start.Before(until) {
			n++
		}
		until = e.End
	}
	return n
}

// tokens estimates 4 bytes a token, as docs/PROFILES.md does for definitions.
func tokens(bytes int) int { return (bytes + 3) / 4 }
