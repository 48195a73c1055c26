package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/merge"
)

// A Reader reads inputs, with progress and notes on Stderr. An input is a file with one pair per line, "-" for
// Stdin, or a directory.
type Reader struct {
	Paths   []string
	Stdin   io.Reader
	Stderr  io.Writer
	Options Options
	N       int // number of pairs read

	name  string // of the input of the last pair or, in a directory, of the file
	line  int    // 0: the pair is a file
	bar   *progress.Bar
	noted []string
	tabs  bool // the note about tabs in keys was printed
	yield func(Pair, error) bool
}

// Place returns where the last pair is from.
func (r *Reader) Place() string {
	if r.line == 0 {
		return r.name
	}
	return fmt.Sprintf("%s, line %d", r.name, r.line)
}

// Pairs returns the pairs of the inputs, one input after the other. Errors name the input and the line.
// When ctx ends, it stops waiting for input.
func (r *Reader) Pairs(ctx context.Context) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		r.bar, r.yield = progress.Bytes(r.Stderr, TotalSize(r.Paths), "reading"), yield
		defer r.bar.Done()
		for _, path := range r.Paths {
			if err := r.read(ctx, path); err == errStop {
				return
			} else if err != nil {
				yield(Pair{}, err)
				return
			}
		}
	}
}

// Keys is like Pairs for the keys alone.
func (r *Reader) Keys(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r.Pairs(ctx)(func(p Pair, err error) bool { return yield(p.Key, err) })
	}
}

// errStop is the error if no more pairs are wanted.
var errStop = errors.New("stop")

// pair yields a pair. A line of 0 is a file.
func (r *Reader) pair(p Pair, name string, line int) error {
	if r.N == 0 && !r.Options.InternalKeys && looksLikeVersion().Match(p.Value) {
		r.note("the values start with a sequence number and a kind: to make these part of the keys, use --internal-keys yes")
	}
	r.N++
	if r.name, r.line = name, line; !r.yield(p, nil) {
		return errStop
	}
	return nil
}

// looksLikeVersion matches a value that starts with a sequence number and a kind, as with
// --internal-keys.
var looksLikeVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+\t(set|delete)\t`) })

// note prints a note once, as plan reads an input twice.
func (r *Reader) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(r.noted, note) {
		text.Note(r.Stderr, "%s", note)
		r.noted = append(r.noted, note)
	}
}

// read yields the pairs of one input.
func (r *Reader) read(ctx context.Context, path string) (err error) {
	if path == "-" {
		return r.lines(ctx, "standard input", r.Stdin)
	}
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return r.directory(path)
	}
	return r.lines(ctx, path, f)
}

// directory yields a pair for each regular file below dir: its slash path, and its
// contents.
func (r *Reader) directory(dir string) error {
	if r.Options.InternalKeys {
		return fmt.Errorf("%s is a directory, whose files have no sequence numbers: leave out --internal-keys yes", dir)
	}
	var buf []byte
	root := dir + string(filepath.Separator) // with a separator, a link to a directory is followed
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if out, err := r.isOutput(path, d); err != nil || out {
			return err
		}
		key, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if buf, err = r.contents(path, buf); err != nil {
			return err
		}
		return r.pair(Pair{[]byte(filepath.ToSlash(key)), buf}, path, 0)
	})
}

// isOutput reports whether a file in a directory is written by the command.
func (r *Reader) isOutput(path string, d fs.DirEntry) (bool, error) {
	info, err := d.Info()
	if err != nil {
		return false, err
	}
	out := r.Options.Outputs.Has(info)
	if out {
		r.note("skipped %s, the output", path)
	}
	return out || r.Options.Temporary.Has(info), nil
}

// contents returns the contents of a file, in buf if its capacity is enough.
func (r *Reader) contents(path string, buf []byte) ([]byte, error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	limit := r.Options.Memory
	if err := limit.CheckPair(info.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if n := int(info.Size()) + bytes.MinRead; n > cap(buf) {
		buf = make([]byte, 0, n)
	}
	b := bytes.NewBuffer(buf[:0])
	if _, err := b.ReadFrom(r.bar.Reader(io.LimitReader(f, int64(limit.MaxPair())+1))); err != nil { // it may grow
		return nil, err
	}
	if err := limit.CheckPair(int64(b.Len())); err != nil {
		return nil, fmt.Errorf("%s grew while it was read: %w", path, err)
	}
	return b.Bytes(), nil
}

// Sort yields pairs in the order of their keys, as a merge.Sorter does.
func Sort(ctx context.Context, pairs iter.Seq2[Pair, error], o *merge.SorterOptions) iter.Seq2[*merge.Sorted, error] {
	return func(yield func(*merge.Sorted, error) bool) {
		s, err := merge.NewSorter(ctx, o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.Close() // what temporary files were for is done
		for p, err := range pairs {
			if err == nil {
				err = s.Append(p.Key, p.Value)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		s.All()(yield)
	}
}
