package render

import (
	"fmt"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
)

// Since returns " since" and a time, without the date if it is today. It returns "" if
// the time is unknown.
func Since(t time.Time) string {
	form := time.DateTime
	if t.IsZero() {
		return ""
	}
	if t = t.Local(); t.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		form = time.TimeOnly
	}
	return " since " + t.Format(form)
}

// Recording describes the state of the recording of other programs' changes.
func Recording(st *change.Recording) string {
	var b strings.Builder
	switch {
	case st.Problem != "":
		fmt.Fprintf(&b, "changes of other programs are not recorded: %s\n", fault.Printable(st.Problem))
	case st.Starting:
		return "changes of other programs will be recorded once all files have been read\n"
	case !st.On:
		return "changes of other programs are not recorded: quarry ui, or quarry serve --record, does it\n"
	default:
		fmt.Fprintf(&b, "changes of other programs are recorded%s: %s covered, %s of %s\n", Since(st.Since), fault.Count(st.Files, "file"), Size(st.Bytes), Size(st.MaxBytes))
	}
	for _, row := range []struct {
		n    int
		what string
	}{
		{st.TooLarge, "too large: texts over 4 MB, binary files over 1 MB"},
		{st.OverBudget, "beyond the limit (record.max-size)"},
		{st.Unreadable, "can't be read"},
	} {
		if row.n > 0 {
			fmt.Fprintf(&b, "contents not kept of %s: %s\n", fault.Count(row.n, "file"), row.what)
		}
	}
	if st.Omitted > 0 {
		fmt.Fprintf(&b, "%s not recorded, of such files or of files that are rewritten all the time\n", fault.Count(st.Omitted, "change"))
	}
	if st.Unwatched > 0 {
		fmt.Fprintf(&b, "%s not watched: what changes there is found when the log is asked for, or within 15 minutes\n", fault.Count(st.Unwatched, "folder is", "folders are"))
	}
	return b.String()
}
