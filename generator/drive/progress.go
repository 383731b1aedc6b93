package drive

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal; a nil one shows nothing.
type progress struct {
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

// newProgress returns nil when file is nil or no terminal.
func newProgress(file *os.File, total int) *progress {
	if file == nil || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return newBar(file, total)
}

func newBar(w io.Writer, total int) *progress {
	return &progress{bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(24),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
	)}
}

// show draws how far the run is: completed over total, submitted, completions per second, and how
// late the generator itself is.
func (p *progress) show(submitted, done int, now, lag time.Duration) {
	if p == nil || now-p.drawn < drawEvery {
		return
	}
	p.drawn = now
	p.bar.Set(done)
	p.bar.Describe(fmt.Sprintf("submitted %d, %.0f/s, %.1f ms late, completed", submitted, p.rate.update(now, done), float64(lag)/float64(time.Millisecond)))
}

func (p *progress) finish() {
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
