package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/keylines"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

const manifestLong = `Write the manifest of a set: a line for each table, in key order. A FILE is a table, which sst reads
and verifies, or has lines of sst build --manifest-line, whose tables sst does not read. For tables
of filters alone, such lines are required. Two tables with a name or a key in common are an error,
and so is a gap in numbered names such as part-00003-of-00010.ldb. To notice other missing parts,
pass --tables and --entries. Name OUT set.jsonl, beside the tables; it must not replace a manifest
with layers.
See sst help sets.`

func manifestCommand() *cobra.Command {
	var out string
	var want expected
	cmd := &cobra.Command{
		Use:   "manifest [flags] FILE...",
		Short: "Write the manifest of a set of tables",
		Long:  manifestLong,
		Example: `  sst manifest --tables 12 --entries 11_234_567 part-*.json -o set.jsonl
  sst manifest --entries "$(wc -l <sorted.txt)" part-*.ldb -o set.jsonl`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "the manifest is complete and on disk",
			cli.ExitDamaged: "a table is damaged, and no manifest was written",
		}.Annotation(),
		Args:              cli.Arguments("FILE", 1, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.Files(0, slices.Concat(tableNames, []string{"*.json", "*.jsonl"})...),
	}
	cmd.Flags().StringVarP(&out, "output", "o", "-", "write the manifest to this `file`; -: standard output")
	dbdir.AddForce(cmd, new(bool))
	cmd.Flags().Var(cli.Count(&want.tables, "", cli.MaxCount), "tables", "fail unless there are this `number` of tables")
	cmd.Flags().Var(cli.Count(&want.entries, "", cli.MaxCount), "entries", "fail unless the tables have this `number` of entries")
	cmd.RunE = cli.StopAtSignals(func(cmd *cobra.Command, args []string) error {
		return joinManifest(cmd.Context(), args, want, out, cmd.OutOrStdout())
	})
	return cmd
}

// joinManifest writes a manifest in key order. Each file is a table, or has lines that describe tables.
func joinManifest(ctx context.Context, paths []string, want expected, out string, stdout io.Writer) error {
	outputs := output.FilesOf(stdout, out)
	if err := errors.Join(outputs.CheckAll(paths), checkNoTable("-o", out), checkNoLayers(out)); err != nil {
		return err
	}
	var all []tableLine
	for _, path := range paths {
		lines, err := linesOf(ctx, path)
		if err != nil {
			return err
		}
		all = append(all, lines...)
	}
	slices.SortFunc(all, func(a, b tableLine) int {
		return cmp.Or(bytes.Compare(a.Smallest, b.Smallest), bytes.Compare(a.Largest, b.Largest))
	})
	if err := cmp.Or(checkLines(all), want.check(all)); err != nil {
		return err
	}
	var m set.Manifest
	for _, l := range all {
		m.Tables = append(m.Tables, l.Table)
	}
	if filepath.Base(out) == set.ManifestName {
		unlock, err := filelock.Wait(ctx, out+".lock") // so that no layer is added from now on
		if err == nil {
			defer unlock()
			err = checkNoLayers(out)
		}
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return output.WriteFile(ctx, out, stdout, func(to io.Writer) error { return set.WriteManifest(to, &m) })
}

// A tableLine is a table's line in a manifest. from names its file in errors.
type tableLine struct {
	set.Table
	from string
}

// maxSummaryLine is more than the length of a line with the longest keys and name.
const maxSummaryLine = 1 << 20

// linesOf returns the lines for a file: one for a table, or those that the file has.
func linesOf(ctx context.Context, path string) (all []tableLine, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if dbdir.IsSet(path) {
		return nil, fmt.Errorf("%s is a set, which has a manifest: to write it again, name the tables", path)
	}
	if files.IsDir(path) {
		return nil, fmt.Errorf("%s is a directory: name its tables", path)
	}
	start, n := make([]byte, 64), 0
	f, _, err := files.Open(path)
	if err == nil { // else describe returns an error
		defer f.Close() // it was only read
		n, _ = f.ReadAt(start, 0)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(start[:n]), []byte("{")) || dbfile.IsTable(path) {
		line, err := describe(ctx, path)
		return []tableLine{line}, err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxSummaryLine)
	lines.Split(keylines.Split)
	for lines.Scan() {
		l := tableLine{from: fmt.Sprintf("%s, line %d", path, len(all)+1)}
		err := json.Unmarshal(lines.Bytes(), &l.Table)
		if err == nil {
			err = l.Check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: not a line of sst build --manifest-line: %s", l.from, strings.TrimPrefix(err.Error(), "set: "))
		}
		all = append(all, l)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s, after line %d: %w", path, len(all), err)
	}
	return all, nil
}

// describe returns the line of a table.
func describe(ctx context.Context, path string) (tableLine, error) {
	f, err := dbfile.Open(path, dbfile.Options{ScanOnly: true})
	if err != nil {
		return tableLine{}, err
	}
	defer f.Close() // it was only read
	if f.Internal || f.Order != table.BytewiseComparer {
		return tableLine{}, fmt.Errorf("%s: a set needs user keys in bytewise order: to write the table again, run: %s", path,
			files.CommandLine("scan --versions=false %s | sst build -o NEW.ldb", path))
	}
	if f.Reader.FilterOnly() {
		return tableLine{}, fmt.Errorf("%s is only a filter, without keys: give its line from sst build --manifest-line instead", path)
	}
	if manifest := files.Join(files.Dir(path), set.ManifestName); isRemoval(manifest, filepath.Base(path)) {
		return tableLine{}, fmt.Errorf("%s contains removed keys (see %s), which a new manifest would add. To fold the layers, run: %s", path, manifest,
			files.MergeLine("", manifest, "NEW/"))
	}
	t, err := set.Describe(readerUntil{ctx, f.Src}, f.Size, f.Options)
	if err != nil {
		return tableLine{}, f.Wrap(err)
	}
	t.Name = filepath.Base(path)
	return tableLine{t, path}, t.Check()
}

// A readerUntil fails when its context ends.
type readerUntil struct {
	ctx context.Context
	io.ReaderAt
}

func (r readerUntil) ReadAt(p []byte, off int64) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, off)
}

// checkLines checks that sorted tables have different names and no keys in common.
func checkLines(all []tableLine) error {
	names := map[string]tableLine{}
	for i, l := range all {
		switch other, found := names[l.Name]; {
		case found && other.TailSum == l.TailSum:
			return fmt.Errorf("%s and %s are the same table: leave one of them out", other.from, l.from)
		case found:
			return fmt.Errorf("%s and %s are both tables named %s: use different names", other.from, l.from, format.Printable(l.Name))
		}
		names[l.Name] = l
		if i > 0 && bytes.Compare(l.Smallest, all[i-1].Largest) <= 0 {
			return fmt.Errorf("%s and %s overlap: the first ends with key %s, the second starts with %s",
				all[i-1].from, l.from, format.Quote(all[i-1].Largest), format.Quote(l.Smallest))
		}
	}
	return nil
}

// checkNoLayers returns an error if out is a manifest with layers. A new manifest would list their tables as part of
// the base, or drop them.
func checkNoLayers(out string) error {
	layers := layersOf(out)
	if len(layers) == 0 {
		return nil
	}
	return fmt.Errorf("-o is %s, which has %s that a new manifest would drop. Fold them with %s, or remove the file first",
		out, text.Count(uint64(len(layers)), "layer"), files.MergeLine("", out, "NEW/"))
}

// isRemoval reports whether a manifest lists a table among the removals of a layer.
func isRemoval(manifest, name string) bool {
	return slices.ContainsFunc(layersOf(manifest), func(l set.Layer) bool {
		return slices.ContainsFunc(l.Removals, func(t set.Table) bool { return t.Name == name })
	})
}

// layersOf returns the layers of a manifest. If path is not a manifest, it returns nil.
func layersOf(path string) []set.Layer {
	m, err := dbdir.ReadSetManifest(path, dbdir.ListOptions{})
	if err != nil {
		return nil
	}
	return m.Layers
}
