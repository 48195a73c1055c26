// Package report writes a web page about a table: a map of its blocks, their sizes, its
// filters, and the steps of a lookup. The lookup runs in the page. The page is one file and
// loads no others.
package report

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// Options say what a page holds.
type Options struct {
	// Embed limits the size of the keys and values in the page. Blocks beyond it are in
	// the page without their entries. Independent of it, maxHeld limits index and filters.
	Embed uint64

	// Command is the command that looks up a key, which the page appends. The page shows it
	// for entries that it does not hold. Its words are quoted for a shell.
	Command []string

	// Scan is the command that prints entries, to which the page appends --from and --to.
	Scan []string
}

// A Model is the contents of a page. The page holds it as JSON.
type Model struct {
	File     string   `json:"file"`
	Command  []string `json:"command"`
	Scan     []string `json:"scan"`
	Size     int64    `json:"size"`
	Internal bool     `json:"internal"`
	Note     string   `json:"note,omitempty"`  // why a filter is not used
	Order    string   `json:"order,omitempty"` // the order of keys if it is not bytewise: the page then looks up no keys

	FilterOnly bool   `json:"filter_only"`      // there is a filter of keys, and no entries
	Hidden     string `json:"hidden,omitempty"` // why it is not known whether a table without data blocks has keys

	Totals       Totals            `json:"totals"`
	Compressions map[string]string `json:"compressions"` // names of compressions, by id; of zlib by zlibID
	Parts        []Part            `json:"parts"`        // the blocks other than data blocks, and the footer
	Blocks       Blocks            `json:"blocks"`
	Filter       *Filter           `json:"filter,omitempty"` // the block filters
	Whole        *Filter           `json:"whole,omitempty"`
	Histograms   []Histogram       `json:"histograms"`
	Samples      [][]byte          `json:"samples"`          // example keys; the last one is absent
	Damage       []string          `json:"damage,omitempty"` // the first maxDamage messages
	Damaged      int               `json:"damaged"`          // number of all messages
}

const (
	// maxHeld limits the bytes of index and filters in a page. base64 makes 4 bytes of 3: with
	// the entries of the default Embed, the page stays under 30 MB.
	maxHeld = 16_000_000

	maxDamage = 1000
)

// Totals are sums over the sound data blocks.
type Totals struct {
	Entries   int   `json:"entries"`
	Deletions int   `json:"deletions"`
	Stored    int64 `json:"stored"`
	Raw       int64 `json:"raw"`
	Keys      int64 `json:"keys"`
	Values    int64 `json:"values"`
}

// A Filter is the filter block, or the filter of the whole table.
type Filter struct {
	tablestats.FilterStats // the name is escaped

	Rates    []float32 `json:"rates,omitempty"`
	Contents packed    `json:"contents"`
	LeftOut  bool      `json:"left_out,omitempty"` // Contents would exceed maxHeld
}

// packed are bytes that the page holds compressed, as base64 of a DEFLATE stream.
type packed []byte

func (p packed) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(p); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return json.Marshal(out.Bytes())
}

// New reads the whole table. The error joins all damage. The Model is valid even then, and
// shows it.
func New(f *dbfile.File, o Options) (*Model, error) { return newModel(f, o, maxHeld) }

// newModel returns a Model with at most held bytes of index and filters. The filter of the
// table comes first, then the index, then the block filters.
func newModel(f *dbfile.File, o Options, held int64) (*Model, error) {
	m := &Model{
		File: filepath.Base(f.Path), Command: o.Command, Scan: o.Scan, Size: f.Size, Internal: f.Internal,
		Compressions: map[string]string{}, Samples: [][]byte{},
	}
	if m.Order = f.OrderNote; m.Order == "" && f.Order != table.BytewiseComparer {
		m.Order = "keys are in the order of " + printable.String(f.Order.Name())
	}
	d := damageList{seen: map[int64]bool{}}
	held, holdWhole := take(held, f.Filters().TableEntry)
	c := collector{
		Model: m, f: f, sizes: newBlockSizes(),
		budget: int64(min(o.Embed, 1<<60) / 4 * 3), held: held, // base64 makes 4 bytes of 3
	}
	stats := c.blocks(&d)
	_, holdBlocks := take(c.held, f.Filters().BlocksEntry)
	m.parts(f, &d)
	m.filters(f, stats, holdWhole, holdBlocks && m.Blocks.Left == 0, &d)
	m.withoutBlocks(f, &d)
	m.samples(f)
	m.damage(d.found)
	return m, errors.Join(d.found...)
}

// take says whether a filter has at most held bytes, and returns how many bytes are left for
// others.
func take(held int64, filter table.MetaindexEntry) (int64, bool) {
	if n := filter.Handle.Length; n <= uint64(held) {
		return held - int64(n), true
	}
	return held, false
}

// damage sets the messages of errors.
func (m *Model) damage(found []error) {
	for _, err := range found {
		lines := text.Lines(err)
		m.Damaged += len(lines)
		m.Damage = append(m.Damage, lines[:min(len(lines), maxDamage-len(m.Damage))]...)
	}
}

// withoutBlocks sets what a table without data blocks is.
func (m *Model) withoutBlocks(f *dbfile.File, d *damageList) {
	if m.Blocks.Count > 0 {
		return
	}
	_, err := f.Reader.FirstKey()
	m.FilterOnly = errors.Is(err, table.ErrFilterOnly)
	if errors.Is(err, table.ErrCorrupt) {
		d.add(err)
		m.Hidden = errorText(err)
	}
}

// A damageList lists damage, once per block. A block can be read twice, with different
// errors.
type damageList struct {
	found []error
	seen  map[int64]bool // offsets of damaged blocks
}

func (d *damageList) add(err error) {
	var c *table.CorruptionError
	if errors.As(err, &c) {
		if d.seen[c.Offset] {
			return
		}
		d.seen[c.Offset] = true
	}
	if err != nil {
		d.found = append(d.found, err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return printable.String(err.Error())
}

// zlibID is the page's number for zlib, as its compression id is that of zstd too. No sound
// block has it for an id.
const zlibID = 0xff

// compression returns the page's number for a block's compression, and adds its name to the
// Model.
func (m *Model) compression(f *dbfile.File, h table.Handle, id byte) int {
	name := tablestats.Compression(f, h, id)
	if name == "zlib" {
		id = zlibID
	}
	m.Compressions[strconv.Itoa(int(id))] = name
	return int(id)
}
