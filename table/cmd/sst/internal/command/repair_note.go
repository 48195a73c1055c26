package command

import (
	"io"

	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// notRepaired are the compressions that engines lack, and which these are.
var notRepaired = map[string]string{
	"zstd":    "C++ LevelDB ≤ 1.23",
	"zlib":    "C++ LevelDB",
	"deflate": "C++ LevelDB",
}

// noteNotRepaired says of the table of a database which engines cannot read its compression. They do not
// say so when they repair the database: C++ LevelDB moves the table away, and goleveldb deletes it.
func noteNotRepaired(stderr io.Writer, compression string) {
	if engine := notRepaired[compression]; engine != "" {
		text.Note(stderr, "goleveldb and %s cannot read %s, and their repairs (RecoverFile, RepairDB) drop tables with it silently: for databases of theirs, use --compression snappy", engine, compression)
	}
}
