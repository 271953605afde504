package owner

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"

	"quarry/match"
	"quarry/search"
)

// textsRequest is a search.TextQuery in the form sent to an owner.
type textsRequest struct {
	Scope  search.Scope
	Having match.Need
	Names  []string
	Fields bool // the client wants the fields in the index
	// Extractor is the version of the client's extractor.
	Extractor uint32
	Keys      []uint64
	Want      uint64
}

// query returns the search.TextQuery of a request, or nil for a nil request.
func (r *textsRequest) query() *search.TextQuery {
	if r == nil {
		return nil
	}
	q := &search.TextQuery{Scope: r.Scope, Having: r.Having, Names: r.Names}
	if r.Fields {
		q.Fields = &search.FieldQuery{Keys: r.Keys, Want: r.Want}
	}
	return q
}

// TextsAnswer is the last message of the answer to a Texts request.
type TextsAnswer struct {
	Read []string // files that the client has to read
	search.Summary
}

// fieldsBatch is how many bytes of fields are sent in one message.
const fieldsBatch = 64 << 10

// Field sends a file's path, counts and values from the index, each preceded by its
// length. Errors are reported by Finish.
func (r *Request) Field(path string, values []byte, counts []uint8) {
	if len(r.buf) == 0 {
		r.buf = append(r.buf, msgFields)
	}
	for _, b := range [][]byte{[]byte(path), counts, values} {
		r.buf = append(binary.AppendUvarint(r.buf, uint64(len(b))), b...)
	}
	if len(r.buf) >= fieldsBatch && r.failed == nil {
		r.failed = r.flushFields()
	}
}

// flushFields sends the buffered fields.
func (r *Request) flushFields() error {
	if r.failed == nil && len(r.buf) > 1 {
		r.failed = r.send(r.buf)
		r.buf = r.buf[:1]
	}
	return r.failed
}

// Fields gets the fields of files from the owner and passes them to look. The summary is
// nil if there was no complete answer; look may have been called nevertheless.
func (m *Member) Fields(ctx context.Context, q *search.TextQuery, look func(path string, values []byte, counts []uint8)) (read []string, sum *search.Summary, err error) {
	if q.NoIndex {
		return nil, nil, nil
	}
	req := &textsRequest{Scope: q.Scope, Having: q.Having, Names: q.Names, Extractor: m.extractor()}
	if q.Fields != nil {
		req.Fields, req.Keys, req.Want = true, q.Fields.Keys, q.Fields.Want
	}
	var answer *TextsAnswer
	err = m.ask(ctx, request{Texts: req}, func(kind byte, body []byte) error {
		switch kind {
		case msgFields:
			return m.eachField(body, look)
		case msgTexts:
			answer = &TextsAnswer{}
			return gob.NewDecoder(bytes.NewReader(body)).Decode(answer)
		}
		return errWire
	})
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil || answer == nil:
		return nil, nil, nil
	}
	for _, path := range answer.Read {
		if !m.mayKnow(path) {
			return nil, nil, nil
		}
	}
	answer.Stats.Remote = true
	return answer.Read, &answer.Summary, nil
}

// extractor returns the version of the extractor of fields, or 0 if there is none.
func (m *Member) extractor() uint32 {
	if m == nil || m.opts.Fields == nil {
		return 0
	}
	return m.opts.Fields.Version
}

// eachField calls look for the files in a message.
func (m *Member) eachField(body []byte, look func(path string, values []byte, counts []uint8)) error {
	for len(body) > 0 {
		var part [3][]byte
		for i := range part {
			n, k := binary.Uvarint(body)
			if k <= 0 || n > uint64(len(body)-k) {
				return errWire
			}
			part[i] = body[k : k+int(n)]
			body = body[k+int(n):]
		}
		path := string(part[0])
		if !m.mayKnow(path) {
			return errWire
		}
		look(path, part[2], part[1])
	}
	return nil
}
