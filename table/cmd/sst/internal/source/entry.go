package source

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// An Entry is an entry of a table, or a write of a log.
type Entry struct {
	Key, Value []byte // for an internal key, the user key
	Internal   bool   // the key is an internal key, with Sequence and Kind
	Sequence   uint64
	Kind       table.Kind

	// Scan sets where the entry was found.
	Table  *Table // nil: the entry is in a log
	Log    string // path of the log
	Offset uint64 // offset of the data block in the table, or of the batch in the log

	age int // the age of its table; 0 for a log
}

// parseEntry splits an internal key.
func parseEntry(key, value []byte, internal bool) (Entry, error) {
	if !internal {
		return Entry{Key: key, Value: value, Kind: table.KindSet}, nil
	}
	k, ok := table.ParseInternalKey(key)
	if !ok {
		return Entry{}, fmt.Errorf("key %s has < 8 bytes, so it is not an internal key: use --internal-keys no", wire.Quote(key))
	}
	return Entry{Key: k.UserKey, Value: value, Internal: true, Sequence: k.Sequence, Kind: k.Kind}, nil
}

// newerThan reports whether e shadows o, which has the same key. With the same sequence number, a value comes before
// a deletion, as in the order of internal keys. Without sequence numbers, the newest table counts.
func (e Entry) newerThan(o Entry) bool {
	if e.Sequence == o.Sequence && (e.Kind == o.Kind || !e.Internal) {
		return e.age < o.age
	}
	return cmp.Or(cmp.Compare(e.Sequence, o.Sequence), cmp.Compare(e.Kind, o.Kind)) > 0
}

// Compare orders entries by key, and versions of a key from newest to oldest.
func (e Entry) Compare(o Entry, keys table.Comparer) int {
	if order := keys.Compare(e.Key, o.Key); order != 0 {
		return order
	}
	if order := cmp.Compare(o.Sequence, e.Sequence); order != 0 {
		return order
	}
	return cmp.Compare(o.Kind, e.Kind)
}

// otherKinds are the kinds that tables of RocksDB and Pebble can have, and LevelDB's cannot.
var otherKinds = map[table.Kind]string{
	0x02: "a merge operand",
	0x07: "a single deletion",
	0x0f: "a range deletion",
	0x11: "a blob index",
	0x12: "a set with delete",
	0x14: "a deletion with timestamp",
	0x16: "a wide-column entity",
	0x17: "a sized deletion",
	0x18: "a value with a preferred sequence number",
}

// isKnown reports whether an engine is known to write keys of that kind.
func isKnown(k table.Kind) bool {
	_, other := otherKinds[k]
	return other || k <= table.KindSet
}

// checkKind returns an error if e is of a kind that LevelDB does not have: whether there is a value, or which,
// cannot be known. In a database of LevelDB that is damage. Another table may be of an engine that has the kind.
func (e Entry) checkKind() error {
	switch {
	case e.Kind <= table.KindSet:
		return nil
	case e.Table.inDatabase:
		return &FileError{e.Table.Path, e.kindDamage(-1)}
	}
	return fmt.Errorf("the newest version of key %s is of kind %s: sst scan of the table shows it, and only its engine knows the value", wire.Quote(e.Key), nameOf(e.Kind))
}

// nameOf returns the number of a kind that LevelDB does not have, and what it is.
func nameOf(k table.Kind) string {
	if name, known := otherKinds[k]; known {
		return fmt.Sprintf("%d, %s of RocksDB or Pebble", k, name)
	}
	return fmt.Sprintf("%d, which no engine is known to write", k)
}

// kindDamage returns the damage of an entry whose kind LevelDB does not have, in a data block of that length, or of -1.
func (e Entry) kindDamage(length int64) error {
	err := fmt.Errorf("key %s with sequence number %d is of kind %s", wire.Quote(e.Key), e.Sequence, nameOf(e.Kind))
	return &table.CorruptionError{Block: table.DataBlock, Offset: int64(e.Offset), Length: length, Err: err}
}

// leavesOut reports whether a scan leaves out e, the newest version of its key: a tombstone, or one whose kind
// is damage that is passed over. Then the key is a Loss.
func (s *Source) leavesOut(e Entry, o ScanOptions) (bool, error) {
	err := e.checkKind()
	if s.isPassedOver(err) {
		s.loseKey(e.Table, e.Key, false, err)
		return true, nil
	}
	return e.Kind == table.KindDelete && !o.Tombstones, err
}

// OpenBlock returns an Iter on the contents of a block, which it keeps. A key is never
// longer than its block, so the memory budget grows with the block.
func OpenBlock(contents []byte, order table.Comparer) (*encoded.Iter, error) {
	it, budget := new(encoded.Iter), encoded.Budget{Memory: int(min(1<<20+4*int64(len(contents)), math.MaxInt)), Compared: 1<<20 + 1024*int64(len(contents))}
	if err := it.Open(contents, encoded.Order(table.BlockOrder(order)), &budget); err != nil {
		return nil, err
	}
	return it, nil
}

// NumRestarts returns the number of restart points of a block that OpenBlock has opened.
func NumRestarts(contents []byte) int {
	parts, err := format.SplitBlock(contents)
	if err != nil {
		return 0 // it was not opened
	}
	return parts.NumRestarts()
}

// A KeyRange is a range of user keys.
type KeyRange struct {
	From, To            []byte // nil: no bound
	AfterFrom, BeforeTo bool   // From, or To, is not in the range itself
}

// String describes the range, such as `keys ≥ "a" and ≤ "b"`.
func (r KeyRange) String() string {
	var bounds []string
	if r.From != nil {
		bounds = append(bounds, map[bool]string{false: "≥ ", true: "> "}[r.AfterFrom]+wire.Quote(r.From))
	}
	if r.To != nil {
		bounds = append(bounds, map[bool]string{false: "≤ ", true: "< "}[r.BeforeTo]+wire.Quote(r.To))
	}
	if bounds == nil {
		return "keys, which can be any"
	}
	return "keys " + strings.Join(bounds, " and ")
}

// endsBefore reports whether all keys of the range are < from, or with after ≤ from. nil is
// before all keys.
func (r KeyRange) endsBefore(order table.Comparer, from []byte, after bool) bool {
	if r.To == nil || from == nil {
		return false
	}
	c := order.Compare(r.To, from)
	return c < 0 || c == 0 && (r.BeforeTo || after)
}

// overlaps reports whether a key can be in both ranges. In an unknown order any can.
func (r KeyRange) overlaps(order table.Comparer, o KeyRange) bool {
	return order == table.AnyOrder || !r.endsBefore(order, o.From, o.AfterFrom) && !o.endsBefore(order, r.From, r.AfterFrom)
}

// extend returns the smallest range that has all keys of two ranges.
func (r KeyRange) extend(order table.Comparer, o KeyRange) KeyRange {
	if order == table.AnyOrder {
		return KeyRange{}
	}
	if r.From != nil && (o.From == nil || order.Compare(o.From, r.From) <= 0) {
		r.AfterFrom = o.AfterFrom && (r.AfterFrom || order.Compare(o.From, r.From) < 0)
		r.From = o.From
	}
	if r.To != nil && (o.To == nil || order.Compare(o.To, r.To) >= 0) {
		r.BeforeTo = o.BeforeTo && (r.BeforeTo || order.Compare(o.To, r.To) > 0)
		r.To = o.To
	}
	return r
}
