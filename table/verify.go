package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// Verify reads the whole table anew and checks each block's checksum (with
// SkipChecksums too) and form, the order of keys within and across blocks and
// against the index, that no two blocks share bytes, and that each filter (with
// IgnoreFilter too) is sound and denies no key. Of a filter that no policy is
// known for, and of other blocks that the metaindex lists, only the checksum is
// checked. Bytes that belong to no block are not looked at.
//
// It goes on after damage, and returns all findings by way of errors.Join: a
// *CorruptionError for each damaged part, and one for each data block of which a
// filter denies keys, which it names. Errors of the source are among them as they
// are, and no CorruptionErrors: take the error apart to tell. If most keys are
// denied but are in the filter without their last 8 bytes, there is one finding
// about that, and no CorruptionError: the table is a database's, and wants
// FilterKey to be InternalFilterKey.
//
// Verify takes the memory of a second Reader, and of the findings. When these
// take half a MiB plus as much as the file, it stops and says so; of denied keys
// it then says how many more there are. It also says so if it would take too long
// to ask the filters for every key. Neither is a CorruptionError.
func (r *Reader) Verify() error {
	if r.closed.Load() {
		return ErrClosed
	}
	o := r.o
	o.SkipChecksums, o.Metrics, o.Cache = false, nil, nil
	err := verify(r.name, r.src, int64(r.footerOffset)+format.FooterLen, &o)
	if r.closed.Load() {
		return ErrClosed
	}
	return err
}

// verify checks the table anew.
func verify(name string, src io.ReaderAt, size int64, o *ReaderOptions) error {
	r, err := newIndexReader(name, src, size, o)
	if err != nil {
		return errors.Join(err)
	}
	v := newVerifier(r)
	v.add(v.meta())
	for i := 0; i < r.index.len() && !v.full(); i++ {
		v.add(v.block(i))
	}
	return v.findings()
}

type verifier struct {
	r       *Reader
	buffers buffers
	c       cursor
	filters []checkedFilter
	keys    int   // memory that may still be taken for keys
	hashing int64 // how many bytes of keys filters may still be asked for: see compareBudget

	found    []error
	room     int // memory that may still be taken for found
	denials  []error
	nameRoom int    // memory that may still be taken for denials
	names    []byte // scratch

	asked   int       // how often filters were asked for a key,
	denied  int       // and how often they denied one: of these keys
	named   int       // that many are named by denials,
	without int       // that many are in the filter without their last 8 bytes,
	denier  metaBlock // and this was the first filter to deny one
}

// checkedFilter is a sound filter block that there is a policy for.
type checkedFilter struct {
	metaBlock
	contains func(offset uint64, key []byte) bool // asks it for a key of the data block at offset
}

func newVerifier(r *Reader) *verifier {
	return &verifier{
		r:        r,
		keys:     dataKeyBudget.of(r.footerOffset),
		hashing:  1 << 28,
		room:     findingsBudget.of(r.footerOffset),
		nameRoom: findingsBudget.of(r.footerOffset),
	}
}

func (v *verifier) add(err error) {
	if err != nil {
		v.found = append(v.found, err)
		v.room -= 256 + 4*len(err.Error()) // about what it took to make
	}
}

// full reports whether there is no more room for findings.
func (v *verifier) full() bool { return v.room < 0 }

// block checks data block i, and its filters with each of its keys.
func (v *verifier) block(i int) error {
	if err := v.c.open(v.r, i, &v.buffers, &v.keys); err != nil {
		return err
	}
	v.hashing += 320 * int64(len(v.filters)) * int64(len(v.c.contents))
	for _, f := range v.filters {
		v.askFilter(i, f)
	}
	if v.hashing < 0 && v.filters != nil {
		first := v.filters[0]
		v.filters = nil
		return fmt.Errorf("table: %s at %d: not asked for all keys: those up to the data block at %d are, together, over 320 times as long as the blocks",
			first.kind, first.Offset, v.r.index.handles[i].Offset)
	}
	return nil
}

// askFilter asks the filter for each key of data block i, which is open, and
// names those that it denies, as far as there is room.
func (v *verifier) askFilter(i int, f checkedFilter) {
	offset := v.r.index.handles[i].Offset
	denied, named := v.denied, v.named
	v.names = v.names[:0]
	for ok := v.c.first(); ok && v.hashing >= 0; ok = v.c.next() {
		key := v.c.key()
		held := filterKeyOf(v.r.o.FilterKey, key)
		if held == nil {
			continue
		}
		v.asked++
		v.hashing -= int64(len(held))
		if f.contains(offset, held) {
			continue
		}
		v.denied++
		if user := InternalFilterKey(key); len(held) == len(key) && len(user) > 0 && f.contains(offset, user) {
			v.without++
		}
		if 8*len(v.names) < v.nameRoom {
			v.names = wire.AppendQuote(append(v.names, ", "...), key)
			v.named++
		}
	}
	if denied == 0 && v.denied > 0 {
		v.denier = f.metaBlock
	}
	if v.named > named {
		v.denials = append(v.denials, v.r.corrupt(f.kind, f.Handle, "denies keys of the data block at %d: %s", offset, v.names[2:]))
		v.nameRoom -= 256 + 4*len(v.names)
	}
}

func (v *verifier) findings() error {
	if v.full() {
		v.found = append(v.found, errors.New("table: too many findings: the rest of the table was not looked at"))
	}
	if 2*v.without > v.asked {
		hint := fmt.Errorf("table: %s at %d: denies %d keys but has them without their last 8 bytes: the table is a database's, and wants FilterKey: InternalFilterKey",
			v.denier.kind, v.denier.Offset, v.without)
		return errors.Join(append(v.found, hint)...)
	}
	if more := v.denied - v.named; more > 0 {
		v.denials = append(v.denials, v.r.corrupt(v.denier.kind, v.denier.Handle, "denies %d further keys", more))
	}
	return errors.Join(append(v.found, v.denials...)...)
}
