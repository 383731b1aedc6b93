package drive

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a bar on a terminal; a nil one shows nothing.
type Progress struct {
	bar   *progressbar.ProgressBar
	rate  rate
	drawn time.Duration
}

const drawEvery = 200 * time.Millisecond

// rate is what happened per second since it was last asked.
type rate struct {
	at    time.Duration
	count int
	per   float64
}

// NewProgress returns nil when file is nil or no terminal.
func NewProgress(file *os.File, total int) *Progress {
	if file == nil || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return newBar(file, total)
}

func newBar(w io.Writer, total int) *Progress {
	return &Progress{bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(24),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
	)}
}

// Show draws how far the run is, now that it has lasted so long: done over the total, after what describe
// makes of the tasks done per second. It is called as often as anybody likes.
func (p *Progress) Show(done int, now time.Duration, describe func(perSecond float64) string) {
	if p == nil || now-p.drawn < drawEvery {
		return
	}
	p.drawn = now
	p.bar.Set(done)
	p.bar.Describe(describe(p.rate.update(now, done)))
}

// Finish clears the bar away.
func (p *Progress) Finish() {
	if p != nil {
		p.bar.Finish()
	}
}

// update returns the rate over the last whole second.
func (r *rate) update(now time.Duration, count int) float64 {
	if passed := now - r.at; passed >= time.Second {
		r.per = float64(count-r.count) / passed.Seconds()
		r.at, r.count = now, count
	}
	return r.per
}
