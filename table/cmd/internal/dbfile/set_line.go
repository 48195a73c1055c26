package dbfile

import (
	"bytes"
	"encoding/hex"
	"errors"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// differs returns the error for a field of the manifest that is not true of the table.
func differs(field string, has, want any) error {
	return wal.Corruptionf("%s is %v, want %v as the manifest of the set says: put that table back, or build the set again", field, has, want)
}

// checkEnds compares the first and the last key with the manifest of the set.
func (f *File) checkEnds(l *set.Table) error {
	first, last := f.Ends()
	if first != nil && !bytes.Equal(first, l.Smallest) {
		return differs("first key", f.Separator(first), f.Separator(l.Smallest))
	}
	if last != nil && !bytes.Equal(last, l.Largest) {
		return differs("last key", f.Separator(last), f.Separator(l.Largest))
	}
	return nil
}

// checkTail compares the TailSum with the manifest of a set, if that has it, and before Verify also how many bytes are
// behind the last data block: package set opens the table by a read of that many. If the table is damaged so that it
// has no TailSum, Verify reports that.
func checkTail(layout *table.Layout, size int64, o Options) error {
	if o.Line == nil {
		return nil
	}
	tail := size
	if n := len(layout.Data); n > 0 {
		last := layout.Data[n-1]
		tail -= int64(last.Offset+last.Length) + format.TrailerLen
	}
	sum, _, err := layout.TailSum()
	got := hex.EncodeToString(sum[:])
	switch {
	case errors.Is(err, table.ErrCorrupt):
		return nil
	case err != nil && o.Line.TailSum != "":
		return err
	case o.Line.TailSum != "" && got != o.Line.TailSum:
		return differs("tailSum", got, o.Line.TailSum)
	case o.ReadOnce != nil && tail != o.Line.TailSize:
		return differs("tailSize", tail, o.Line.TailSize)
	}
	return nil
}
