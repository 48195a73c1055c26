package main

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// maxMissingRanges is how many ranges of missing tables are printed.
const maxMissingRanges = 10

// missingRanges returns the errors for missing tables of a set. happened says what became of
// their keys.
func missingRanges(missing []*source.Table, happened string) error {
	var all []error
	for i, t := range missing {
		if i == maxMissingRanges {
			all = append(all, source.SetError(fmt.Sprintf("the keys of %s %s, too", text.Count(uint64(len(missing)-i), "other missing table"), happened)))
			break
		}
		all = append(all, &source.FileError{Path: t.Path, Err: source.SetError(fmt.Sprintf("keys from %s to %s %s, because the table is missing",
			wire.Quote(t.Line.Smallest), wire.Quote(t.Line.Largest), happened))})
	}
	return errors.Join(all...)
}
