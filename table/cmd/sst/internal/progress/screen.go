package progress

import (
	"io"
	"math"
	"strings"
	"sync"
	"time"
)

// A terminal has at most one Bar, in the line of the cursor.
type terminal struct {
	mu  sync.Mutex
	bar *Bar // nil: none is shown
	len int  // of its line
}

// screen is the terminal of the process.
var screen terminal

// draw draws the Bar, in place of any that is shown.
func (t *terminal) draw(b *Bar, done int64, elapsed time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b.next.Load() == math.MaxInt64 { // it has ended meanwhile
		return
	}
	width := b.width()
	line := b.line(width, done, elapsed)
	rest := min(t.len, width-free) - len(line) // of what was shown
	io.WriteString(b.to, "\r"+line+strings.Repeat(" ", max(0, rest)))
	t.bar, t.len = b, len(line) // an error of the terminal is no error of the work
}

// end removes the Bar for good.
func (t *terminal) end(b *Bar) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b.next.Store(math.MaxInt64)
	if t.bar == b {
		t.erase()
	}
}

// erase removes the Bar that is shown, and an echo behind it, and leaves the cursor at the
// start of the line. A terminal that has become narrower has wrapped the line: only the last
// part of it is removed.
func (t *terminal) erase() {
	if t.bar == nil {
		return
	}
	io.WriteString(t.bar.to, "\r"+strings.Repeat(" ", max(0, t.bar.width()-1))+"\r")
	t.bar, t.len = nil, 0
}

// clear removes the Bar that is shown.
func (t *terminal) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
}

// Over returns a writer to w that removes the Bar before it writes, so that lines do not begin
// behind it. The Bar comes back when it is drawn next.
func Over(w io.Writer) io.Writer { return over{w} }

type over struct{ to io.Writer }

func (o over) Write(p []byte) (int, error) {
	screen.clear()
	return o.to.Write(p) // without a lock, since a pipe may take long to take it
}
