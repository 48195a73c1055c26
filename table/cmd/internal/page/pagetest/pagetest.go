// Package pagetest opens the web pages of sst in a browser, for their tests.
package pagetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hang is the time limit for starting the browser and for testing a page. It is far longer than any stall.
const hang = 5 * time.Minute

// All tests share one browser, since starting one takes a second of CPU time.
var (
	browser     = sync.OnceValues(startBrowser)
	stopBrowser = func() {}
)

// Main is the TestMain of packages whose tests open pages.
func Main(m *testing.M) {
	code := m.Run()
	stopBrowser()
	os.Exit(code)
}

func startBrowser() (context.Context, error) {
	path, err := chromiumPath()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.WSURLReadTimeout(hang), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	stopBrowser = func() {
		if err := chromedp.Cancel(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "closing the browser:", err)
		}
		cancel()
	}
	return ctx, chromedp.Do(ctx)
}

// chromiumPath prefers the headless program, which takes far less time.
func chromiumPath() (path string, err error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	return path, err
}

// A Tab shows one page. It fails the test if anything is logged to the console, or requested except the page
// itself.
type Tab struct {
	testing.TB
	ctx context.Context
	URL string // of the page

	mu   sync.Mutex
	seen []string
}

// Open opens the page in a file in a new Tab, width pixels wide. It skips the test if there is
// no browser, unless SIEVETABLE_CHROMIUM is "required".
func Open(t *testing.T, page string, width int64) *Tab {
	t.Helper()
	ctx, err := browser()
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("SIEVETABLE_CHROMIUM") != "required" {
		t.Skip(err)
	}
	path, pathErr := filepath.Abs(page)
	if err := errors.Join(err, pathErr); err != nil {
		t.Fatal("starting the browser:", err)
	}
	ctx, cancel := context.WithTimeout(ctx, hang)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	p := &Tab{TB: t, ctx: ctx, URL: (&url.URL{Scheme: "file", Path: path}).String()}
	p.Must(chromedp.Listen(ctx, p.watch))
	t.Cleanup(p.checkQuiet)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	p.Must(err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	p.Must(err)
	p.Do(chromedp.EmulateViewport(width, 800), chromedp.Navigate(p.URL))
	return p
}

func (p *Tab) watch(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Request.URL == p.URL {
			return
		}
	case *runtime.EventConsoleAPICalled, *runtime.EventExceptionThrown, *log.EventEntryAdded:
	default:
		return
	}
	text, err := json.Marshal(event)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, fmt.Sprintf("%T: %s %v", event, text, err))
}

func (p *Tab) checkQuiet() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, what := range p.seen {
		p.Error(what)
	}
}

// Must ends the test if there is an error.
func (p *Tab) Must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// Do does the actions.
func (p *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	p.Must(chromedp.Do(p.ctx, actions...))
}

// Evaluate waits until the page is ready, and returns the value of an expression in it. A promise is awaited.
func Evaluate[T any](p *Tab, expression string) T {
	p.Helper()
	p.Do(chromedp.Evaluate[chromedp.Void]("window.ready", chromedp.EvalAwaitPromise))
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	p.Must(err)
	return v
}

// Call calls a function in the page with argument as JSON.
func Call[T any](p *Tab, function string, argument any) T {
	p.Helper()
	encoded, err := json.Marshal(argument)
	p.Must(err)
	return Evaluate[T](p, fmt.Sprintf("(%s)(%s)", function, encoded))
}

// When waits until a condition holds in the page, and returns the value of an expression in it.
func When[T any](p *Tab, condition, expression string) T {
	p.Helper()
	return Evaluate[T](p, fmt.Sprintf(`new Promise((done) => {
		const timer = setInterval(() => {
			if (!(%s)) return;
			clearInterval(timer);
			done(%s);
		}, 10);
	})`, condition, expression))
}

// Link waits until a condition on the URL's fragment holds, and returns the fragment without the #.
func (p *Tab) Link(condition string) string {
	p.Helper()
	return When[string](p, "location.hash."+condition, "location.hash.slice(1)")
}

// Follow changes the URL's fragment to link.
func (p *Tab) Follow(link string) {
	p.Helper()
	Call[chromedp.Void](p, `(link) => new Promise((done) => {
		addEventListener("hashchange", () => done(), { once: true });
		location.hash = link;
	})`, link)
}

// Text returns the text of an element, with a space in place of each run of white space.
func (p *Tab) Text(selector string) string {
	p.Helper()
	return Call[string](p, `(s) => {
		const it = document.querySelector(s);
		return ("value" in it && it.value || it.innerText).replaceAll(/\s+/g, " ").trim();
	}`, selector)
}

// Submit replaces the text in a box, and presses Enter.
func (p *Tab) Submit(box, text string) {
	p.Helper()
	Call[chromedp.Void](p, "(s) => document.querySelector(s).select()", box)
	p.Do(chromedp.SendKeys(chromedp.CSS(box), text+kb.Enter))
}

// Dark shows the page in the dark scheme.
func (p *Tab) Dark() {
	p.Helper()
	scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, scheme)
	p.Must(err)
}

// Contrast is JavaScript that declares the function contrast. It returns the contrast ratio of a color to the
// background of an element, from 1 to 21.
const Contrast = `
	const light = (rgb) => {
		const [r, g, b] = rgb.match(/[\d.]+/g).map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ground = (it) => {
		const color = getComputedStyle(it).backgroundColor;
		return color === "rgba(0, 0, 0, 0)" ? ground(it.parentElement) : color;
	};
	const contrast = (color, on) => {
		const [a, b] = [light(color), light(ground(on))].sort((a, b) => b - a);
		return (a + 0.05) / (b + 0.05);
	};`
