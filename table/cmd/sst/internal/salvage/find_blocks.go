package salvage

import (
	"cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// A FoundBlock is a block that was found by its checksum.
type FoundBlock struct {
	table.Handle
	Kind        string // data, index, metaindex, properties, or block if unknown
	Compression byte   // id

	file   fileImage
	extent extent
}

// Contents returns the decompressed block. It may be a slice of the file in memory.
func (f FoundBlock) Contents() ([]byte, error) { return f.file.decode(f.extent) }

// kindNames are the values of FoundBlock.Kind.
var kindNames = map[blockKind]string{dataBlock: "data", indexBlock: "index", metaindexBlock: "metaindex", propertiesBlock: "properties"}

// FindBlocks finds the blocks of a file by their checksums, in file order. It reads the
// whole file into memory.
func FindBlocks(f *dbfile.File) ([]FoundBlock, error) {
	in, err := readImage(f)
	if err != nil {
		return nil, err
	}
	kinds := searchBlocks(in).kinds
	var found []FoundBlock
	for p := range scan(in) {
		if p.kind == gap {
			continue
		}
		name := ""
		if p.kind == entryBlock {
			name = kindNames[kinds.of(p.extent)]
		}
		h := table.Handle{Offset: uint64(p.start), Length: uint64(p.end - p.start)}
		found = append(found, FoundBlock{Handle: h, Kind: cmp.Or(name, "block"), Compression: in.data[p.end], file: in, extent: p.extent})
	}
	return found, nil
}
