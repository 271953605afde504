package zoekt

import (
	"quarry/internal/remote"
	"quarry/internal/zoekt/wire"
)

// kindFileName asks for names as the result.
const kindFileName = 2

// encode writes the query as the message Q.
func encode(q remote.Query) []byte {
	switch q.Op {
	case remote.OpNone, remote.OpAll:
		b := wire.AppendTag(nil, 5, wire.Varint) // const
		if q.Op == remote.OpAll {
			return append(b, 1)
		}
		return append(b, 0)
	case remote.OpAnd, remote.OpOr:
		var body []byte
		for _, s := range q.Subs {
			body = wire.AppendMessage(body, 1, encode(s))
		}
		return wire.AppendMessage(nil, map[remote.Op]int{remote.OpAnd: 14, remote.OpOr: 15}[q.Op], body)
	case remote.OpNamesOnly:
		body := wire.AppendMessage(nil, 1, encode(q.Subs[0]))
		return wire.AppendMessage(nil, 12, wire.AppendInt(body, 2, kindFileName))
	case remote.OpSubstring:
		body := wire.AppendBool(wire.AppendString(nil, 1, q.Text), 2, !q.Fold)
		return wire.AppendMessage(nil, 13, wire.AppendBool(wire.AppendBool(body, 3, q.Name), 4, !q.Name))
	case remote.OpRegexp:
		body := wire.AppendBool(wire.AppendBool(wire.AppendString(nil, 1, q.Text), 2, q.Name), 3, !q.Name)
		return wire.AppendMessage(nil, 2, wire.AppendBool(body, 4, !q.Fold))
	case remote.OpRepos:
		var body []byte
		for _, s := range q.Set { // a map of names to true
			body = wire.AppendMessage(body, 1, wire.AppendBool(wire.AppendString(nil, 1, s), 2, true))
		}
		return wire.AppendMessage(nil, 10, body)
	case remote.OpPaths:
		var body []byte
		for _, s := range q.Set {
			body = wire.AppendString(body, 1, s)
		}
		return wire.AppendMessage(nil, 11, body)
	}
	return wire.AppendMessage(nil, 17, wire.AppendBool(wire.AppendString(nil, 1, q.Text), 2, true)) // a branch
}
