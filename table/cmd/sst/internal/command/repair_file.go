package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/codecs"
	"github.com/sievetable/sievetable/table/layout"
)

// A tableRepair writes the readable pairs of a table to a new one.
type tableRepair struct {
	*salvage.Salvage
	file     *dbfile.File
	unread   error  // of a filter, the properties or the metaindex; nil: all could be read
	repeated uint64 // number of pairs left out because an earlier one has the same key
}

// repairFile repairs a table or a log.
func (f *repairFlags) repairFile(cmd *cobra.Command, path string) (err error) {
	o := f.from.options()
	limit, err := f.to.Limit()
	if err != nil {
		return err
	}
	defer limit.Apply()()
	if dbfile.IsLogFile(path, o.Options) {
		if found, err := f.repairLog(cmd, path, o, limit); found || err != nil {
			return err
		}
	}
	o.MaxBlock = limit.MaxPair()
	file, err := dbfile.OpenDamaged(path, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := checkHidden(file); err != nil {
		return err
	}
	if err := checkMemory(file, limit); err != nil {
		return errors.Join(file.ForeignErr, file.Wrap(err))
	}
	var unread error
	if file.Reader != nil {
		unread = f.to.retainReadable(file, min(int64(limit.MaxPair()), maxBlockSize))
		f.to.notePrefixLoss(cmd.ErrOrStderr(), file)
	}
	s, err := salvage.Open(file, o.InternalKeys)
	if err != nil {
		return err
	}
	if file.ForeignErr != nil && !s.Found() {
		if dbfile.IsLogFile(file.Path, dbfile.Options{}) {
			return fmt.Errorf("%s: neither a log's writes nor a table's blocks can be read", file.Path)
		}
		return file.ForeignErr
	}
	return f.repairTable(cmd, &tableRepair{Salvage: s, file: file, unread: unread}, limit)
}

// checkHidden returns an error for a table with only a filter. Damage that may hide keys is reported like other damage.
func checkHidden(file *dbfile.File) error {
	if file.Reader == nil {
		return nil
	}
	err := file.HiddenKeys()
	if errors.Is(err, table.ErrCorrupt) {
		file.Damage = err
		return nil
	}
	return err
}

// repairTable writes the pairs found in a table.
func (f *repairFlags) repairTable(cmd *cobra.Command, r *tableRepair, limit memory.Limit) error {
	c, err := f.to.newCopier(cmd, r.file.Internal, r.file.Order, limit)
	if err != nil {
		return err
	}
	kept := keepExceptions(r.file, c)
	c.stdout = nil
	err = c.writeTable(r.appendAll)
	if errors.Is(err, table.ErrNever) {
		kept.leaveOut(c.options)
		err = c.writeTable(r.appendAll)
	}
	done, err := c.repaired(r.file.Path, err)
	if err != nil {
		return err
	}
	if c.pairs > 0 {
		kept.note(cmd.ErrOrStderr())
	}
	if err := f.print(cmd.OutOrStdout(), done, r.report(c, done), nil); err != nil {
		return err
	}
	if r.file.Damage != nil || r.Lost.Any() || r.Disorder.Any() || r.repeated > 0 {
		return damageReported{}
	}
	return nil
}

// appendAll appends the first pair of each key, in key order. If the order is unknown, it appends all pairs in file
// order. If damage left no pair, it returns errNothingLeft.
func (r *tableRepair) appendAll(c *copier) (err error) {
	if rowblock.OrderOf(c.options.Comparer).Unchecked {
		err = appendEach(c, r.Pairs())
	} else {
		r.repeated, err = appendChosen(c, input.Sort(c.cmd.Context(), r.Pairs(), c.sorting()), ruleFirst, r.file.Internal)
	}
	if err != nil {
		return err
	}
	if c.pairs == 0 && (r.file.Damage != nil || r.Lost.Any()) {
		return errNothingLeft
	}
	return nil
}

// retainReadable is like retainSettings, for a table that may be damaged. For unreadable filters, it keeps the kinds
// that the metaindex lists, with the default bits per key. If the metaindex is unreadable, it keeps the default filters.
// It returns the first damage that copying the entries does not report.
func (f *writerFlags) retainReadable(file *dbfile.File, most int64) (unread error) {
	stats, _ := tablestats.Collect(file, func(err error) error {
		var c *table.CorruptionError
		if unread == nil && errors.As(err, &c) && c.Block != layout.DataBlock && c.Block != layout.FooterBlock {
			unread = c
		}
		return nil
	}, tablestats.NewBudget(1))
	if stats.Entries == 0 {
		return unread
	}
	_, err := file.Layout.Meta()
	blocks, whole := err != nil, "" // the filters that the metaindex lists
	for _, m := range stats.Meta {
		if strings.HasPrefix(m.Name, format.FilterPrefix) {
			blocks = true
		} else if policy, found := strings.CutPrefix(m.Name, format.TableFilterPrefix); found {
			whole = tablefilter.OfPolicy(policy)
		}
	}
	for _, f := range stats.Filters { // the readable ones
		if f.WholeTable {
			whole = ""
		} else {
			blocks = false
		}
	}
	byDefault := f.bits
	f.retainSettings(stats, most)
	retain(f.given("bits") || !blocks, &f.bits, byDefault)
	retain(f.given("table-filter") || whole == "", &f.tableFilter, whole)
	return unread
}

// report says what was written, and then what was lost.
func (r *tableRepair) report(c *copier, done repaired) []string {
	path := r.file.Path
	report := fileReport{path: path}
	if done.Out == "" {
		report.add("found no readable entry: %s was not written", c.out)
	} else {
		report.add("wrote %s from %s to %s", text.Count(c.pairs, "pair"), text.Count(uint64(r.Blocks), "data block"), c.out)
	}
	switch {
	case r.Searched:
		report.add("the index cannot be read: found blocks by their checksums (%s)", reason(r.file.Damage, c.limit))
	case r.file.Damage != nil && r.file.Empty: // see checkHidden
		report.add("the table may be only a filter (%s)", reason(r.file.Damage, c.limit))
	case r.file.Damage != nil:
		report.add("the table cannot be opened (%s)", reason(r.file.Damage, c.limit))
	}
	if r.unread != nil && done.Out != "" {
		report.add("filters or properties may differ in the new table (%s)", reason(r.unread, c.limit))
	}
	if r.file.OrderNote != "" {
		report.add("%s", r.file.OrderNote)
	}
	report.addLosses("sorted", &r.Disorder, c.limit)
	report.addLosses("lost", &r.Lost, c.limit)
	report.addLosses("skipped", &r.LeftOut, c.limit)
	if r.repeated > 0 {
		report.add("skipped %s with a repeated key, and kept the first of each in the file", text.Count(r.repeated, "pair"))
	}
	if done.Out != "" && dbfile.IsInManifest(path) {
		report.add("the new table cannot replace it in the database, whose MANIFEST has the old size. To repair the database, %s", dbfile.RepairAdvice(filepath.Dir(path)))
	}
	return report.lines
}

// addLosses adds the first losses, and totals of the others.
func (r *fileReport) addLosses(what string, losses *salvage.Losses, limit memory.Limit) {
	for _, l := range losses.First {
		r.add("%s %s (%s)", what, l.What, reason(l.Why, limit))
	}
	if losses.More == 0 {
		return
	}
	largest := ""
	if losses.Largest != nil {
		largest = fmt.Sprintf(" (the largest: %s)", reason(losses.Largest, limit))
	}
	r.add("%s %s, %s in total%s", what, text.Count(uint64(losses.More), "other place"), text.Count(uint64(losses.Bytes), "byte"), largest)
}

// reason formats err without the names of the file and the package.
func reason(err error, limit memory.Limit) string {
	var tooLarge *codecs.TooLargeError
	if errors.As(err, &tooLarge) {
		return fmt.Sprintf("a block decodes to %v", limit.CheckPair(int64(tooLarge.Size)))
	}
	var c *table.CorruptionError
	if errors.As(err, &c) {
		err = c
	}
	return strings.TrimPrefix(err.Error(), "table: ")
}

// checkMemory returns an error if a larger --memory would suffice for the file, its index or one of its decoded
// blocks.
func checkMemory(file *dbfile.File, limit memory.Limit) error {
	if file.Layout == nil {
		return checkMemoryWithoutIndex(file, limit)
	}
	size, at := int64(0), uint64(0)
	for _, part := range file.Layout.Data {
		_, _, err := file.Layout.ReadBlock(part.Handle)
		if n := memoryForBlock(int64(part.Length), err); n > size {
			size, at = n, part.Offset
		}
	}
	if err := limit.CheckPair(size); err != nil {
		return fmt.Errorf("data block at %d: %w", at, err)
	}
	return nil
}

// checkMemoryWithoutIndex is like checkMemory, for a file whose index cannot be read.
func checkMemoryWithoutIndex(file *dbfile.File, limit memory.Limit) error {
	var c *table.CorruptionError
	if errors.As(file.Damage, &c) && c.Block == layout.IndexBlock {
		if err := limit.CheckPair(memoryForBlock(c.Length, c.Err)); err != nil {
			return fmt.Errorf("its index: %w", err)
		}
	}
	if err := limit.CheckFile(file.Size); err != nil {
		return fmt.Errorf("its index cannot be read: %w", err)
	}
	return nil
}

// memoryForBlock returns the memory for a block of this length, whose read error is err. If no memory suffices, it
// returns 0.
func memoryForBlock(length int64, err error) int64 {
	var tooLarge *codecs.TooLargeError
	if errors.As(err, &tooLarge) {
		return int64(tooLarge.Size)
	}
	if length > salvage.MaxBlock {
		return 0
	}
	return length
}
