package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// Properties are what a table says about itself, in a block that RocksDB's and
// Pebble's tables have, and those that are written with WriterOptions.Properties.
// What a table does not say is zero. Nothing of it is checked against the table.
type Properties struct {
	Entries      uint64 // tombstones among them
	Deletions    uint64 // tombstones, which are known in the order of internal keys
	RawKeySize   uint64 // bytes of all keys, uncompressed
	RawValueSize uint64 // bytes of all values
	DataBlocks   uint64
	DataSize     uint64 // bytes that data blocks take, without trailers
	IndexSize    uint64 // bytes of the index, before compression
	FilterSize   uint64 // bytes of the filters

	// FilterEntries is how many keys were added to the whole table's filter.
	FilterEntries uint64

	FilterPolicy string // its name: that of the whole table's filter, if there are two
	Comparer     string // its name: for internal keys, that of the users' keys' order
	Compression  string // "NoCompression", "Snappy", or what another engine says

	// The options that the table was written with.
	BlockSize       uint64
	RestartInterval uint64
	FilterBaseLg    uint64

	// Other has the properties beside these, by name.
	Other map[string][]byte
}

const (

	// maxProperties is far more than any engine writes.
	maxProperties = 1000
)

// numbers are the properties that are stored as varints, by name.
func (p *Properties) numbers() map[string]*uint64 {
	return map[string]*uint64{
		"rocksdb.num.entries":         &p.Entries,
		"rocksdb.deleted.keys":        &p.Deletions,
		"rocksdb.raw.key.size":        &p.RawKeySize,
		"rocksdb.raw.value.size":      &p.RawValueSize,
		"rocksdb.num.data.blocks":     &p.DataBlocks,
		"rocksdb.data.size":           &p.DataSize,
		"rocksdb.index.size":          &p.IndexSize,
		"rocksdb.filter.size":         &p.FilterSize,
		"rocksdb.num.filter_entries":  &p.FilterEntries,
		"sievetable.block.size":       &p.BlockSize,
		"sievetable.restart.interval": &p.RestartInterval,
		"sievetable.filter.base.lg":   &p.FilterBaseLg,
	}
}

// texts are the properties that are stored as they are, by name.
func (p *Properties) texts() map[string]*string {
	return map[string]*string{
		"rocksdb.filter.policy": &p.FilterPolicy,
		"rocksdb.comparator":    &p.Comparer,
		"rocksdb.compression":   &p.Compression,
	}
}

// indexTypeName is the property that says how the index is made: 0, in 4 bytes,
// stands for one sorted block.
const indexTypeName = "rocksdb.block.based.table.index.type"

// encode returns the block of the properties, in the order of their names.
func (p *Properties) encode() ([]byte, error) {
	all := map[string][]byte{indexTypeName: make([]byte, 4)}
	for name, n := range p.numbers() {
		all[name] = binary.AppendUvarint(nil, *n)
	}
	for name, s := range p.texts() {
		if *s != "" {
			all[name] = []byte(*s)
		}
	}
	w, err := block.NewWriter(math.MaxInt32) // as RocksDB's, without restart points
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := w.Append([]byte(name), all[name]); err != nil {
			return nil, err
		}
	}
	return w.Finish(), nil
}

// take takes the properties that it moves over, if they are not too many, and their
// names, which can be longer than what is stored of them, at most room bytes together.
func (p *Properties) take(it *block.Iter, room int) error {
	numbers, texts := p.numbers(), p.texts()
	for n := 0; it.Next(); n++ {
		name, value := it.Key(), it.Value()
		if room -= len(name); n == maxProperties || room < 0 {
			return fmt.Errorf("over %d properties, or too long ones", n)
		}
		if number := numbers[string(name)]; number != nil {
			v, size := wire.Uvarint(value)
			if size == 0 || size < len(value) {
				return fmt.Errorf("property %s is %x, want a minimal varint", name, value[:min(len(value), 20)])
			}
			*number = v
		} else if text := texts[string(name)]; text != nil {
			*text = string(value)
		} else {
			p.Other[string(name)] = bytes.Clone(value)
		}
	}
	return nil
}

// Properties reads the table's properties. It is ErrNotFound if the table has none.
func (r *Reader) Properties() (*Properties, error) {
	if r.closed.Load() {
		return nil, ErrClosed
	}
	it, err := r.readMetaindex()
	if err != nil {
		return nil, err
	}
	h, err := r.findMeta(it, PropertiesBlock, format.PropertiesName)
	if err != nil {
		return nil, err
	}
	if h.Length == 0 {
		return nil, ErrNotFound
	}
	var b buffers
	contents, err := r.readBlock(PropertiesBlock, h, &b)
	if err != nil {
		return nil, err
	}
	p, err := decodeProperties(contents, metaindexKeyBudget.of(r.footerOffset))
	if err != nil {
		return nil, r.damaged(PropertiesBlock, h, err)
	}
	return p, nil
}

// decodeProperties takes at most room bytes for names that share bytes, and for
// what it returns.
func decodeProperties(contents []byte, room int) (*Properties, error) {
	var it block.Iter
	budget := block.Budget{Memory: room / 2}
	if err := it.Open(contents, block.Order{}, &budget); err != nil {
		return nil, err
	}
	p := &Properties{Other: map[string][]byte{}}
	return p, p.take(&it, room/2)
}
