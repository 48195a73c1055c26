package table_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// A stackReader remembers the functions that have called ReadAt, the last call first.
type stackReader struct {
	*bytes.Reader
	calls []string
}

func (s *stackReader) ReadAt(p []byte, off int64) (int, error) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	s.calls = nil
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		s.calls = append(s.calls, frame.Function)
		if strings.HasSuffix(frame.Function, ".(*Reader).Get") {
			break
		}
	}
	return s.Reader.ReadAt(p, off)
}

// From Get to the ReadAt of the source there are 7 calls, both counted: a reader of the code follows
// each of them.
func TestGetIsSevenCallsDeep(t *testing.T) {
	t.Parallel()
	pairs := numbered(1000)
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, pairs)
	src := &stackReader{Reader: bytes.NewReader(contents)}
	r, err := table.NewReader(src, int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Get(pairs[500].Key); err != nil {
		t.Fatal(err)
	}
	if n := len(src.calls); n == 0 || n > 7 {
		t.Errorf("%d calls, want 1 to 7:\n%s", n, strings.Join(src.calls, "\n"))
	}
}
