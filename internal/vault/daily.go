package vault

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"quarry/fault"
)

// Period is how often a periodic note is written.
type Period string

// The periods.
const (
	Daily     Period = "daily"
	Weekly    Period = "weekly"
	Monthly   Period = "monthly"
	Quarterly Period = "quarterly"
	Yearly    Period = "yearly"
)

// Periods lists them.
var Periods = []Period{Daily, Weekly, Monthly, Quarterly, Yearly}

var defaultFormats = map[Period]string{
	Daily: "YYYY-MM-DD", Weekly: "gggg-[W]ww", Monthly: "YYYY-MM", Quarterly: "YYYY-[Q]Q", Yearly: "YYYY",
}

// PeriodicSettings say where the notes of a period are.
type PeriodicSettings struct {
	Folder   string // "" is the top
	Format   string // of the name, with the tokens of moment.js; may contain "/"
	Template string // path of a note, ".md" optional; "" for none
}

// The files those settings are in, below .obsidian.
const (
	DailyNotesFile    = "daily-notes.json"
	PeriodicNotesFile = "plugins/periodic-notes/data.json"
)

// ParsePeriodic reads the settings of a period: those of the plugin Periodic
// Notes if it has the period switched on, else those of the core plugin for
// daily notes, else the defaults. Empty input is not an error.
func ParsePeriodic(period Period, core, plugin []byte) (PeriodicSettings, error) {
	s := PeriodicSettings{Format: defaultFormats[period]}
	if s.Format == "" {
		return s, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid period %q", period), "use daily, weekly, monthly, quarterly or yearly")
	}
	type raw struct {
		Folder, Format, Template, TemplatePath string
		Enabled                                *bool
	}
	take := func(r raw) {
		s.Folder = strings.Trim(r.Folder, "/")
		if r.Format != "" {
			s.Format = r.Format
		}
		if s.Template = r.Template; s.Template == "" {
			s.Template = r.TemplatePath
		}
	}
	var all map[string]json.RawMessage
	if len(strings.TrimSpace(string(plugin))) > 0 {
		if err := json.Unmarshal(plugin, &all); err != nil {
			return s, fmt.Errorf("%s: %w", PeriodicNotesFile, err)
		}
	}
	for _, set := range []map[string]json.RawMessage{all, calendarSet(all)} {
		var r raw
		if v, ok := set[string(period)]; ok && json.Unmarshal(v, &r) == nil && r.Enabled != nil && *r.Enabled {
			take(r)
			return s, nil
		}
	}
	if period == Daily && len(strings.TrimSpace(string(core))) > 0 {
		var r raw
		if err := json.Unmarshal(core, &r); err != nil {
			return s, fmt.Errorf("%s: %w", DailyNotesFile, err)
		}
		take(r)
	}
	return s, nil
}

// calendarSet is the active set of the plugin's version 1.
func calendarSet(all map[string]json.RawMessage) map[string]json.RawMessage {
	var active string
	var sets []map[string]json.RawMessage
	_ = json.Unmarshal(all["activeCalendarSet"], &active)
	if json.Unmarshal(all["calendarSets"], &sets) != nil {
		return nil
	}
	for _, set := range sets {
		var id string
		if json.Unmarshal(set["id"], &id) == nil && (id == active || len(sets) == 1) {
			return set
		}
	}
	return nil
}

// PeriodStart returns the first day of the period a day is in; weeks begin on
// Sunday, as moment.js has it in English.
func PeriodStart(p Period, t time.Time) time.Time {
	day := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, t.Location())
	switch p {
	case Weekly:
		return day.AddDate(0, 0, -int(t.Weekday()))
	case Monthly:
		return day.AddDate(0, 0, 1-t.Day())
	case Quarterly:
		return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, t.Hour(), t.Minute(), t.Second(), 0, t.Location())
	case Yearly:
		return time.Date(t.Year(), 1, 1, t.Hour(), t.Minute(), t.Second(), 0, t.Location())
	}
	return day
}

// PeriodAdd moves a day by so many periods.
func PeriodAdd(p Period, t time.Time, n int) time.Time {
	switch p {
	case Weekly:
		return t.AddDate(0, 0, 7*n)
	case Monthly:
		return PeriodStart(p, t).AddDate(0, n, 0)
	case Quarterly:
		return PeriodStart(p, t).AddDate(0, 3*n, 0)
	case Yearly:
		return PeriodStart(p, t).AddDate(n, 0, 0)
	}
	return t.AddDate(0, 0, n)
}

// Path returns the path of the note of a day.
func (s *PeriodicSettings) Path(t time.Time) string {
	return withMD(join(s.Folder, FormatMoment(s.Format, t)))
}

// FillTemplate replaces {{date}}, {{time}} and {{title}}, and the first two with
// a format of their own ({{date:YYYY}}), in the text of a template.
func FillTemplate(template, title string, day, now time.Time) string {
	var b strings.Builder
	for {
		at := strings.Index(template, "{{")
		if at < 0 {
			break
		}
		end := strings.Index(template[at:], "}}")
		if end < 0 {
			break
		}
		b.WriteString(template[:at])
		name, format, has := strings.Cut(template[at+2:at+end], ":")
		stamp := time.Date(day.Year(), day.Month(), day.Day(), now.Hour(), now.Minute(), now.Second(), 0, now.Location())
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "date":
			if !has {
				format = "YYYY-MM-DD"
			}
			b.WriteString(FormatMoment(strings.TrimSpace(format), stamp))
		case "time":
			if !has {
				format = "HH:mm"
			}
			b.WriteString(FormatMoment(strings.TrimSpace(format), stamp))
		case "title":
			b.WriteString(title)
		default:
			b.WriteString(template[at : at+end+2])
		}
		template = template[at+end+2:]
	}
	b.WriteString(template)
	return b.String()
}
