package colour

import "strings"

// markup colours HTML and XML.
func markup(text string, add func(int, Class)) {
	for len(text) > 0 {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			i = len(text)
		}
		add(i, Plain)
		text = text[i:]
		switch {
		case text == "":
		case strings.HasPrefix(text, "<!--"):
			n := until(text, "-->")
			add(n, Comment)
			text = text[n:]
		case strings.HasPrefix(text, "<![CDATA["):
			n := until(text, "]]>")
			add(n, String)
			text = text[n:]
		default:
			text = tag(text, add)
		}
	}
}

// tag colours the tag at the start of text and returns the text after it.
func tag(text string, add func(int, Class)) string {
	n := 1
	for n < len(text) && strings.IndexByte("/?!", text[n]) >= 0 {
		n++
	}
	name := wordLen(text[n:], "-.:")
	if name == 0 {
		add(1, Plain)
		return text[1:]
	}
	add(n+name, Keyword)
	text = text[n+name:]
	for len(text) > 0 {
		c := text[0]
		switch {
		case c == '>':
			add(1, Keyword)
			return text[1:]
		case c == '<':
			return text
		case c == '"' || c == '\'':
			n = 1 + until(text[1:], text[:1])
			add(n, String)
		case wordLen(text, "-.:@") > 0:
			n = wordLen(text, "-.:@")
			add(n, Number)
		default:
			n = 1
			add(1, Plain)
		}
		text = text[n:]
	}
	return text
}

// until returns the length of text up to and including end, or the whole length if end is missing.
func until(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

// markdown colours headings, code, quotes and list markers.
func markdown(text string, add func(int, Class)) {
	fence, front := "", strings.HasPrefix(text, "---\n")
	for first := true; len(text) > 0; first = false {
		n := lineLen(text)
		line := text[:n]
		trimmed := strings.TrimLeft(line, " \t")
		switch {
		case fence != "":
			add(n, String)
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" \r") == "" {
				fence = ""
			}
		case front:
			property(line, add)
			front = first || strings.TrimRight(line, "\r ") != "---"
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
			add(n, String)
		case heading(trimmed):
			add(n, Function)
		case strings.HasPrefix(trimmed, ">"):
			add(n, Comment)
		default:
			inline(line, trimmed, add)
		}
		if n < len(text) {
			add(1, Plain)
			n++
		}
		text = text[n:]
	}
}

func heading(s string) bool {
	n := len(s) - len(strings.TrimLeft(s, "#"))
	return n > 0 && n <= 6 && (len(s) == n || s[n] == ' ')
}

// property colours a line of front matter.
func property(line string, add func(int, Class)) {
	if i := strings.IndexByte(line, ':'); i > 0 && line[0] != ' ' && line[0] != '-' {
		add(i, Keyword)
		line = line[i:]
	}
	add(len(line), Plain)
}

// inline colours a list marker, code, links and emphasis in a line.
func inline(line, trimmed string, add func(int, Class)) {
	if n := len(line) - len(trimmed); len(trimmed) > 1 && strings.IndexByte("-*+", trimmed[0]) >= 0 && trimmed[1] == ' ' {
		add(n, Plain)
		add(1, Keyword)
		line = trimmed[1:]
	}
	for len(line) > 0 {
		n, c := 1, Plain
		switch {
		case line[0] == '`':
			marks := len(line) - len(strings.TrimLeft(line, "`"))
			if i := strings.Index(line[marks:], line[:marks]); i >= 0 {
				n, c = marks+i+marks, String
			} else {
				n = marks
			}
		case strings.HasPrefix(line, "[["):
			if i := strings.Index(line, "]]"); i >= 0 {
				n, c = i+2, Number
			}
		case strings.HasPrefix(line, "**"):
			if i := strings.Index(line[2:], "**"); i > 0 {
				n, c = i+4, Type
			}
		case strings.HasPrefix(line, "https://"), strings.HasPrefix(line, "http://"):
			if n = strings.IndexAny(line, " \t)>]\r"); n < 0 {
				n = len(line)
			}
			c = Number
		}
		add(n, c)
		line = line[n:]
	}
}

// diff colours the lines of a patch.
func diff(text string, add func(int, Class)) {
	for len(text) > 0 {
		n := lineLen(text)
		line := text[:n]
		c := Plain
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
			c = Keyword
		case strings.HasPrefix(line, "@@"):
			c = Function
		case strings.HasPrefix(line, "+"):
			c = String
		case strings.HasPrefix(line, "-"):
			c = Comment
		}
		add(n, c)
		if n < len(text) {
			add(1, Plain)
			n++
		}
		text = text[n:]
	}
}
