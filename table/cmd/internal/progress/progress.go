//go:build !wasip1

// Package progress shows the progress of a command on a terminal, and nothing elsewhere. The library pb draws,
// measures and ticks. The text has no colors or escape codes, so it works on any terminal.
package progress

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"
)

// A Bar shows how much work is done, at what rate, and how long the rest will take. It is
// safe for concurrent use. A nil *Bar shows nothing.
type Bar struct {
	bar     *pb.ProgressBar
	to      io.Writer
	width   func() int // of the terminal, in columns
	columns int        // the width that bar is set to
	ended   bool
}

// drawEvery is the time between drawings of a Bar. For shorter work, no Bar appears.
const drawEvery = 100 * time.Millisecond

// Bytes returns a Bar on w that counts bytes, or nil if w is not a terminal. A total of -1 means unknown. what is
// a word for the work.
func Bytes(w io.Writer, total int64, what string) *Bar {
	return onTerminal(w, pb.New64(total).Set(whatKey, what))
}

// Count is like Bytes for other things, such as entries. unit is their plural.
func Count(w io.Writer, total int64, what, unit string) *Bar {
	return onTerminal(w, pb.New64(total).Set(whatKey, what).Set(unitKey, " "+unit))
}

// onTerminal returns a Bar if w is a terminal, or else nil.
func onTerminal(w io.Writer, bar *pb.ProgressBar) *Bar {
	f := terminalOf(w)
	if f == nil {
		return nil
	}
	return start(bar, f, func() int { return columnsOf(f) })
}

// terminalOf returns the terminal that w writes to, directly or through Over, or nil.
func terminalOf(w io.Writer) *os.File {
	if o, ok := w.(over); ok {
		w = o.to
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// IsTerminal reports whether w writes to a terminal, directly or through Over.
func IsTerminal(w io.Writer) bool { return terminalOf(w) != nil }

// start starts drawing bar on a terminal.
func start(bar *pb.ProgressBar, to io.Writer, width func() int) *Bar {
	b := &Bar{bar: bar, to: to, width: width}
	b.setColumns(width())
	// Set the properties that pb detects only for an *os.File: its writer is onScreen.
	bar.SetWriter(onScreen{b}).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.Color, false)
	bar.SetTemplateString(line).SetRefreshRate(drawEvery).Start()
	return b
}

// setColumns fits the Bar to a terminal of n columns.
func (b *Bar) setColumns(n int) {
	b.columns = n
	b.bar.SetWidth(max(1, n-free)) // for 0, pb would ask the controlling terminal
}

// columnsOf returns the width of a terminal, or 80 if it is unknown.
func columnsOf(f *os.File) int {
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

// Add adds n to the work done. If a file grows beyond the total, so does the total.
func (b *Bar) Add(n int64) {
	if b == nil {
		return
	}
	b.bar.Add64(n)
	if total := b.bar.Total(); total > 0 && b.bar.Current() > total {
		b.bar.SetTotal(b.bar.Current())
	}
}

// Done removes the Bar. It is not drawn again.
func (b *Bar) Done() {
	if b == nil {
		return
	}
	screen.Lock()
	b.ended = true
	if screen.bar == b {
		erase()
	}
	screen.Unlock()
	b.bar.Finish()
}

// screen is the terminal of the process. It shows at most one Bar, on the cursor's line.
var screen struct {
	sync.Mutex
	bar *Bar // nil: none is shown
}

// onScreen is the writer that pb draws a Bar with.
type onScreen struct{ *Bar }

// Write replaces the Bar on the screen by p. It discards p if the Bar has ended, if the terminal's width has
// changed, or if p does not fit: pb does not cut every line.
func (b onScreen) Write(p []byte) (int, error) {
	screen.Lock()
	defer screen.Unlock()
	if b.ended {
		return len(p), nil
	}
	if columns := b.width(); columns != b.columns {
		erase()
		b.setColumns(columns)
		return len(p), nil
	}
	if len(p) > len("\r")+b.columns-free {
		return len(p), nil
	}
	screen.bar = b.Bar
	return b.to.Write(p)
}

// erase removes the Bar on the screen and any echo behind it, and moves the cursor to the start of the line. If
// the terminal has become narrower, it has wrapped the line, and erase removes only the last part. The caller
// holds screen's lock.
func erase() {
	if b := screen.bar; b != nil {
		io.WriteString(b.to, "\r"+strings.Repeat(" ", max(0, b.width()-1))+"\r")
	}
	screen.bar = nil
}

// Over returns a writer to w that erases the Bar before each write, so that output does not begin behind it. The
// Bar reappears when it is next drawn.
func Over(w io.Writer) io.Writer { return over{w} }

type over struct{ to io.Writer }

func (o over) Write(p []byte) (int, error) {
	screen.Lock()
	erase()
	screen.Unlock()
	return o.to.Write(p) // without the lock: writing to a pipe may block
}
