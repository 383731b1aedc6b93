// Package progress tells people how far something is.
package progress

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Line is a bar on a terminal and, where it is asked for, a line of text now and then elsewhere. A nil one shows
// nothing.
type Line struct {
	bar   *progressbar.ProgressBar
	rate  rate
	drawn time.Duration
	width func() int // of the terminal, 0: nobody knows; nil: there is none

	total int
	plain io.Writer // instead of the bar
	next  float64   // share at which the next line of text is due
}

const (
	barWidth  = 24
	barFrame  = 12 // what stands around the text, the bar and two numbers
	drawEvery = 200 * time.Millisecond
	step      = 0.05 // of the work, between two lines of text
	enough    = 0.02 // of the work, to guess how long the rest takes
)

// rate is what happened per second since it was last asked.
type rate struct {
	at    time.Duration
	count int
	per   float64
}

// New returns nil when w is nil or no terminal. A bar is drawn with what a terminal acts on, so it goes past a writer in front of
// one that keeps that away.
func New(w io.Writer, total int) *Line {
	if front, ok := w.(interface{ Unwrap() io.Writer }); ok {
		w = front.Unwrap()
	}
	if file, ok := w.(*os.File); ok && file != nil && term.IsTerminal(int(file.Fd())) {
		l := newBar(w, total)
		l.width = func() int {
			columns, _, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 0
			}
			return columns
		}
		return l
	}
	return nil
}

// NewText is New, but writes text where w is no terminal.
func NewText(w io.Writer, total int) *Line {
	if bar := New(w, total); bar != nil || w == nil {
		return bar
	}
	return &Line{plain: w, total: total}
}

func newBar(w io.Writer, total int) *Line {
	return &Line{total: total, bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
	)}
}

// Show draws how far it is, now that it has lasted so long: done over the total, after what describe makes of
// what is done per second. It is called as often as anybody likes.
func (l *Line) Show(done int, now time.Duration, describe func(perSecond float64) string) {
	switch {
	case l == nil:
	case l.plain != nil:
		if share := float64(done) / float64(l.total); share >= l.next || done == l.total {
			l.next = share + step
			fmt.Fprintln(l.plain, describe(l.rate.update(now, done)))
		}
	case now-l.drawn >= drawEvery:
		l.drawn = now
		l.bar.Set(done)
		text := describe(l.rate.update(now, done))
		if l.width != nil {
			text = fit(text, l.width(), l.total)
		}
		l.bar.Describe(text)
	}
}

// fit leaves out what a line has no room for: a bar that goes over two lines is drawn below itself each time.
func fit(text string, columns, total int) string {
	room := max(0, columns-barWidth-barFrame-2*len(strconv.Itoa(total)))
	if short := []rune(text); columns > 0 && len(short) > room {
		return string(short[:room])
	}
	return text
}

// Clear makes room for other lines, until the bar is drawn again.
func (l *Line) Clear() {
	if l != nil && l.bar != nil {
		_ = l.bar.Clear() // what cannot be drawn need not be cleared
	}
}

// Finish clears the bar away.
func (l *Line) Finish() {
	if l != nil && l.bar != nil {
		l.bar.Finish()
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

// Times says how long something has lasted of which so large a share is done and, as soon as that can be guessed,
// how long the rest takes if it goes on as it did.
func Times(elapsed time.Duration, share float64) string {
	text := fmt.Sprintf("%v elapsed", elapsed.Round(time.Second))
	if share > enough {
		text += fmt.Sprintf(", about %v remaining", time.Duration(float64(elapsed)*(1/share-1)).Round(time.Second))
	}
	return text
}
