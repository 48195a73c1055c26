package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sievetable/sievetable/internal/verified"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// VerifiedKeys are what Verify has seen of the keys of a table.
type VerifiedKeys struct {
	all         bool // each block was sound
	first, last []byte
	sequence    uint64  // the highest one
	kinds       []error // the damage of keys whose kind LevelDB does not have
}

// Highest returns the highest sequence number, if all keys are known. Otherwise it returns 0.
func (k *VerifiedKeys) Highest() uint64 {
	if !k.all {
		return 0
	}
	return k.sequence
}

// maxKinds is how many keys are named whose kind LevelDB does not have.
const maxKinds = 100

func (k *VerifiedKeys) add(key []byte, offset, length uint64) {
	if k.first == nil {
		k.first = append([]byte{}, key...) // not nil
	}
	k.last = append(k.last[:0], key...)
	internal, ok := table.ParseInternalKey(key)
	if !ok {
		return
	}
	if k.sequence = max(k.sequence, internal.Sequence); internal.Kind > table.KindSet {
		k.addKind(Entry{Key: internal.UserKey, Sequence: internal.Sequence, Kind: internal.Kind, Offset: offset}, length)
	}
}

// addKind adds the damage of an entry whose kind LevelDB does not have, in a data block of that length.
func (k *VerifiedKeys) addKind(e Entry, length uint64) {
	switch {
	case len(k.kinds) > maxKinds:
	case len(k.kinds) == maxKinds:
		k.kinds = append(k.kinds, corruption("more keys are of kinds that LevelDB does not have"))
	default:
		k.kinds = append(k.kinds, e.kindDamage(int64(length)))
	}
}

// Verify checks the whole table, and compares one of a set with its line in the manifest, unless line is nil. For
// that, Open it with ReadOnce. If the keys contradict an order that is not trusted, it checks them again
// in any order. note is about a sound table.
func (f *File) Verify(line *set.Table) (keys *VerifiedKeys, note string, err error) {
	keys = new(VerifiedKeys)
	if line != nil {
		note, err = f.verifyLine(line)
		return keys, note, err
	}
	f.once.startCheck()
	keys.all, err = verified.Verify(f.Reader, keys.add)
	if again, failed := f.ReopenInAnyOrder(err); again || failed != nil {
		*keys = VerifiedKeys{}
		keys.all, err = verified.Verify(f.Reader, keys.add)
		err = errors.Join(failed, err)
	}
	if f.inDatabase {
		err = errors.Join(append([]error{err}, keys.kinds...)...)
	}
	return keys, "", err
}

// wholeFile is how large a table may be to be read at once.
const wholeFile = 4 << 20

// maxKept is the largest read that is kept until the check. What is larger, such as the filter of a large table, is
// read twice: its memory would come on top of what the check takes.
const maxKept = 16 << 20

// A readOnce reads a table that will be checked completely. It keeps what is read to open the table, up to
// maxKept bytes of each read, so that the check does not read that again. One goroutine at a time may use it.
type readOnce struct {
	io.ReaderAt
	size     int64
	count    func(n int64)    // is called with the bytes that the check reads
	memory   *[wholeFile]byte // nil for a large table
	whole    *bytes.Reader    // in memory: the table; nil: it is read part by part
	kept     []extent         // each is kept until the check has read it
	checking bool
}

// An extent is a part of a file.
type extent struct {
	offset int64
	bytes  []byte
}

// wholeFiles are memory for one small table after the other.
var wholeFiles = sync.Pool{New: func() any { return new([wholeFile]byte) }}

// newReadOnce returns a source of the table of size bytes in r. tail is how many bytes there may be behind the
// data blocks, or 0 if that is unknown. If what it reads ahead cannot be read, the error comes again for the
// part that is needed.
func newReadOnce(r io.ReaderAt, size, tail int64, count func(int64)) *readOnce {
	o := &readOnce{ReaderAt: r, size: size, count: count}
	if size <= wholeFile {
		o.memory = wholeFiles.Get().(*[wholeFile]byte)
		if p := o.memory[:size]; readFull(r, p, 0) {
			o.whole = bytes.NewReader(p)
		}
	} else if tail > 0 && tail <= min(size, maxKept) {
		if p := make([]byte, tail); readFull(r, p, size-tail) {
			o.kept = append(o.kept, extent{size - tail, p})
		}
	}
	return o
}

// readFull fills p, and reports whether that succeeded.
func readFull(r io.ReaderAt, p []byte, off int64) bool {
	_, err := io.ReadFull(io.NewSectionReader(r, off, int64(len(p))), p)
	return err == nil
}

// close gives the memory back. It does nothing for nil.
func (o *readOnce) close() {
	if o == nil || o.memory == nil {
		return
	}
	wholeFiles.Put(o.memory)
	o.memory, o.whole = nil, nil
}

// startCheck says that the table is open. It does nothing for nil.
func (o *readOnce) startCheck() {
	if o != nil {
		o.checking = true
	}
}

// ReadAt reads from memory, or from the file.
func (o *readOnce) ReadAt(p []byte, off int64) (int, error) {
	if o.whole != nil {
		return o.whole.ReadAt(p, off)
	}
	end := min(off+int64(len(p)), o.size)
	for i, e := range o.kept {
		if off < e.offset || off > end || end > e.offset+int64(len(e.bytes)) {
			continue
		}
		n, err := bytes.NewReader(e.bytes).ReadAt(p, off-e.offset)
		if o.checking {
			o.kept[i] = extent{}
		}
		return n, err
	}
	n, err := o.ReaderAt.ReadAt(p, off)
	if o.checking {
		o.count(int64(n))
	} else if n == len(p) && n <= maxKept {
		o.kept = append(o.kept, extent{off, append([]byte(nil), p...)})
	}
	return n, err
}

// verifyLine checks a table of a set, as Verify of package set does, and the size of its tail. If the table is
// damaged, that is all it returns. note says that the table cannot be told from others when it is opened.
func (f *File) verifyLine(l *set.Table) (note string, err error) {
	o := table.ReaderOptions{Codecs: f.Options.Codecs, TableFilterPolicies: f.Options.TableFilterPolicies}
	s, err := set.Open(context.Background(), &set.Manifest{Tables: []set.Table{*l}}, onlyTable{f.Src}, &set.Options{Reader: o})
	if err != nil {
		return "", err
	}
	defer s.Close()
	f.once.startCheck()
	err = s.Verify(context.Background(), func(_ set.Table, found error) {
		if errors.Is(found, set.ErrNotIdentified) {
			note = "it has no digest of its data blocks: lookups do not notice when a table of the same keys replaces it; build it with sst build --summary or as a set"
			if l.TailSum == "" {
				note = "the manifest has no tailSum of it: lookups may not notice when it is replaced; write the manifest again with sst manifest"
			}
		}
	})
	return note, damageOrMismatch(err, l.Name)
}

// damageOrMismatch returns the damage that Verify of package set has found in a table, without its name, or else how
// it differs from the manifest.
func damageOrMismatch(found error, name string) error {
	var damage []error
	var mismatch error
	for _, err := range leaves(found) {
		if errors.Is(err, set.ErrMismatch) {
			mismatch = cmp.Or(mismatch, err)
			continue
		}
		if c, ok := err.(*table.CorruptionError); ok {
			c.File = ""
		} else if rest, named := strings.CutPrefix(err.Error(), "table: "+name+": "); named {
			err = errors.New("table: " + rest)
		}
		damage = append(damage, err)
	}
	if damage != nil || mismatch == nil {
		return errors.Join(damage...)
	}
	return corruption(strings.TrimPrefix(mismatch.Error(), fmt.Sprintf("set: table %q: ", name)))
}

// leaves returns the errors that errors.Join has joined.
func leaves(err error) (all []error) {
	switch joined, ok := err.(interface{ Unwrap() []error }); {
	case ok:
		for _, err := range joined.Unwrap() {
			all = append(all, leaves(err)...)
		}
	case err != nil:
		all = []error{err}
	}
	return all
}

// An onlyTable is the Source of a set of one table.
type onlyTable struct{ io.ReaderAt }

func (t onlyTable) ReadAt(_ context.Context, _ string, p []byte, off int64) (int, error) {
	return t.ReaderAt.ReadAt(p, off)
}
