package command

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/set"
)

// mergeFlags are the flags of merge.
type mergeFlags struct {
	from        sourceFlags
	to          targetFlags
	onDuplicate string
	json        bool
	filters     bool // the first INPUT is only a filter, so all must be
	inPlace     bool // OUT is the set that is the only INPUT
}

const mergeLong = `Merge tables, logs, sets and databases into one table, set or database. If a key is in several
INPUTs, --on-duplicate takes

  auto    newest if all INPUTs have sequence numbers and at most one is a database, otherwise last
  newest  the entry with the highest sequence number, or the last of equal ones
  last    the entry of the last INPUT that has one
  first   the entry of the first
  error   none: sst fails

If a deletion is taken, OUT lacks the key. Use newest only for copies of one database: numbers of
different databases cannot be compared. After last, first and error, sequence numbers in OUT are 0.
A database written to a database keeps its compression, and a lone set written to a set its
settings. Files of filters alone are united into one. Other INPUTs lose their exceptions (--never).
See sst help sources, sets and filters.`

func mergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"union", "fold", "filter"},
		Use:        "merge [flags] INPUT... -o OUT",
		Short:      "Merge tables, sets and databases into one table, set or database",
		Long:       mergeLong,
		Example: `  sst merge blocklist/ additions.ldb -o merged/
  sst merge --database /var/lib/app/db -o /var/lib/app/compacted
  sst merge monday.filter tuesday.filter -o week.filter`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "OUT is complete and on disk",
			cli.ExitDamaged: "an INPUT is damaged, and OUT was not written",
		}.Annotation(),
		Args: func(cmd *cobra.Command, inputs []string) error { // before other checks of OUT, which advise --force
			if err := cli.Arguments("INPUT", 1, cli.Unlimited, cli.Unlimited)(cmd, inputs); err != nil {
				return err
			}
			return f.checkOut(inputs)
		},
		ValidArgsFunction: cli.Files(0, sourceNames...),
	}
	f.to.addOut(cmd)
	cmd.Flags().Var(cli.Choice(&f.onDuplicate, ruleAuto, ruleAuto, ruleNewest, ruleLast, ruleFirst, ruleError), "on-duplicate", "which entry to take")
	cmd.Flags().BoolVar(&f.json, "json", false, "print a JSON object: out, pairs, and keys in several INPUTs")
	f.to.addOutput(cmd)
	showUsualDefaults(cmd.Flags())
	f.from.addDir(cmd)
	cmd.RunE = cli.StopAtSignals(f.run)
	return cmd
}

// checkOut returns an error if OUT is missing, or part of an input. It sets filters and inPlace.
func (f *mergeFlags) checkOut(inputs []string) error {
	switch f.filters = isFilter(inputs[0]); {
	case f.to.out == "":
		return f.to.missingOut()
	case f.to.out == "-" && f.json:
		return cli.UsageErrorf("--json and -o - both write to standard output: name a file")
	case f.filters: // OUT may be an INPUT
		return nil
	}
	for _, path := range inputs {
		if files.IsURL(path) {
			continue
		}
		whole := path // for a set's manifest, its directory
		if dbdir.IsDirectory(path) {
			whole = directoryOf(path)
		}
		f.inPlace = len(inputs) == 1 && isManifestIn(path, f.to.out)
		switch {
		case f.to.out == "-" || !isWithin(f.to.out, whole) || f.inPlace && f.to.force && f.to.set:
		case f.inPlace:
			return cli.UsageErrorf("-o is %s, the INPUT: use another name, or --set --force to fold its layers in place", f.to.out)
		case files.IsDir(whole):
			return cli.UsageErrorf("-o is %s, part of the INPUT %s: use a directory outside", f.to.out, path)
		default:
			return cli.UsageErrorf("-o is %s, part of the INPUT %s: use another name", f.to.out, path)
		}
	}
	return nil
}

// run opens the inputs, and merges them.
func (f *mergeFlags) run(cmd *cobra.Command, inputs []string) error {
	if f.filters {
		return f.mergeFilters(cmd, inputs)
	}
	defer f.from.showProgress(cmd.ErrOrStderr(), "merging", inputs...)()
	f.from.ScanOnly, f.from.Strict, f.from.out, f.from.TempDir = true, true, f.to.out, f.to.tempDir
	return f.openAll(inputs, cmd, nil)
}

// isManifestIn reports whether path is the set in dir, given as the directory or as its manifest set.jsonl.
func isManifestIn(path, dir string) bool {
	manifest := dbdir.RealName(files.Join(dir, set.ManifestName))
	return dbdir.IsSet(path) && (dbdir.RealName(path) == manifest || dbdir.RealName(files.Join(path, set.ManifestName)) == manifest)
}

// openAll opens the inputs, and merges them with the sources that are already open.
func (f *mergeFlags) openAll(inputs []string, cmd *cobra.Command, open []*source.Source) error {
	if len(inputs) == 0 {
		return f.merge(cmd, open)
	}
	return f.from.with(inputs[0], cmd.ErrOrStderr(), func(s *source.Source) error { return f.openAll(inputs[1:], cmd, append(open, s)) })
}

// merge merges the sources into OUT.
func (f *mergeFlags) merge(cmd *cobra.Command, all []*source.Source) error {
	limit, release, err := f.to.givenLimit()
	if err != nil {
		return err
	}
	defer release()
	m, err := newMerging(all, f.onDuplicate)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(all, (*source.Source).FilterOnly); i >= 0 && all[i].Dir {
		return fmt.Errorf("%s is a set of filters, which has no keys to merge: build it again from all keys", all[i].Path)
	}
	if len(all) == 1 && dbdir.IsSet(all[0].Path) && f.to.isSet() {
		f.to.retainSet(all[0])
	}
	if f.to.database {
		f.to.retainCompression(all)
	}
	c, err := f.to.newCopier(cmd, f.to.database, m.order, limit)
	if err != nil {
		return err
	}
	if c.isSet() && m.order != table.BytewiseComparer {
		return cli.UsageErrorf("a set needs bytewise order, but the keys are in the order of %s: write a table, or use --database", m.order.Name())
	}
	if err := c.check(); err != nil {
		return err
	}
	hasFilter := func(s *source.Source) bool { return s.TableFilter() != "" }
	if i := slices.IndexFunc(all, hasFilter); i >= 0 && !f.to.given("table-filter") && f.to.tableFilter == tablefilter.None {
		policy := all[i].TableFilter()
		c.note("the tables of %s have table filters (%s), but OUT has none: to add them, use --table-filter %s",
			all[i].Path, policy, cmp.Or(tablefilter.OfPolicy(policy), "fuse"))
	}
	if c.copyOf = all[0].Path; f.inPlace {
		c.replaced = all[0]
	}
	if err := c.write(m.appendAll); err != nil {
		return err
	}
	m.note(cmd.ErrOrStderr())
	if !f.json {
		return nil
	}
	return text.JSONLine(cmd.OutOrStdout(), merged{c.out, c.pairs, m.common, m.deleted})
}

// retainSet is for a set that is folded. It sets the flags that were not given to the settings of the largest table
// in the base. A lone table shows no limit of entries per table, unless it exceeds the default.
func (f *targetFlags) retainSet(s *source.Source) {
	base := slices.DeleteFunc(slices.Clone(s.Tables), func(t *source.Table) bool { return t.Layer > 0 })
	if len(base) == 0 {
		return
	}
	largest := slices.MaxFunc(base, func(a, b *source.Table) int { return cmp.Compare(a.Line.Entries, b.Line.Entries) })
	if n := largest.Line.Entries; !f.given("entries-per-table") && (len(base) > 1 || n > uint64(f.entriesPerTable)) {
		f.entriesPerTable = int(min(n, tablefilter.MaxEntries))
	}
	file, err := dbfile.Open(largest.Path, dbfile.Options{Order: dbfile.ExplicitOrder(s.Order), Line: largest.Line})
	if err != nil {
		return // merging reports the error
	}
	defer file.Close() // it was only read
	f.retainReadable(file, maxBlockSize)
}

// A merged is what merge --json prints.
type merged struct {
	Out     string `json:"out"`
	Pairs   uint64 `json:"pairs"`
	Common  uint64 `json:"keys_in_several"` // only one entry of each was taken
	Deleted uint64 `json:"deleted"`         // those whose deletion was taken
}

// isFilter reports whether a file is a table with only a filter, or damage hides whether it is. Merging the file
// reports other errors, and damage.
func isFilter(path string) bool {
	if dbdir.IsDirectory(path) {
		return false
	}
	f, err := dbfile.Open(path, dbfile.Options{ScanOnly: true})
	if err != nil {
		return false
	}
	defer f.Close() // it was only read
	only, err := f.FilterOnly()
	return only || err != nil
}

// mergeFilters unites filters. Flags other than --output are errors.
func (f *mergeFlags) mergeFilters(cmd *cobra.Command, paths []string) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "output" {
			err = cli.UsageErrorf("--%s does not apply to filters, as the merged filter is like its INPUTs: leave it out", flag.Name)
		}
	})
	if err != nil {
		return err
	}
	return filterfile.Unite(cmd, paths, f.to.out)
}
