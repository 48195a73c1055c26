package seen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A syncedOutput checks, in each of its methods, that the state on disk contains only lines that the last Sync of
// the output has put on disk.
type syncedOutput struct {
	t       *testing.T
	state   string // path
	written int    // lines
	flushed int
	synced  uint64
	saves   map[uint64]bool // numbers of lines in the states that were seen on disk
	err     error           // of Sync
}

func (o *syncedOutput) check() {
	s := State{path: o.state}
	if err := s.read(); errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		o.t.Error(err)
	}
	o.saves[s.Lines()] = true
	if s.Lines() > o.synced {
		o.t.Errorf("the state has %d lines, of which %d are on disk", s.Lines(), o.synced)
	}
}

func (o *syncedOutput) Write(p []byte) (int, error) {
	o.check()
	o.written += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

func (o *syncedOutput) Available() int { return 0 }

func (o *syncedOutput) Flush() error {
	o.check()
	o.flushed = o.written
	return nil
}

func (o *syncedOutput) Sync() error {
	o.check()
	if o.err == nil {
		o.synced = uint64(o.flushed)
	}
	return o.err
}

// slowLines returns one line at a time with pauses, so that the state is saved in between.
type slowLines struct{ left int }

func (l *slowLines) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	l.left--
	time.Sleep(5 * time.Millisecond)
	return copy(p, fmt.Sprintf("line %d\n", l.left)), nil
}

// All lines of a state are on disk before the state is.
func TestOutputIsOnDiskBeforeTheState(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := open(t, path, 100, 0.01)
	defer s.Close()
	out := &syncedOutput{t: t, state: path, saves: map[uint64]bool{}}
	sieve := Sieve{State: s, Out: out, Every: time.Millisecond}
	noError(t, sieve.Run(context.Background(), []string{"-"}, &slowLines{20}))
	out.check()
	if len(out.saves) < 2 || !out.saves[20] {
		t.Errorf("states with these numbers of lines were saved: %v; want some, and one with all 20", out.saves)
	}
}

// If the output cannot be synced, no state with its lines is saved.
func TestOutputIsNotOnDisk(t *testing.T) {
	t.Parallel()
	path, cause := filepath.Join(t.TempDir(), "s"), errors.New("no space left")
	s := open(t, path, 100, 0.01)
	defer s.Close()
	out := &syncedOutput{t: t, state: path, saves: map[uint64]bool{}, err: cause}
	sieve := Sieve{State: s, Out: out, Every: time.Hour}
	if err := sieve.Run(context.Background(), []string{"-"}, strings.NewReader("a\n")); err != cause {
		t.Errorf("Run = %v, want %v", err, cause)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a state, %v", err)
	}
}

// A failed save is reported once, whatever ends the run.
func TestSaveFails(t *testing.T) {
	t.Parallel()
	input := errors.New("broken")
	type run struct {
		ctx    context.Context
		cancel context.CancelCauseFunc
	}
	for name, tt := range map[string]struct {
		every time.Duration
		end   func(run) error // of the input
		want  []string
	}{
		"at the end":     {time.Hour, func(run) error { return io.EOF }, []string{"not saved"}},
		"after an error": {time.Hour, func(run) error { return input }, []string{"not saved", "broken"}},
		"after a signal": {time.Hour, func(r run) error { r.cancel(errors.New("signal")); return io.EOF }, []string{"not saved"}},
		"in between": {10 * time.Millisecond, func(r run) error {
			select {
			case <-r.ctx.Done():
			case <-time.After(10 * time.Second): // no save happened
			}
			return nil
		}, []string{"not saved"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			s := open(t, path, 100, 0.01)
			defer s.Close()
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			sieve := Sieve{State: s, Out: newPrinted(), Every: tt.every}
			if err := os.Remove(path + lockSuffix); err != nil { // no state can be saved without it
				t.Skip(err) // Windows does not remove open files
			}
			in := &oneLine{end: func() error { return tt.end(run{ctx, cancel}) }}
			err := sieve.Run(ctx, []string{"-"}, in)
			for _, want := range tt.want {
				if err == nil || strings.Count(err.Error(), want) != 1 {
					t.Errorf("Run = %v, want %q once", err, want)
				}
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a state, %v", err)
			}
		})
	}
}

// oneLine is an input of one line.
type oneLine struct {
	end  func() error // called after it
	read bool
}

func (l *oneLine) Read(p []byte) (int, error) {
	if l.read {
		return 0, l.end()
	}
	l.read = true
	return copy(p, "a\n"), nil
}
