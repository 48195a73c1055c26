package source

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

// checkKind returns an error if e, the newest version of its key, is of a kind that LevelDB does
// not have: it does not tell whether there is a value, or which.
func (e Entry) checkKind() error {
	if e.Kind <= table.KindSet {
		return nil
	}
	what := "which no engine is known to write"
	if name, known := otherKinds[e.Kind]; known {
		what = name + " of RocksDB or Pebble"
	}
	return fmt.Errorf("the newest version of key %s is of kind %d, %s: sst scan of the table shows it, and only its engine knows the value",
		wire.Quote(e.Key), e.Kind, what)
}
