package seen

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

var noError = errtest.NoError

// A printed is an Output in memory.
type printed struct {
	*bufio.Writer
	to *bytes.Buffer
}

func (printed) Sync() error { return nil }

func newPrinted() printed {
	var b bytes.Buffer
	return printed{bufio.NewWriter(&b), &b}
}

func open(t *testing.T, path string, keys uint64, rate float64) *State {
	t.Helper()
	s, err := Open(path, keys, rate)
	noError(t, err)
	return s
}

// sieveAll opens the state, and returns what a Sieve prints of the input.
func sieveAll(t *testing.T, path string, in io.Reader) (string, error) {
	t.Helper()
	s, out := open(t, path, 100_000, 1e-9), newPrinted()
	sieve := Sieve{State: s, Out: out, Every: time.Hour}
	err := sieve.Run(context.Background(), []string{"-"}, in)
	noError(t, s.Close())
	return out.to.String(), err
}

// A Sieve prints the same lines as a map of all lines would, over several runs, however the input is read.
func TestSieveIsAMap(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(31, 1))
	readers := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "by bytes": iotest.OneByteReader, "by halves": iotest.HalfReader, "with EOF": iotest.DataErrReader,
	}
	for name, reader := range readers {
		t.Run(name, func(t *testing.T) {
			path, known := filepath.Join(t.TempDir(), "s"), map[string]bool{}
			for run := range 4 {
				in := randomInput(r)
				got, err := sieveAll(t, path, reader(strings.NewReader(in)))
				noError(t, err)
				if diff := cmp.Diff(newLines(known, in), got); diff != "" {
					t.Fatalf("run %d (-want +got):\n%s", run, diff)
				}
			}
		})
	}
}

// randomInput returns lines of any bytes. The last one may lack its newline.
func randomInput(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(3000) {
		line := fmt.Sprint(r.IntN(2000))
		switch r.IntN(1000) {
		case 0:
			line = strings.Repeat(line, 1+r.IntN(10_000))
		case 1:
			line = ""
		case 2:
			line += "\r\x00\xff"
		}
		b.WriteString(line + "\n")
	}
	if in := b.String(); r.IntN(2) == 0 && in != "" {
		return in[:len(in)-1]
	}
	return b.String()
}

// newLines returns the lines that are not in known, and adds them.
func newLines(known map[string]bool, in string) string {
	var b strings.Builder
	for line := range strings.Lines(in) {
		line = strings.TrimSuffix(line, "\n")
		if !known[line] {
			b.WriteString(line + "\n")
		}
		known[line] = true
	}
	return b.String()
}

// A line of the maximum length is accepted. For a longer line, the error names its number, and the lines before
// it are in the state.
func TestLongLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	long := strings.Repeat("x", MaxLine)
	for _, tt := range []struct{ name, in, want, wantErr string }{
		{"longest", "a\n" + long + "\n", "a\n" + long + "\n", ""},
		{"longest at the end", "a\n" + long, "", ""},
		{"longer", "b\n" + long + "y\nc\n", "b\n", "standard input, line 2: longer than the limit of 16777216 bytes"},
		{"longer at the end", "b\nc\n" + long + "y", "c\n", "standard input, line 3: longer than the limit of 16777216 bytes"},
	} {
		got, err := sieveAll(t, path, strings.NewReader(tt.in))
		if err == nil {
			err = errors.New("")
		}
		if got != tt.want || err.Error() != tt.wantErr {
			t.Errorf("%s: %d bytes, %q, want %d bytes, %q", tt.name, len(got), err, len(tt.want), tt.wantErr)
		}
	}
}

// A line that could not be printed is not in the state, and is printed later. If an input fails, the state
// contains the lines before.
func TestFailures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	cause := errors.New("broken")
	s := open(t, path, 10, 0.01)
	sieve := Sieve{State: s, Out: printed{Writer: bufio.NewWriter(failing{cause})}, Every: time.Hour}
	if err := sieve.Run(context.Background(), []string{"-"}, strings.NewReader("a\n")); err != cause {
		t.Errorf("output: %v, want %v", err, cause)
	}
	noError(t, s.Close())
	got, err := sieveAll(t, path, io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(cause)))
	if want := "standard input, after line 2: broken"; err == nil || err.Error() != want || !errors.Is(err, cause) || got != "a\nb\n" {
		t.Errorf("input: %q, %v, want a, b and %s", got, err, want)
	}
	if got, err := sieveAll(t, path, strings.NewReader("a\nb\nc")); got != "c\n" || err != nil {
		t.Errorf("afterwards: %q, %v, want c", got, err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// files returns the contents of the files in dir, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	noError(t, err)
	for _, e := range entries {
		contents, err := os.ReadFile(filepath.Join(dir, e.Name()))
		noError(t, err)
		all[e.Name()] = string(contents)
	}
	return all
}

// A change to any byte of a state is detected, and so are missing or extra bytes. The file is left unchanged.
func TestDamage(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	s := open(t, path, 20, 0.1)
	s.Add([]byte("a"))
	noError(t, errors.Join(s.Save(), s.Close()))
	for version, sound := range map[string]string{"first version": files(t, "testdata")["fixed.state"], "this version": files(t, dir)["s"]} {
		try := func(name, contents string) {
			noError(t, os.WriteFile(path, []byte(contents), 0o666))
			s, err := Open(path, 20, 0.1)
			if err == nil {
				s.Close()
			}
			if !errors.Is(err, table.ErrCorrupt) {
				t.Errorf("%s, %s: %v, want damage", version, name, err)
			}
			if after := files(t, dir)["s"]; after != contents {
				t.Errorf("%s, %s: the file has changed", version, name)
			}
		}
		for i := range sound {
			changed := []byte(sound)
			changed[i] ^= 1
			try(fmt.Sprint("byte ", i), string(changed))
			try(fmt.Sprint("cut at ", i), sound[:i])
		}
		try("longer", sound+"x")
	}
}

// New lines are printed before more input arrives, even if the input does not end.
func TestLinesAreNotHeldBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	noError(t, os.WriteFile(first, []byte("ada"), 0o666))
	in, write := io.Pipe()
	read, out := io.Pipe()
	s := open(t, filepath.Join(dir, "s"), 10, 0.01)
	sieve := Sieve{State: s, Out: printed{Writer: bufio.NewWriter(out)}, Every: time.Hour}
	done := make(chan error)
	go func() { done <- sieve.Run(context.Background(), []string{first, "-"}, in) }()
	for _, line := range []string{"ada\n", "grace\n", "alan\n"} {
		if line != "ada\n" {
			io.WriteString(write, line)
		}
		got := make([]byte, len(line))
		if _, err := io.ReadFull(read, got); err != nil || string(got) != line {
			t.Fatalf("prints %q, %v, want %q", got, err, line)
		}
	}
	noError(t, errors.Join(write.Close(), <-done, s.Close()))
}

// wholeLines is an output that accepts only whole lines.
type wholeLines struct{ t *testing.T }

func (w wholeLines) Write(p []byte) (int, error) {
	if !bytes.HasSuffix(p, []byte("\n")) {
		w.t.Errorf("a write of %d bytes ends within a line", len(p))
	}
	return len(p), nil
}

// Each write to the output ends with a line, so that a kill between two of them tears none.
func TestWritesOfWholeLines(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "s"), 10_000, 1e-9)
	defer s.Close()
	var in strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&in, "%d%s\n", i, strings.Repeat("x", i%100*i%5000))
	}
	sieve := Sieve{State: s, Out: printed{Writer: bufio.NewWriter(wholeLines{t})}, Every: time.Hour}
	noError(t, sieve.Run(context.Background(), []string{"-"}, strings.NewReader(in.String())))
}
