package printing

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"quarry/internal/progress"
	"quarry/internal/render"
)

// Progress shows the progress of long work on one line of a terminal: a bar, the speed and the
// remaining time. It uses no colour, to be readable on any background. A nil Progress shows
// nothing; it is used in pipes and with --quiet.
type Progress struct {
	w       io.Writer
	width   func() int // number of columns of the terminal
	doing   string
	started time.Time
	tick    chan struct{} // closed to end the periodic redrawing
	clock   sync.WaitGroup

	mu      sync.Mutex
	shown   time.Time // when the line was last drawn
	drawn   bool
	ended   bool
	current amount
	watched *progress.Count // source of the progress; nil if Set reports it
}

// amount is how much of the work is done.
type amount struct {
	done, total int // total is 0 if unknown
	unit        string
	bytes       int64
}

// redraw is the minimum time between two updates. patience is how long work runs before anything is
// shown, because short work needs no progress line.
const (
	redraw   = 100 * time.Millisecond
	patience = 400 * time.Millisecond
)

const rollingBack = "rolling back"

// NewProgress starts a progress display on a terminal.
func NewProgress(w io.Writer, width func() int, doing string) *Progress {
	p := &Progress{w: w, width: width, doing: Escape(doing), started: time.Now(), tick: make(chan struct{})}
	p.clock.Go(func() {
		t := time.NewTicker(redraw)
		defer t.Stop()
		for {
			select {
			case <-p.tick:
				return
			case now := <-t.C:
				p.draw(now)
			}
		}
	})
	return p
}

// Set reports the progress. It may be called often, and concurrently.
func (p *Progress) Set(done, total int, unit string, bytes int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.current = amount{done, total, unit, bytes}
	p.mu.Unlock()
}

// Watch returns a context; the progress of changes made with it is shown.
func (p *Progress) Watch(ctx context.Context) context.Context {
	if p == nil {
		return ctx
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched = &progress.Count{}
	return progress.With(ctx, p.watched)
}

func (p *Progress) draw(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || now.Sub(p.started) < patience || now.Sub(p.shown) < redraw {
		return
	}
	if w := p.watched; w != nil {
		if w.Back.Load() && p.doing != rollingBack {
			p.doing, p.started = rollingBack, now.Add(-patience) // estimate the remaining time of the rollback alone
		}
		total := int(w.Total.Load())
		p.current = amount{min(int(w.Steps.Load()), total), total, "steps", 0}
	}
	p.shown, p.drawn = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%s", progressLine(p.doing, p.current, now.Sub(p.started), p.width()))
}

// End removes the progress line; later output begins in its place.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	ended := p.ended
	p.ended = true
	if p.drawn && !ended {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.mu.Unlock()
	if !ended {
		close(p.tick)
	}
	p.clock.Wait()
}

// progressLine formats the progress in at most width columns. The bar gets the remaining space, and
// the least important parts are omitted first. The last column stays free, because writing there
// would make terminals wrap.
func progressLine(doing string, a amount, took time.Duration, width int) string {
	width--
	var parts []string
	if a.total > 0 {
		share := min(float64(a.done)/float64(a.total), 1)
		parts = append(parts, fmt.Sprintf("%3d%%", int(100*share)), fmt.Sprintf("%d of %d %s", a.done, a.total, a.unit))
		if a.bytes > 0 {
			parts = append(parts, rate(a.bytes, took))
		}
		if share > 0 && took > time.Second {
			left := time.Duration(float64(took) * (1 - share) / share)
			parts = append(parts, timeText(left)+" left")
		}
	} else {
		if a.done > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", a.done, a.unit))
		}
		if a.bytes > 0 {
			parts = append(parts, rate(a.bytes, took))
		}
		parts = append(parts, timeText(took))
	}
	text := doing
	room := width - len([]rune(doing)) - 1
	for i, part := range parts {
		if len(part)+2 > room {
			if i == 0 {
				return cutText(doing, width)
			}
			break
		}
		text += "  " + part
		room -= len(part) + 2
	}
	const most, least = 40, 8
	if a.total == 0 || room < least+3 {
		return cutText(text, width)
	}
	size := min(room-3, most)
	full := min(size*a.done/a.total, size)
	bar := "[" + strings.Repeat("#", full) + strings.Repeat(".", size-full) + "]"
	return doing + "  " + bar + strings.TrimPrefix(text, doing)
}

func cutText(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:max(width, 0)])
	}
	return s
}

func rate(bytes int64, took time.Duration) string {
	return render.Size(int64(float64(bytes)/max(took.Seconds(), 0.001))) + "/s"
}

// timeText formats a duration, as in 45 s, 3 min 20 s or 2 h 5 min.
func timeText(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
}
