package textedit

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/textfile"
)

// Overwriting returns UTF-8 text in the encoding of the file that it overwrites, with its byte order mark,
// and its line ending if the text has only \n. data is nil if the text is written unchanged; otherwise kept
// names the properties taken from the file.
func Overwriting(old *textfile.Text, content []byte) (data []byte, kept string, err error) {
	enc, text := old.Encoding(), string(content)
	if old.Len() == 0 || text == "" || !utf8.ValidString(text) || strings.HasPrefix(text, textfile.UTF8BOM.BOM()) || strings.Contains(text, "\x00") {
		return nil, "", nil
	}
	var what []string
	if strings.Contains(text, "\n") && !strings.Contains(text, "\r\n") && old.Endings().Dominant() == textfile.CRLF {
		text, what = textfile.CRLF.Convert(text), append(what, "CRLF")
	}
	if enc != textfile.UTF8 {
		what = append(what, enc.String())
	}
	if len(what) == 0 {
		return nil, "", nil
	}
	if enc == textfile.Windows1252 && old.Guessed() && strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		return nil, "", &GuessError{Encoding: enc}
	}
	data, err = enc.Append([]byte(enc.BOM()), text)
	if err != nil {
		return nil, "", err
	}
	return data, strings.Join(what, " and "), nil
}
