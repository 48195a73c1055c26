package command

import (
	"errors"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
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

const putLong = `Upload the set in directory SET: first its tables, then its manifest. Readers see the old set or the
complete new one. If put fails or is interrupted, run it again: it skips tables that are stored.

put replaces the manifest only if no other program has replaced it since put began. It prints a note
if the replaced set had layers that SET lacks. It uploads a table again if no manifest (an object
ending in .jsonl) lists it and it is older than 12 hours, because sstcloud sweep may be deleting it.
After exit status 3, readers still see the old set, unless a table was deleted at the same time:
then upload the set again.

To store several sets, give each a prefix in its URL, or a --manifest.`

func putCommand() *cobra.Command {
	var f putFlags
	cmd := &cobra.Command{
		Use:   "put [flags] SET URL",
		Short: "Upload the set of a directory to a store",
		Long:  putLong,
		Example: `  sstcloud put blocklist 's3://urls?region=eu-central-1'
  sstcloud put blocklist 's3://lists?region=eu-central-1&prefix=blocklist/'
  sstcloud put --manifest 2026-11-26.jsonl blocklist gs://lists`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "the set is stored",
			cli.ExitUsage:   "usage error, or I/O error; or another program replaced the manifest",
			cli.ExitDamaged: "a table or a manifest is damaged, or a table was deleted meanwhile",
		}.Annotation(),
		Args:              cli.Arguments("SET and URL", 2, 2, 1),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().StringVar(&f.manifest, "manifest", set.ManifestName, "the manifest's `name`, without the prefix")
	cli.CountVar(cmd.Flags(), &f.concurrency, "concurrency", "", 8, "tables to upload at a time")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.RunE = cli.StopAtSignals(func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		if files.IsURL(args[0]) {
			return cli.UsageErrorf("SET is %s: put uploads a set from a local directory", format.Printable(args[0]))
		}
		s, err := store.Open(cmd.Context(), args[1])
		if err != nil {
			return err
		}
		return errors.Join(f.run(cmd, args[0], s), s.Close())
	})
	return cmd
}

// check validates the flags. If a manifest had another extension, a sweep would not find it and delete its tables.
func (f *putFlags) check() error {
	if strings.Contains(f.manifest, "/") || !strings.HasSuffix(f.manifest, ".jsonl") {
		return cli.UsageErrorf("--manifest is %s: use a name that ends in .jsonl, without a slash",
			format.Quote([]byte(f.manifest)))
	}
	if f.concurrency < 1 || f.concurrency > 64 {
		return cli.UsageErrorf("--concurrency is %d: use 1 to 64", f.concurrency)
	}
	return nil
}

func (f *putFlags) run(cmd *cobra.Command, dir string, s *store.Store) error {
	u, err := upload.Plan(cmd.Context(), dir, s.Store, f.manifest)
	if err == nil && s.Dir != "" {
		err = os.MkdirAll(s.Dir, 0o777)
	}
	if err != nil {
		return err
	}
	bar := progress.Bytes(cmd.ErrOrStderr(), sizeOf(u.Missing), "uploading")
	err = u.Send(cmd.Context(), f.concurrency, func(t set.Table) { bar.Add(t.Size) })
	bar.Done()
	if err != nil {
		return err
	}
	r := f.report(u, s)
	if r.Dropped > 0 {
		text.Note(cmd.ErrOrStderr(), "the replaced set had %s that %s lacks: these changes are lost, unless they were merged into it",
			text.Count(uint64(r.Dropped), "layer"), format.ShellPath(dir))
	}
	if f.json {
		return printable.WriteJSON(cmd.OutOrStdout(), r)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	r.print(w)
	return w.Flush()
}

// A putReport counts the tables that were uploaded, and those already stored.
type putReport struct {
	Manifest      string `json:"manifest"`
	Unchanged     bool   `json:"unchanged"` // the manifest
	Uploaded      int    `json:"uploaded_tables"`
	UploadedBytes int64  `json:"uploaded_bytes"`
	Stored        int    `json:"already_stored_tables"`
	StoredBytes   int64  `json:"already_stored_bytes"`
	Layers        int    `json:"layers"`
	Dropped       int    `json:"dropped_layers"` // of the set that was replaced
	Requests      *int64 `json:"requests,omitempty"`
}

// report returns the report of an upload.
func (f *putFlags) report(u *upload.Upload, s *store.Store) putReport {
	r := putReport{Manifest: s.Path(f.manifest), Unchanged: u.Same, Layers: len(u.Manifest.Layers), Dropped: u.Dropped()}
	for t := range u.Manifest.All() {
		if u.Sent[t.Name] {
			r.Uploaded, r.UploadedBytes = r.Uploaded+1, r.UploadedBytes+t.Size
		} else {
			r.Stored, r.StoredBytes = r.Stored+1, r.StoredBytes+t.Size
		}
	}
	if n, ok := s.Requests(); ok {
		r.Requests = &n
	}
	return r
}

// sizeOf returns the total size of tables.
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
		state = "unchanged"
	}
	text.Row(w, "uploaded", "%s, %s", text.Count(uint64(r.Uploaded), "table"), text.Bytes(uint64(r.UploadedBytes)))
	text.Row(w, "already stored", "%s, %s", text.Count(uint64(r.Stored), "table"), text.Bytes(uint64(r.StoredBytes)))
	tables, layers := text.Count(uint64(r.Uploaded+r.Stored), "table"), text.Count(uint64(r.Layers), "layer")
	text.Row(w, "manifest", "%s, %s, %s: %s", r.Manifest, tables, layers, state)
	if r.Requests != nil {
		text.Row(w, "requests", "%d", *r.Requests)
	}
}
