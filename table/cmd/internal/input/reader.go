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

	name  string // name of the last pair's input or, in a directory, file
	line  int    // 0: the pair is a file
	bar   *progress.Bar
	noted []string
	tabs  bool // the note about tabs in keys was printed
	yield func(Pair, error) bool
}

// Place returns the place of the last pair in the input.
func (r *Reader) Place() string {
	if r.line == 0 {
		return r.name
	}
	return fmt.Sprintf("%s, line %d", r.name, r.line)
}

// Pairs returns the pairs of the inputs, one input after the other. Errors name the input and the line. When ctx
// ends, Pairs stops waiting for input.
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

// Keys is like Pairs, but yields only the keys.
func (r *Reader) Keys(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r.Pairs(ctx)(func(p Pair, err error) bool { return yield(p.Key, err) })
	}
}

// errStop ends reading if the caller's loop ends.
var errStop = errors.New("stop")

// pair yields a pair. If line is 0, the pair is a file.
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

// looksLikeVersion matches a value that starts with a sequence number and a kind, as in lines for
// --internal-keys.
var looksLikeVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+\t(set|delete)\t`) })

// note prints each note only once, since plan reads an input twice.
func (r *Reader) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(r.noted, note) {
		text.Note(r.Stderr, "%s", note)
		r.noted = append(r.noted, note)
	}
}

// read yields the pairs of one input.
func (r *Reader) read(ctx context.Context, path string) (err error) {
	if path == "-" {
		return r.lines(ctx, standardInput, r.Stdin)
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

// directory yields a pair for each regular file below dir: its path with slashes, and its contents.
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

// contents returns the contents of a file, in buf if its capacity suffices.
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
		defer s.Close() // the temporary files are not needed any more
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
