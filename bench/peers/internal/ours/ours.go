// Package ours writes tables with this module, like the packages beside it with other engines.
package ours

import (
	"bytes"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// Options returns the options for a golden table.
func Options(g manifest.Table) *table.WriterOptions {
	o := &table.WriterOptions{
		BlockSize:       g.BlockSize,
		RestartInterval: g.RestartInterval,
		Compression:     table.NoCompression,
	}
	if g.Compression == "snappy" {
		o.Compression = table.Snappy
	}
	if g.BitsPerKey != manifest.NoFilter {
		o.FilterPolicy = filter.NewBloom(g.BitsPerKey)
	}
	return o
}

// Write builds a table of the pairs.
func Write(o *table.WriterOptions, pairs []workload.Pair) ([]byte, error) {
	var out bytes.Buffer
	w, err := table.NewWriter(&out, o)
	if err != nil {
		return nil, err
	}
	err = workload.WriteAll(w, pairs)
	return out.Bytes(), err
}
