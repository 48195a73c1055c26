package layout

import (
	"iter"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
)

// addFoundBlocks adds blocks that are found by their checksums, unless they overlap blocks
// that are listed.
func (t *Table) addFoundBlocks(internal dbfile.InternalKeys) error {
	which := "footer"
	if t.layout != nil {
		which = "index"
	}
	if t.file.Size > MaxSearched {
		t.note("the %s cannot be used, and files of > %d bytes are not searched for blocks: use sst repair", which, MaxSearched)
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
	listed := t.sections
	if t.layout == nil {
		listed = nil // the footer is only where it should be
	}
	for i := range found {
		p := section{Handle: found[i].Handle, kind: found[i].Kind, found: &found[i]}
		if !p.overlapsAny(listed) {
			t.sections = append(t.sections, p)
		}
	}
	if missing := &t.sections[0]; missing.overlapsAny(t.sections[1:]) {
		missing.Handle = table.Handle{Offset: uint64(t.file.Size)}
	}
	t.nameFoundBlocks()
	t.internal = internal == dbfile.Yes || internal == dbfile.Auto && t.file.DetectInternalKeys(t.foundData())
	return nil
}

// overlapsAny reports whether the section shares bytes with one of others.
func (p *section) overlapsAny(others []section) bool {
	for i := range others {
		if o := &others[i]; p.Offset < o.end() && o.Offset < p.end() {
			return true
		}
	}
	return false
}

// nameFoundBlocks sets the names and kinds of found blocks from a found metaindex.
func (t *Table) nameFoundBlocks() {
	at := map[uint64]*section{}
	for i := range t.sections {
		at[t.sections[i].Offset] = &t.sections[i]
	}
	for i := range t.sections {
		if t.sections[i].found == nil || t.sections[i].kind != metaindex {
			continue
		}
		it, err := t.sections[i].openFound()
		if err != nil {
			continue // reading it returns the error
		}
		for it.Next() {
			offset, n := wire.Uvarint(it.Value())
			length, _ := wire.Uvarint(it.Value()[n:])
			if p := at[offset]; p != nil && p.found != nil && p.Length == length {
				p.kind, p.names = kindOf(string(it.Key())), append(p.names, string(it.Key()))
			}
		}
	}
}

// foundData returns the data blocks that were found.
func (t *Table) foundData() iter.Seq[*encoded.Iter] {
	return func(yield func(*encoded.Iter) bool) {
		for i := range t.sections {
			p := &t.sections[i]
			if p.found == nil || p.kind != data {
				continue
			}
			if it, err := p.openFound(); err == nil && !yield(it) {
				return
			}
		}
	}
}

func (p *section) openFound() (*encoded.Iter, error) {
	contents, err := p.found.Contents()
	if err != nil {
		return nil, err
	}
	return dbfile.OpenBlock(contents, table.AnyOrder)
}
