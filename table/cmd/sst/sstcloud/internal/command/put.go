package command

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/upload"
	"github.com/sievetable/sievetable/table/set"
)

// putFlags are the flags of put.
type putFlags struct {
	manifest    string
	concurrency int
	json        bool
}

const putLong = `Send the set of a directory to a store: its tables first, several at a time, and then the manifest, in
one step. Programs that read the set see the old manifest or the new one, and a new one only when all
of its tables are there. Layers are kept.

A table that is there already is not sent again: its name is the SHA-256 of its bytes, so that a name
never means two tables. Right before the manifest is written, put looks again, and sends what is gone.
It replaces only the manifest that was there when it began: if another program has written one since,
that one stays, and put fails. If put is interrupted or killed at any moment, the old manifest stays as
it is, and another run sends what is missing. What is sent has the SHA-256 that the manifest of the
directory says, or it is an error.

A table that the store has, that no manifest there lists, and that is older than 12 hours is sent again:
sstcloud sweep may be about to delete it. Manifests are the objects that end in .jsonl, and --manifest
must: it gives a store several sets. No table is deleted: see sstcloud help sweep.

If the exit status is 3, nothing has changed for readers, unless a table was deleted at the same time:
then the manifest is written.

In S3, a put that is killed can leave parts of a table of more than 16 MiB, which nobody sees and which
are paid for: a lifecycle rule of the bucket deletes them. See the README of table/cloud.

It is printed how many tables and bytes were sent, how many were there, and how many requests that
took: lists, and those that were sent again too.`

func putCommand() *cobra.Command {
	var f putFlags
	cmd := &cobra.Command{
		Use:   "put [flags] SET URL",
		Short: "Send the set of a directory to a store",
		Long:  putLong,
		Example: `  sstcloud put blacklist 's3://urls?region=eu-central-1'
  sstcloud put blacklist 's3://lists?region=eu-central-1&prefix=blacklist/'
  sstcloud put --manifest 2026-11-26.jsonl blacklist gs://lists`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "the set is in the store",
			cli.ExitUsage:   "usage error, or I/O error; or another program has written the manifest meanwhile",
			cli.ExitDamaged: "a table or a manifest is damaged; or a table was deleted meanwhile: put the set again",
		}.Annotation(),
		Args:              cli.Arguments("SET and URL", 2, 2, 1),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().StringVar(&f.manifest, "manifest", set.ManifestName, "the `name` of the manifest's object, without the prefix")
	cli.CountVar(cmd.Flags(), &f.concurrency, "concurrency", "", 8, "how many tables are sent at a time")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
			s, err := store.Open(ctx, args[1])
			if err != nil {
				return err
			}
			return errors.Join(f.run(ctx, cmd, args[0], s), s.Close())
		})
	}
	return cmd
}

// check checks the flags. No sweep would find a manifest of another name, and it would delete its tables.
func (f *putFlags) check() error {
	if strings.Contains(f.manifest, "/") || !strings.HasSuffix(f.manifest, ".jsonl") {
		return cli.UsageErrorf("--manifest is %s, want a name that ends in .jsonl, without a slash, by which sstcloud sweep finds it",
			format.Quote([]byte(f.manifest)))
	}
	if f.concurrency < 1 || f.concurrency > 64 {
		return cli.UsageErrorf("--concurrency is %d, want 1 to 64", f.concurrency)
	}
	return nil
}

func (f *putFlags) run(ctx context.Context, cmd *cobra.Command, dir string, s *store.Store) error {
	u, err := upload.Plan(ctx, dir, s.Store, f.manifest)
	if err == nil && s.Dir != "" {
		err = os.MkdirAll(s.Dir, 0o777)
	}
	if err != nil {
		return err
	}
	bar := progress.Bytes(cmd.ErrOrStderr(), sizeOf(u.Missing), "sending")
	err = u.Send(ctx, f.concurrency, func(t set.Table) { bar.Add(t.Size) })
	bar.Done()
	if err != nil {
		return err
	}
	r := f.report(u, s)
	if f.json {
		return printable.WriteJSON(cmd.OutOrStdout(), r)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	r.print(w)
	return w.Flush()
}

// A putReport says what was sent, and what was there.
type putReport struct {
	Manifest   string `json:"manifest"`
	Unchanged  bool   `json:"unchanged"` // the manifest
	Tables     int    `json:"tables"`    // that were sent
	Bytes      int64  `json:"bytes"`
	There      int    `json:"there"`
	ThereBytes int64  `json:"there_bytes"`
	Layers     int    `json:"layers"`
	Requests   *int64 `json:"requests,omitempty"`
}

// report describes what was sent.
func (f *putFlags) report(u *upload.Upload, s *store.Store) putReport {
	r := putReport{Manifest: s.Path(f.manifest), Unchanged: u.Same, Layers: len(u.Manifest.Layers)}
	for t := range u.Manifest.All() {
		if u.Sent[t.Name] {
			r.Tables, r.Bytes = r.Tables+1, r.Bytes+t.Size
		} else {
			r.There, r.ThereBytes = r.There+1, r.ThereBytes+t.Size
		}
	}
	if n, ok := s.Requests(); ok {
		r.Requests = &n
	}
	return r
}

// sizeOf returns how many bytes tables have.
func sizeOf(tables []set.Table) (n int64) {
	for _, t := range tables {
		n += t.Size
	}
	return n
}

// print prints the report for people.
func (r putReport) print(w io.Writer) {
	state := "written"
	if r.Unchanged {
		state = "there already"
	}
	text.Row(w, "sent", "%s, %s", text.Count(uint64(r.Tables), "table"), text.Bytes(uint64(r.Bytes)))
	text.Row(w, "there already", "%s, %s", text.Count(uint64(r.There), "table"), text.Bytes(uint64(r.ThereBytes)))
	tables, layers := text.Count(uint64(r.Tables+r.There), "table"), text.Count(uint64(r.Layers), "layer")
	text.Row(w, "manifest", "%s, %s, %s: %s", r.Manifest, tables, layers, state)
	if r.Requests != nil {
		text.Row(w, "requests", "%d", *r.Requests)
	}
}
