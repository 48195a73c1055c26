// Package command has the commands of sstcloud: those of sst, which read URLs here too, put, and a sweep of stores.
// Package store opens URLs, and upload sends a set.
package command

import (
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	sst "github.com/sievetable/sievetable/table/cmd/sst/internal/command"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

func init() {
	text.Program = "sstcloud"
	store.Mount()
}

// Run executes the command line and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return stores.Run(args, stdin, stdout, stderr)
}

const rootLong = `Keep sets of tables in object storage, and read, check, repair, build and explain LevelDB's tables,
logs, databases and sets, as sst does. Where a command reads a table or a set, it reads a URL too: see
sstcloud help urls.`

var stores = withStores(sst.Program())

// withStores adds to sst what it does in object stores.
func withStores(p cli.Program) cli.Program {
	p.Short, p.Long = "sst for sets in object storage", rootLong
	added := cli.Group{ID: "stores", Title: "Keep sets in object storage:", Commands: cli.Commands{
		"put": putCommand, "sweep": sweepCommand,
	}}
	p.Groups = append([]cli.Group{added}, slices.Clone(p.Groups)...)
	for i, g := range p.Groups[1:] {
		g.Commands = maps.Clone(g.Commands)
		delete(g.Commands, "sweep")
		if g.ID == "topics" {
			g.Title = "Topics, by sstcloud help TOPIC:"
			g.Commands["urls"] = cli.Topic("urls", "URLs of sets in object storage", urlsHelp)
		}
		p.Groups[i+1] = g
	}
	local := p.Advise
	p.Advise = func(w io.Writer, cmd *cobra.Command, err error) {
		switch {
		case !slices.ContainsFunc(cmd.Flags().Args(), files.IsURL):
			local(w, cmd, err)
		case errors.Is(err, set.ErrGone):
			text.Say(w, "put the set again, by sstcloud put")
		case errors.Is(err, table.ErrCorrupt) && cmd.Name() != "put" && cmd.Name() != "sweep":
			text.Say(w, "delete the objects that are damaged, and put the set again: put does not replace a table of the same size")
		}
	}
	return p
}

const urlsHelp = `A URL says where a set is:

  s3://BUCKET?region=REGION                Amazon S3
  s3://BUCKET?region=us-east-1&endpoint=https://HOST&use_path_style=true
                                           a store like S3
  gs://BUCKET                              Google Cloud Storage
  file:///DIRECTORY                        a directory, which exists

With &prefix=urls/2026-11/ the set is below that prefix in the bucket, which can have many. Credentials
come from where the SDKs look for them, such as AWS_ACCESS_KEY_ID, ~/.aws and the role of the machine,
or Google's application default credentials. Other parameters of buckets are those of gocloud.dev/blob.
Write URLs in quotes, because of the &.

Each table is stored as an object named by its SHA-256, and set.jsonl is the manifest that lists the
tables. A manifest of another name, or a single table, has its name before the parameters:
s3://BUCKET/2026-11-26.jsonl?region=REGION

Commands list the objects once, and open a table with one request. A lookup of a present key takes one
more, and that of an absent key mostly none. get looks up 1,000 keys of --keys-from together. scan, diff
and merge read 4 MiB at a time. Each request ends after 2 minutes, with those that the SDK sends again.`
