package layout

import (
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/layout"
)

// MaxSearched is the largest file that is searched for blocks by their checksums.
const MaxSearched = 128 << 20

// addFoundBlocks adds blocks that are found by their checksums, unless they overlap listed blocks.
func (t *Table) addFoundBlocks(internal dbfile.InternalKeys) error {
	which, listed := "index", t.rows
	if t.file.Layout == nil {
		which, listed = "footer", nil // the row of the footer is only its expected place
	}
	if t.file.Size > MaxSearched {
		t.note("the %s cannot be used, and files larger than %d bytes are not searched for blocks: use sst repair", which, MaxSearched)
		return nil
	}
	t.note("the %s cannot be used: blocks are found by their checksums, and damaged blocks are shown as gaps", which)
	found, err := salvage.FindBlocks(t.file)
	if err == nil && len(found) == 0 {
		err = t.file.ForeignErr
	}
	if err != nil {
		return err
	}
	if len(found) == salvage.MaxFound {
		t.note("the blocks after the first %d are shown as a gap: use sst repair", len(found))
	}
	for i, b := range found {
		r := Row{Offset: b.Offset, Bytes: b.Length, Kind: b.Kind, Found: true, block: &found[i]}
		if !r.overlapsAny(listed) {
			t.rows = append(t.rows, r)
		}
	}
	if missing := &t.rows[0]; missing.overlapsAny(t.rows[1:]) {
		missing.Offset, missing.Bytes = uint64(t.file.Size), 0
	}
	t.nameFoundBlocks()
	t.file.Internal = internal == dbfile.Yes || internal == dbfile.Auto && t.file.DetectInternalKeys(t.found(data))
	return nil
}

// nameFoundBlocks sets the names and kinds of found blocks from a found metaindex.
func (t *Table) nameFoundBlocks() {
	at := map[uint64]*Row{}
	for i := range t.rows {
		at[t.rows[i].Offset] = &t.rows[i]
	}
	for it := range t.found(metaindex) {
		for it.Next() {
			offset, n := format.Uvarint(it.Value())
			length, _ := format.Uvarint(it.Value()[n:])
			if r := at[offset]; r != nil && r.Found && r.Bytes == length {
				name := string(it.Key())
				r.Kind, r.Names = metaKinds[layout.MetaindexEntry{Name: name}.Kind()], append(r.Names, name)
			}
		}
	}
}

// found yields the found blocks of a kind that can be read. Table.read reports the errors of the others.
func (t *Table) found(kind string) iter.Seq[*rowblock.Iter] {
	return func(yield func(*rowblock.Iter) bool) {
		for _, r := range t.rows {
			if !r.Found || r.Kind != kind {
				continue
			}
			contents, err := r.block.Contents()
			if err != nil {
				continue
			}
			if it, err := dbfile.OpenBlock(contents, table.AnyOrder); err == nil && !yield(it) {
				return
			}
		}
	}
}
