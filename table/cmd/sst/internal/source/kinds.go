package source

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

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
func (s *Source) checkKind(e Entry) error {
	if e.Kind <= table.KindSet {
		return nil
	}
	if !e.Table.inDatabase {
		return fmt.Errorf("the newest version of key %s is of kind %s: sst scan of the table shows it, and only its engine knows the value", wire.Quote(e.Key), nameOf(e.Kind))
	}
	f, err := s.open(e.Table)
	if err != nil {
		return err
	}
	key := table.InternalKey{UserKey: e.Key, Sequence: e.Sequence, Kind: e.Kind}
	block, err := f.Reader.Locate(key.Append(nil))
	return errors.Join(err, f.Wrap(e.kindDamage(block)), s.release(e.Table, f))
}

// nameOf returns the number of a kind that LevelDB does not have, and what it is.
func nameOf(k table.Kind) string {
	if name, known := otherKinds[k]; known {
		return fmt.Sprintf("%d, %s of RocksDB or Pebble", k, name)
	}
	return fmt.Sprintf("%d, which no engine is known to write", k)
}

// kindDamage returns the damage of an entry in a data block whose kind LevelDB does not have.
func (e Entry) kindDamage(block table.Handle) error {
	err := fmt.Errorf("key %s with sequence number %d is of kind %s", wire.Quote(e.Key), e.Sequence, nameOf(e.Kind))
	return &table.CorruptionError{Block: table.DataBlock, Offset: int64(block.Offset), Length: int64(block.Length), Err: err}
}

// leavesOut reports whether a scan leaves out e, the newest version of its key: a tombstone, or one whose kind
// is damage that is passed over. Then the key is a Loss.
func (s *Source) leavesOut(e Entry, o ScanOptions) (bool, error) {
	err := s.checkKind(e)
	if s.isPassedOver(err) {
		s.loseKey(e.Table, e.Key, false, err)
		return true, nil
	}
	return e.Kind == table.KindDelete && !o.Tombstones, err
}
