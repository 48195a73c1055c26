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

// A Record is a record, or the start of one.
type Record struct {
	Bytes []byte // valid until the next
	Len   int    // of all of it
}

// All yields the records of the file, of each up to keep bytes. Any damage is an error: there was none when the
// file was found to be a RecordFile.
func (r *Records) All(o Options, keep int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := r.read(o, keep, yield); err != nil {
			yield(Record{}, err)
		}
	}
}

// read yields the records. It returns nil if yield wants no more.
func (r *Records) read(o Options, keep int, yield func(Record, error) bool) error {
	f, err := openRegular(r.Path, o.Outputs)
	if err != nil {
		return err
	}
	defer f.Close()
	if r.Size = f.Size; o.WrapReader != nil {
		f.Src = o.WrapReader(f.Src)
	}
	var damage error
	in, err := wal.NewLogReader(f.Src, f.Size, func(d wal.Damage) { damage = d })
	if err != nil {
		return f.Wrap(err)
	}
	in.KeepHeads(keep)
	for {
		record, _, err := in.Next()
		switch {
		case damage != nil:
			return f.Wrap(damage)
		case err == io.EOF:
			end := wal.Log{Tail: f.Size - in.Offset(), ZeroTail: in.EndsInZeros()}
			r.Note = end.UnwrittenNote()
			return nil
		case err != nil:
			return f.Wrap(err)
		case !yield(Record{record, in.RecordLen()}, nil):
			return nil
		}
	}
}
