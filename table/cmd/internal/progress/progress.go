//go:build !wasip1

// Package progress shows the progress of a command on a terminal, and nothing elsewhere. The
// library pb draws, measures and ticks. Its text has no colors or escape codes, so any
// terminal does.
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
	columns int        // the width that bar is made for
	ended   bool
}

// drawEvery is how often a Bar is drawn. Work that takes less is done without one.
const drawEvery = 100 * time.Millisecond

// Bytes returns a Bar that counts bytes on w, or nil if w is no terminal. A total of -1 is
// unknown. what is a word for the work.
func Bytes(w io.Writer, total int64, what string) *Bar {
	return onTerminal(w, pb.New64(total).Set(whatKey, what))
}

// Count returns a Bar that counts things such as entries, of which unit is the plural.
func Count(w io.Writer, total int64, what, unit string) *Bar {
	return onTerminal(w, pb.New64(total).Set(whatKey, what).Set(unitKey, " "+unit))
}

// onTerminal returns a Bar on a terminal, and nil elsewhere.
func onTerminal(w io.Writer, bar *pb.ProgressBar) *Bar {
	f := terminalOf(w)
	if f == nil {
		return nil
	}
	return start(bar, f, func() int { return columnsOf(f) })
}

// terminalOf returns the terminal that w, or a writer of Over to it, writes to, or nil.
func terminalOf(w io.Writer) *os.File {
	if o, ok := w.(over); ok {
		w = o.to
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// IsTerminal reports whether w, or what a writer of Over writes to, is a terminal.
func IsTerminal(w io.Writer) bool { return terminalOf(w) != nil }

// start starts to draw bar on a terminal.
func start(bar *pb.ProgressBar, to io.Writer, width func() int) *Bar {
	b := &Bar{bar: bar, to: to, width: width}
	b.setColumns(width())
	// What pb finds out only about an *os.File is set, since it writes to the screen.
	bar.SetWriter(onScreen{b}).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.Color, false)
	bar.SetTemplateString(line).SetRefreshRate(drawEvery).Start()
	return b
}

// setColumns makes the Bar for a terminal of this width.
func (b *Bar) setColumns(n int) {
	b.columns = n
	b.bar.SetWidth(max(1, n-free)) // for 0, pb would ask the controlling terminal
}

// columnsOf returns the width of a terminal, or a usual one if it does not know its own.
func columnsOf(f *os.File) int {
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

// Add adds n to the work that is done. A file that grows may have more than its total: the
// total grows with it.
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

// screen is the terminal of the process. It has at most one Bar, in the line of the cursor.
var screen struct {
	sync.Mutex
	bar *Bar // nil: none is shown
}

// onScreen is what pb writes a drawn Bar to.
type onScreen struct{ *Bar }

// Write shows a drawn Bar in place of any that is shown, unless the Bar has ended, was drawn for
// another width of the terminal, or does not fit: pb does not cut every line.
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

// erase removes the Bar that is shown, and an echo behind it, and leaves the cursor at the
// start of the line. A terminal that has become narrower has wrapped the line: only the last
// part of it is removed. screen is locked.
func erase() {
	if b := screen.bar; b != nil {
		io.WriteString(b.to, "\r"+strings.Repeat(" ", max(0, b.width()-1))+"\r")
	}
	screen.bar = nil
}

// Over returns a writer to w that removes the Bar before it writes, so that lines do not begin
// behind it. The Bar comes back when it is drawn next.
func Over(w io.Writer) io.Writer { return over{w} }

type over struct{ to io.Writer }

func (o over) Write(p []byte) (int, error) {
	screen.Lock()
	erase()
	screen.Unlock()
	return o.to.Write(p) // without a lock, since a pipe may take long to take it
}
