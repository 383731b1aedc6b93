package report

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"dodoor/internal/needs"
	"dodoor/internal/runfiles"
	"dodoor/report/reporttest"
)

// requireChromium returns the browser's path.
func requireChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	needs.Real(t, errors.New("chromium is not installed: apt-get install chromium"))
	return ""
}

// complaints gathers what a browser says about a page, and what it fetches for it.
type complaints struct {
	mu   sync.Mutex
	said []string
}

func (c *complaints) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, what)
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.said...)
}

func (c *complaints) listen(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		c.add("log: " + e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		c.add("console: " + string(e.Type))
	case *runtime.EventExceptionThrown:
		c.add("exception: " + e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") && !strings.HasPrefix(e.Request.URL, "data:") {
			c.add("request: " + e.Request.URL)
		}
	}
}

// seen is what the page looks like at one width.
type seen struct {
	Figures, Drawn int     // figures, and those whose drawing is on the page in full width
	PageWidth      float64 // wider than the window: it scrolls sideways
	Smallest       float64 // letters in a figure, in pixels
	Clipped        []string
	Alarm          bool
}

// look measures. A drawing counts when it fills its figure and shows text.
const look = `(() => {
	const figures = [...document.querySelectorAll('figure')];
	const drawn = figures.filter(f => {
		const s = f.querySelector('svg');
		const b = s && s.getBoundingClientRect();
		return b && b.width > 0.9 * f.clientWidth - 20 && b.width <= f.clientWidth && b.height > 100 &&
			s.querySelector('text') && s.querySelector('path');
	});
	const letters = [...document.querySelectorAll('figure svg text')]
		.map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a).filter(x => x > 0);
	const clipped = [...document.querySelectorAll('figure svg text')].filter(t => {
		const box = t.getBoundingClientRect(), around = t.closest('svg').getBoundingClientRect();
		return box.left < around.left - 1 || box.right > around.right + 1 || box.top < around.top - 1 || box.bottom > around.bottom + 1;
	}).map(t => t.closest('figure').id + ': ' + t.textContent);
	const alarm = document.querySelector('.alarm');
	return {
		Figures: figures.length, Drawn: drawn.length, PageWidth: document.documentElement.scrollWidth,
		Clipped: clipped, Smallest: Math.min(...letters), Alarm: !!alarm && getComputedStyle(alarm).color === 'rgb(176, 0, 32)',
	};
})()`

// openBrowser starts a browser for the length of the test.
func openBrowser(t *testing.T) (context.Context, *complaints) {
	t.Helper()
	// Chromium has no sandbox for root, and containers have a small /dev/shm.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(requireChromium(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.UserDataDir(t.TempDir()))
	limited, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	allocated, cancel := chromedp.NewExecAllocator(limited, options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	var c complaints
	if err := chromedp.Listen(ctx, c.listen); err != nil {
		t.Fatal(err)
	}
	return ctx, &c
}

func TestPageInABrowser(t *testing.T) {
	ctx, c := openBrowser(t)
	dir := reporttest.Campaign(t)
	result := drawSVG(t, dir)
	page := (&url.URL{Scheme: "file", Path: filepath.Join(dir, runfiles.Page)}).String()
	for _, width := range []int64{1280, 390} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(page)); err != nil {
			t.Fatal(err)
		}
		got, err := chromedp.Run(ctx, chromedp.Evaluate[seen](look))
		if err != nil {
			t.Fatal(err)
		}
		if got.Figures != result.Plots || got.Drawn != result.Plots {
			t.Errorf("at %d pixels: %d figures, %d of them drawn; want %d", width, got.Figures, got.Drawn, result.Plots)
		}
		if got.PageWidth > float64(width) {
			t.Errorf("at %d pixels the page is %g wide: it scrolls sideways", width, got.PageWidth)
		}
		if got.Smallest < 8 {
			t.Errorf("at %d pixels the smallest letters of a figure have %g", width, got.Smallest)
		}
		if len(got.Clipped) > 0 {
			t.Errorf("at %d pixels text runs out of figures: %q", width, got.Clipped)
		}
		if !got.Alarm {
			t.Errorf("at %d pixels there is no red banner for the lost tasks", width)
		}
	}
	if said := c.all(); len(said) > 0 {
		t.Errorf("the browser complains: %q", said)
	}
}

// The test above would pass as well if nobody listened to the browser.
func TestABadPageIsNoticed(t *testing.T) {
	ctx, c := openBrowser(t)
	page := filepath.Join(t.TempDir(), "bad.html")
	text := `<!DOCTYPE html><link rel="icon" href="data:,"><img src="http://127.0.0.1:1/x.png"><div style="width:5000px">.</div>` +
		`<script>console.error("no"); throw new Error("no")</script>`
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 900),
		chromedp.Navigate((&url.URL{Scheme: "file", Path: page}).String())); err != nil {
		t.Fatal(err)
	}
	width, err := chromedp.Run(ctx, chromedp.Evaluate[float64]("document.documentElement.scrollWidth"))
	if err != nil || width <= 390 {
		t.Errorf("a page of 5000 pixels is %g wide, %v", width, err)
	}
	said := strings.Join(c.all(), "\n")
	for _, want := range []string{"request: http://127.0.0.1:1/x.png", "console: error", "exception:"} {
		if !strings.Contains(said, want) {
			t.Errorf("the browser did not say %q: %q", want, said)
		}
	}
}
