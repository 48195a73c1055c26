// Package command implements the commands of sstcloud: put, sweep, and the commands of sst, which also read URLs
// here. Package store opens URLs, and package upload uploads sets.
package command

import (
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
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
	files.OpenURL = store.Mount
}

// Run executes the command line and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return stores.Run(args, stdin, stdout, stderr)
}

const rootLong = `sstcloud is sst for sets of SSTables in Amazon S3, S3-compatible stores and Google Cloud Storage.
Wherever sst reads a table or a set, sstcloud also reads a URL: see sstcloud help urls.`

var stores = withStores(sst.Program())

// withStores adds URLs, put and the sweep of stores to sst.
func withStores(p cli.Program) cli.Program {
	p.Short, p.Long = "sst for sets in object storage", rootLong
	added := cli.Group{ID: "stores", Title: "Store sets in object storage:", Commands: cli.Commands{
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
		sources := cmd.Flags().Args()
		if cmd.Name() == "get" { // keys follow
			sources = sources[:min(1, len(sources))]
		}
		switch {
		case !slices.ContainsFunc(sources, files.IsURL):
			local(w, cmd, err)
		case errors.Is(err, set.ErrGone):
			text.Say(w, "upload the set again, by: sstcloud put %s", putArguments(cmd))
		case errors.Is(err, table.ErrCorrupt) && cmd.Name() != "put" && cmd.Name() != "sweep":
			text.Say(w, "delete damaged objects, then run: sstcloud put SET URL (it uploads what is missing or of another size)")
		}
	}
	return p
}

// putArguments returns the arguments, quoted for a shell, with which to run put after a put or a sweep.
func putArguments(cmd *cobra.Command) string {
	args := cmd.Flags().Args()
	out := format.ShellWord(args[len(args)-1])
	if cmd.Name() != "put" {
		return "SET " + out
	}
	if name := cmd.Flags().Lookup("manifest"); name.Changed {
		out += " --manifest " + format.ShellWord(name.Value.String())
	}
	return format.ShellPath(args[0]) + " " + out
}

const urlsHelp = `URLs of sets in object storage. Quote them, because of the &:

  s3://BUCKET?region=REGION                Amazon S3
  s3://BUCKET?region=us-east-1&endpoint=https://HOST&use_path_style=true
                                           an S3-compatible store
  gs://BUCKET                              Google Cloud Storage
  file:///DIRECTORY                        an existing directory

Add prefix=urls/2026-11/ for a set below a prefix. For another manifest or a single table, add its
name: s3://BUCKET/2026-11-26.jsonl?region=REGION. gocloud.dev/blob documents other parameters.

Credentials are the SDKs' defaults, such as AWS_ACCESS_KEY_ID, ~/.aws, the machine's role, or
Google's application default credentials. Reading needs permission to list the bucket.

A table's object is named by its SHA-256, and set.jsonl is the manifest. Commands list the objects
once and open each table with one request. A lookup takes one more for a present key, and rarely one
for an absent key; get --keys-from looks up 1,000 keys together. scan, diff and merge read 4 MiB at
a time. Each request ends after 2 minutes, retries included.`
