//go:build !wasip1

package progress

import (
	"io"
	"strings"
	"sync"
)

// A terminal has at most one Bar, in the line of the cursor.
type terminal struct {
	mu  sync.Mutex
	bar *Bar // nil: none is shown
}

// screen is the terminal of the process.
var screen terminal

// onScreen is what pb writes a drawn Bar to.
type onScreen struct{ *Bar }

// Write shows a drawn Bar in place of any that is shown, unless the Bar has ended, was drawn for
// another width of the terminal, or does not fit: pb does not cut every line.
func (b onScreen) Write(p []byte) (int, error) {
	screen.mu.Lock()
	defer screen.mu.Unlock()
	if b.ended {
		return len(p), nil
	}
	if columns := b.width(); columns != b.columns {
		screen.erase()
		b.setColumns(columns)
		return len(p), nil
	}
	if len(p) > len("\r")+b.columns-free {
		return len(p), nil
	}
	screen.bar = b.Bar
	return b.to.Write(p)
}

// end removes the Bar for good.
func (t *terminal) end(b *Bar) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b.ended = true
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
	t.bar = nil
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
