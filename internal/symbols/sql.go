package symbols

import "bytes"

func hookSQL(l *lexer, c byte) bool {
	switch c {
	case '-':
		if l.peek(1) == '-' {
			return l.lineComment()
		}
		return false
	case '/':
		if l.peek(1) == '*' {
			return l.blockComment("/*", "*/", false)
		}
		return false
	case '#':
		if l.newLine {
			return l.lineComment()
		}
		return false
	case '"', '`':
		return l.quotedName(c)
	case '[':
		return l.quotedName(']')
	case '$':
		n := 1 + wordLen(l.text[l.at+1:], plainWord)
		if l.peek(n) == '$' { // $tag$ ... $tag$
			mark := string(l.text[l.at : l.at+n+1])
			if !bytes.Contains(l.text[l.at+n+1:min(len(l.text), l.at+1<<20)], []byte(mark)) {
				l.at += n + 1
				return true
			}
			return l.until(n+1, mark, false)
		}
		return false
	}
	return l.quoted(0, c, false, true)
}

// quotedName takes a name in quotes as a word, without them.
func (l *lexer) quotedName(end byte) bool {
	n := bytes.IndexByte(l.text[l.at+1:min(len(l.text), l.at+200)], end)
	if n <= 0 || bytes.IndexByte(l.text[l.at+1:l.at+1+n], '\n') >= 0 {
		return false
	}
	start := l.at + 1
	l.at = start + n
	l.emit(word, start)
	l.at++
	return true
}

var sqlKinds = map[string]Kind{
	"function": Function, "procedure": Function, "proc": Function, "trigger": Function, "aggregate": Function, "event": Function,
	"table": Table, "view": Table, "index": Table, "sequence": Table, "synonym": Table,
	"type": Type, "domain": Type, "schema": Module, "package": Module, "database": Module,
	"publication": Table, "service": Table,
}

// parseSQL reads CREATE statements, and the routines of PL/SQL packages.
func parseSQL(p *parser) {
	p.walk(func(i int) int {
		if !p.isWord(i) {
			return i + 1
		}
		switch lower(p.str(i)) {
		case "create":
			return p.sqlCreate(i)
		case "function", "procedure":
			if p.toks[i].first && p.isWord(i+1) && !p.is(i-1, ".") {
				p.sqlRoutine(i)
			}
		}
		return i + 1
	})
}

var sqlBetween = set("or replace temp temporary global local unlogged materialized unique external recursive force editionable noneditionable " +
	"definer public private bitmap fulltext spatial clustered nonclustered constraint virtual if not exists body concurrently nonconcurrently no editioning alter")

// sqlOther are unlisted kinds of objects that CREATE also makes. Their statements may
// name objects of other kinds.
var sqlOther = set("cast operator rule role user extension server policy transform language conversion collation")

func (p *parser) sqlCreate(i int) int {
	kind := Kind(0)
	k := i + 1
	for n := 0; n < 30 && k < len(p.toks); n++ {
		w := lower(p.str(k))
		if p.toks[k].kind == word {
			if kind == 0 && sqlOther.has([]byte(w)) {
				return i + 1
			}
			if found, ok := sqlKinds[w]; ok && kind == 0 {
				kind = found
			} else if (!sqlBetween.has([]byte(w)) || p.is(k+1, ".")) && kind != 0 { // public.name
				break
			}
		} else if kind != 0 && p.is(k, "@") && p.isWord(k+1) && p.is(k+2, "@") && p.is(k+3, ".") { // @extschema@.name
			k += 4
			continue
		} else if kind != 0 {
			return k
		}
		if p.is(k, ";") {
			return k
		}
		k++
	}
	if kind == 0 || !p.isWord(k) || lower(p.str(k)) == "on" {
		return i + 1
	}
	at := k
	for p.is(at+1, ".") && p.isWord(at+2) {
		at += 2
	}
	end := at
	for n := 0; end+1 < len(p.toks) && n < 4000 && !p.is(end, ";"); n++ {
		if p.is(end, "(") {
			end = p.after(end) - 1
		}
		end++
	}
	p.add(kind, at, i, end)
	return at + 1
}

// sqlRoutine reads a function or procedure inside a package.
func (p *parser) sqlRoutine(i int) {
	at := i + 1
	k := at + 1
	if p.is(k, "(") {
		k = p.after(k)
	}
	for n := 0; k < len(p.toks) && n < 40; n++ {
		switch {
		case p.is(k, ";"):
			return // only declared
		case lower(p.str(k)) == "is" || lower(p.str(k)) == "as":
			p.add(Function, at, i, k)
			return
		}
		k++
	}
}
