// Package progress shows the progress of a command on a terminal, and nothing elsewhere. The library pb
// draws, measures and ticks. Its text has no colours or escape codes, so any terminal does.
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

// line is what a Bar shows, as a template of pb.
const line = `{{string . "what"}}{{percent . " %3.0f %%" ""}}  {{counters . "%s of %s" "%s"}}`

// A Bar shows how much work is done. It is safe for concurrent use. A nil *Bar shows nothing.
type Bar struct {
	bar *pb.ProgressBar
	to  io.Writer

	mu    sync.Mutex
	shown int // how many columns are in use
	ended bool
}

// Bytes returns a Bar that counts bytes on w, or nil if w is no terminal. what is a word for the work.
func Bytes(w io.Writer, total int64, what string) *Bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns == 0 {
		columns = 80
	}
	b := &Bar{bar: pb.New64(total), to: f}
	b.bar.Set("what", what).Set(pb.Bytes, true).Set(pb.SIBytesPrefix, true).Set(pb.Color, false)
	b.bar.Set(pb.Terminal, true).Set(pb.ReturnSymbol, "").SetWidth(columns - 1).SetWriter(onScreen{b})
	b.bar.SetTemplateString(line).SetRefreshRate(100 * time.Millisecond).Start()
	return b
}

// onScreen is what pb writes a drawn Bar to.
type onScreen struct{ *Bar }

func (b onScreen) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text := strings.TrimRight(string(p), " \n"); !b.ended && text != "" {
		b.erase()
		b.shown = len(text)
		io.WriteString(b.to, text)
	}
	return len(p), nil
}

// erase removes what is shown, and leaves the cursor at the start of the line.
func (b *Bar) erase() {
	if b.shown > 0 {
		io.WriteString(b.to, "\r"+strings.Repeat(" ", b.shown)+"\r")
		b.shown = 0
	}
}

// Add adds n to the work that is done. What was more than expected is added to the total.
func (b *Bar) Add(n int64) {
	if b == nil {
		return
	}
	if b.bar.Add64(n); b.bar.Current() > b.bar.Total() {
		b.bar.SetTotal(b.bar.Current())
	}
}

// Over returns a writer to w that removes the Bar before it writes, so that lines do not begin behind
// it. The Bar comes back when it is drawn next.
func (b *Bar) Over(w io.Writer) io.Writer {
	if b == nil {
		return w
	}
	return over{b, w}
}

type over struct {
	bar *Bar
	to  io.Writer
}

func (o over) Write(p []byte) (int, error) {
	o.bar.mu.Lock()
	defer o.bar.mu.Unlock()
	o.bar.erase()
	return o.to.Write(p)
}

// Done removes the Bar. It is not drawn again.
func (b *Bar) Done() {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.erase()
	b.ended = true
	b.mu.Unlock()
	b.bar.Finish()
}
