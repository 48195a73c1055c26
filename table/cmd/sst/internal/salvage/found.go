package salvage

import (
	"cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A Found is a block that was found by its checksum.
type Found struct {
	table.Handle
	Kind        string // what it is taken for: data, index, metaindex, properties, or no more than a block
	Compression byte   // id

	in image
	e  extent
}

// Contents returns what is in the block, decompressed. It may be a part of the file.
func (f Found) Contents() ([]byte, error) { return f.in.decode(f.e) }

// foundKinds are the Kinds of Founds.
var foundKinds = map[kind]string{dataBlock: "data", indexBlock: "index", metaindexBlock: "metaindex", propertiesBlock: "properties"}

// Find finds the blocks of a file by their checksums, in its order, for which it takes the file
// into memory.
func Find(f *source.File) ([]Found, error) {
	in, err := imageOf(f)
	if err != nil {
		return nil, err
	}
	kinds := find(in).kinds
	var found []Found
	for p := range scan(in) {
		if p.kind == gap {
			continue
		}
		name := ""
		if p.kind == withEntries {
			name = foundKinds[kinds.of(p.extent)]
		}
		h := table.Handle{Offset: uint64(p.start), Length: uint64(p.end - p.start)}
		found = append(found, Found{Handle: h, Kind: cmp.Or(name, "block"), Compression: in.data[p.end], in: in, e: p.extent})
	}
	return found, nil
}
