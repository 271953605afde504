package textedit

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/textfile"
)

// Overwriting converts UTF-8 text that overwrites a file to the file's encoding, with its byte
// order mark. If the text has only \n, its line endings become the file's. data is nil if the
// text needs no change. Otherwise kept names the properties that were taken from the file.
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
