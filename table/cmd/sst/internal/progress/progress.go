// Package progress shows the progress of a command on a terminal, and nothing elsewhere. It
// writes text without colours or escape codes, so any terminal does.
package progress

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// A Bar shows how much work is done, at what rate, and how long the rest will take. It is
// safe for concurrent use. A nil *Bar shows nothing.
type Bar struct {
	what   string
	total  int64 // -1: unknown
	amount func(int64) string
	unit   string // of the total, after its amount

	to    io.Writer
	width func() int // of the terminal, in columns
	now   func() time.Time
	start time.Time

	done atomic.Int64
	next atomic.Int64 // when to draw again, in nanoseconds after start
}

// drawEvery is how often a Bar is drawn. Work that takes less is done without one.
const drawEvery = 100 * time.Millisecond

// Bytes returns a Bar that counts bytes on w, or nil if w is no terminal. A total of -1 is
// unknown. what is a word for the work.
func Bytes(w io.Writer, total int64, what string) *Bar {
	return onTerminal(w, &Bar{what: what, total: total, amount: func(n int64) string { return humanize.Bytes(uint64(n)) }})
}

// Count returns a Bar that counts things such as entries, of which unit is the plural.
func Count(w io.Writer, total int64, what, unit string) *Bar {
	return onTerminal(w, &Bar{what: what, total: total, amount: humanize.Comma, unit: " " + unit})
}

// onTerminal returns b on a terminal, and nil elsewhere.
func onTerminal(w io.Writer, b *Bar) *Bar {
	if o, ok := w.(over); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	b.to, b.now, b.width = f, time.Now, func() int { return columnsOf(f) }
	b.begin()
	return b
}

// columnsOf returns the width of a terminal, or a usual one if it does not know its own.
func columnsOf(f *os.File) int {
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

func (b *Bar) begin() {
	b.start = b.now()
	b.next.Store(int64(drawEvery))
}

// Add adds n to the work that is done.
func (b *Bar) Add(n int64) {
	if b == nil {
		return
	}
	done, elapsed := b.done.Add(n), b.now().Sub(b.start)
	next := b.next.Load()
	if int64(elapsed) < next || !b.next.CompareAndSwap(next, int64(elapsed+drawEvery)) {
		return
	}
	screen.draw(b, done, elapsed)
}

// Done removes the Bar. It is not drawn again.
func (b *Bar) Done() {
	if b == nil {
		return
	}
	screen.end(b)
}

// Reader returns a reader of r that adds the bytes read.
func (b *Bar) Reader(r io.Reader) io.Reader {
	if b == nil {
		return r
	}
	return reader{r, b}
}

type reader struct {
	io.Reader
	bar *Bar
}

func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bar.Add(int64(n))
	return n, err
}

// ReaderAt returns a reader of r that adds the bytes read.
func (b *Bar) ReaderAt(r io.ReaderAt) io.ReaderAt {
	if b == nil {
		return r
	}
	return readerAt{r, b}
}

type readerAt struct {
	io.ReaderAt
	bar *Bar
}

func (r readerAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bar.Add(int64(n))
	return n, err
}
