package source

import (
	"io"
	"iter"
	"math"

	"github.com/sievetable/sievetable/internal/wal"
)

// Records is a RecordFile.
type Records struct {
	Path string
	Size int64  // after All began
	Note string // what is at its end and no record, after All ended; "": nothing
}

// All yields the records of the file, each valid until the next. Any damage is an error: there was none when the
// file was found to be a RecordFile.
func (r *Records) All(o Options) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r.open(o, math.MaxInt, func(record []byte, _ int, err error) bool { return yield(record, err) })
	}
}

// Lengths is like All, but yields the lengths of the records, which are not read into memory.
func (r *Records) Lengths(o Options) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		r.open(o, 0, func(_ []byte, length int, err error) bool { return yield(length, err) })
	}
}

// open opens the file and yields the first keep bytes of its records and their lengths, or an error.
func (r *Records) open(o Options, keep int, yield func([]byte, int, error) bool) {
	f, err := openRegular(r.Path, o.Outputs)
	if err != nil {
		yield(nil, 0, err)
		return
	}
	defer f.Close()
	if r.Size = f.Size; o.WrapReader != nil {
		f.Src = o.WrapReader(f.Src)
	}
	if err := r.read(f, keep, yield); err != nil {
		yield(nil, 0, f.Wrap(err))
	}
}

// read yields the records. It returns nil if yield wants no more.
func (r *Records) read(f *File, keep int, yield func([]byte, int, error) bool) error {
	var damage error
	in, err := wal.NewLogReader(f.Src, f.Size, func(d wal.Damage) { damage = d })
	if err != nil {
		return err
	}
	in.KeepHeads(keep)
	for {
		record, _, err := in.Next()
		if damage != nil {
			return damage
		}
		if err == io.EOF {
			end := wal.Log{Tail: f.Size - in.Offset(), ZeroTail: in.EndsInZeros()}
			r.Note = end.UnwrittenNote()
			return nil
		}
		if err != nil || !yield(record, in.RecordLen(), nil) {
			return err
		}
	}
}
