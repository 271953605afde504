package notebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/vault"
)

// DailyNote is the note of a day, or of another period.
type DailyNote struct {
	Path   string
	Note   *Note          // nil when there is none and none was made
	Change *change.Change // when it was made
}

// Daily finds the note of a period; with create it is made, from the template
// the settings name. date is a day as 2024-12-31, "today", "yesterday",
// "tomorrow", or a number of periods from now as +1 or -2.
func (b *Book) Daily(ctx context.Context, period vault.Period, date string, now time.Time, create bool, o Options) (*DailyNote, error) {
	period = cmp.Or(period, vault.Daily)
	core, err := b.ws.VaultFile(ctx, vault.DailyNotesFile)
	if err != nil {
		return nil, err
	}
	plugin, err := b.ws.VaultFile(ctx, vault.PeriodicNotesFile)
	if err != nil {
		return nil, err
	}
	s, err := vault.ParsePeriodic(period, core, plugin)
	if err != nil {
		return nil, err
	}
	day, err := parseDay(period, date, now)
	if err != nil {
		return nil, err
	}
	d := &DailyNote{Path: s.Path(vault.PeriodStart(period, day))}
	if d.Note, err = b.read(ctx, d.Path); err == nil || !errors.Is(err, fault.NotFound) {
		return d, err
	}
	d.Note = nil
	if !create {
		return d, nil
	}
	content := ""
	if s.Template != "" {
		t, err := b.Read(ctx, s.Template)
		if err != nil {
			return nil, fmt.Errorf("template of %s notes: %w", period, err)
		}
		title := strings.TrimSuffix(path.Base(d.Path), ".md")
		content = vault.FillTemplate(string(t.Text), title, day, now)
	}
	op := change.Op{Verb: change.CreateFile, Path: d.Path, Content: []byte(content)}
	if d.Change, err = b.apply(ctx, "created "+fault.Printable(d.Path), o, op); err != nil || o.DryRun {
		return d, err
	}
	d.Note, err = b.read(ctx, d.Path)
	return d, err
}

func parseDay(period vault.Period, date string, now time.Time) (time.Time, error) {
	switch s := strings.ToLower(strings.TrimSpace(date)); s {
	case "", "today", "now":
		return now, nil
	case "yesterday":
		return now.AddDate(0, 0, -1), nil
	case "tomorrow":
		return now.AddDate(0, 0, 1), nil
	default:
		if s[0] == '+' || s[0] == '-' {
			if n, err := strconv.Atoi(s); err == nil && n > -100_000 && n < 100_000 {
				return vault.PeriodAdd(period, now, n), nil
			}
		}
		if t, err := time.ParseInLocation("2006-01-02", s, now.Location()); err == nil {
			return time.Date(t.Year(), t.Month(), t.Day(), now.Hour(), now.Minute(), now.Second(), 0, now.Location()), nil
		}
	}
	return now, fault.New(fault.InvalidArgument, fmt.Sprintf("invalid date %q", date), "use 2024-12-31, today, yesterday, tomorrow, +1 or -1")
}
