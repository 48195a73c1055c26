package dbfile

import (
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

// KindName returns the number of a kind that LevelDB does not have, and what it is.
func KindName(k table.Kind) string {
	if name, known := otherKinds[k]; known {
		return fmt.Sprintf("%d, %s of RocksDB or Pebble", k, name)
	}
	return fmt.Sprintf("%d, which no engine is known to write", k)
}

// KindDamage returns the damage of an entry in a data block whose kind LevelDB does not have.
func (e Entry) KindDamage(block table.Handle) error {
	err := fmt.Errorf("key %s with sequence number %d is of kind %s", wire.Quote(e.Key), e.Sequence, KindName(e.Kind))
	return &table.CorruptionError{Block: table.DataBlock, Offset: int64(block.Offset), Length: int64(block.Length), Err: err}
}
