package source

import (
	"io"
	"iter"

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
		f, err := openRegular(r.Path, o.Outputs)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.file.Close() // it was only read
		if r.Size = f.Size; o.WrapReader != nil {
			f.Src = o.WrapReader(f.Src)
		}
		if err := r.read(f, yield); err != nil {
			yield(nil, f.Wrap(err))
		}
	}
}

// read yields the records. It returns nil if yield wants no more.
func (r *Records) read(f *File, yield func([]byte, error) bool) error {
	var damage error
	in, err := wal.NewLogReader(f.Src, f.Size, func(d wal.Damage) { damage = d })
	if err != nil {
		return err
	}
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
		if err != nil || !yield(record, nil) {
			return err
		}
	}
}
