// Package report writes a page of HTML about one table: where its blocks are, how
// large they are, what its filters are worth, and, by a search that runs in the
// page, how a key is looked up. The page is one file, and asks for no other.
package report

import (
	"errors"
	"path/filepath"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// Options say what a page holds.
type Options struct {
	// Embed is how many bytes of the page keys and the starts of values take at
	// most. Blocks beyond it are in the page without their entries.
	Embed uint64

	// Command looks a key up when the key is put behind it, as the page says of
	// entries that it does not hold. Its words are quoted for a shell.
	Command []string
}

// A Model is what a page shows. It is the page's JSON.
type Model struct {
	File     string   `json:"file"`
	Command  []string `json:"command"`
	Size     int64    `json:"size"`
	Internal bool     `json:"internal"`
	Note     string   `json:"note,omitempty"`  // why a filter is not used
	Order    string   `json:"order,omitempty"` // what keys are in, if not in bytewise order: the page does not look keys up then

	Totals       Totals            `json:"totals"`
	Compressions map[string]string `json:"compressions"` // by id
	Parts        []Part            `json:"parts"`        // other than data blocks
	Blocks       Blocks            `json:"blocks"`
	Filter       *Filter           `json:"filter,omitempty"` // by data blocks
	Whole        *Filter           `json:"whole,omitempty"`
	Histograms   []Histogram       `json:"histograms"`
	Samples      [][]byte          `json:"samples"` // keys to begin with, the last absent
	Damage       []string          `json:"damage,omitempty"`
}

// Totals are of the data blocks that are sound.
type Totals struct {
	Entries   int   `json:"entries"`
	UserKeys  int   `json:"users"` // users' keys: fewer than entries where these are versions
	Deletions int   `json:"deletions"`
	Stored    int64 `json:"stored"`
	Raw       int64 `json:"raw"`
	Keys      int64 `json:"keys"`
	Values    int64 `json:"values"`
}

// A Filter is the contents of a block of filters.
type Filter struct {
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	Bytes  []byte `json:"bytes"`
}

// New reads all of the table. Damage is shown in the Model, and joined in the error
// too, with which the Model is still good.
func New(f *source.File, o Options) (*Model, error) {
	m := &Model{
		File: filepath.Base(f.Path), Command: o.Command, Size: f.Size, Internal: f.Internal,
		Compressions: map[string]string{}, Samples: [][]byte{},
	}
	if m.Order = f.OrderNote; m.Order == "" && f.Order != table.BytewiseComparer {
		m.Order = "keys are in the order of " + text.Printable(f.Order.Name())
	}
	d := damageList{seen: map[int64]bool{}}
	m.blocks(f, int64(min(o.Embed, 1<<60)/4*3), &d) // base64 makes 4 bytes of 3
	m.parts(f, &d)
	m.filters(f, &d)
	m.samples(f)
	for _, err := range d.found {
		m.Damage = append(m.Damage, text.Lines(err)...)
	}
	return m, errors.Join(d.found...)
}

// damageList is what was found damaged, each part of the file once: some are come to
// twice, and errors call them by different names then.
type damageList struct {
	found []error
	seen  map[int64]bool // by offset
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
	return text.Printable(err.Error())
}

// compression returns the id, and notes what it is called.
func (m *Model) compression(id byte) int {
	m.Compressions[idText(id)] = codecs.Name(id)
	return int(id)
}
