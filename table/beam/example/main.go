// Command example builds a set of the lines of files, or adds a layer to one, on the runner of the flag
// -runner.
//
//	cd table/beam
//	GOWORK=off go run ./example -input '/data/urls/*.txt' -output /data/blacklist
//	GOWORK=off go run ./example -layer -input '/data/new/*.txt' -remove '/data/gone/*.txt' \
//	    -output /data/blacklist
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"log"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// The names that -runner knows. Import beamx instead to have Dataflow too. For gs:// and s3://, import
	// io/filesystem/gcs and io/filesystem/s3.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	setio "github.com/sievetable/sievetable/table/beam"
)

var (
	input   = flag.String("input", "", "`pattern` of the files of lines, as a shell has it")
	output  = flag.String("output", "", "`directory` of the set, which all workers share")
	layer   = flag.Bool("layer", false, "add a layer to the set, of the lines as keys that are new")
	remove  = flag.String("remove", "", "`pattern` of files of lines, which are the keys that the layer removes")
	entries = flag.Int("entries-per-table", 0, "about how many keys a table has (default 1000000)")
	writer  = flag.String("writer", "", `options of tables: "", or "whole" for one filter of all keys beside those of blocks`)
)

// Workers run this program too: they find options and functions by their names.
func init() {
	setio.RegisterWriter("whole", func() *table.WriterOptions {
		return &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}
	})
	register.Function1x1(pathOf)
}

// pathOf returns the name of a file.
func pathOf(f fileio.FileMetadata) string { return f.Path }

func main() {
	flag.Parse()
	beam.Init() // on a worker, this does not return
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// run builds the set, and logs what was done.
func run(ctx context.Context) error {
	if *input == "" || *output == "" {
		return errors.New("want -input and -output")
	}
	p, s := beam.NewPipelineWithRoot()
	if err := write(s); err != nil {
		return err
	}
	result, err := beam.Run(ctx, cmp.Or(*runners.Runner, "prism"), p)
	if err != nil || result == nil || *jobopts.Async { // without a result, there are no counters
		return err
	}
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Key.Namespace == "setio" {
			log.Printf("%s: %d", c.Key.Name, c.Result())
		}
	}
	return nil
}

// write adds the steps to the pipeline.
func write(s beam.Scope) error {
	for _, path := range []*string{input, output, remove} {
		if err := makeAbsolute(path); err != nil {
			return err
		}
	}
	o := setio.Options{EntriesPerTable: *entries, Writer: *writer, Layer: *layer}
	if *remove != "" {
		o.Removals = textio.Read(s, *remove)
	}
	files := beam.ParDo(s, pathOf, fileio.MatchFiles(s, *input))
	_, err := setio.WriteLines(s, *output, files, o)
	return err
}

// makeAbsolute makes a path one by which all workers find the file, in whatever directory they run.
func makeAbsolute(path *string) (err error) {
	if *path != "" && !strings.Contains(*path, "://") {
		*path, err = filepath.Abs(*path)
	}
	return err
}
