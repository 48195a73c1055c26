// Command example builds a set from the lines of files, or adds a layer to a set. The flag -runner selects Beam's
// runner.
//
//	cd table/beam
//	GOWORK=off go run ./example -input '/data/urls/*.txt' -output /data/blocklist
//	GOWORK=off go run ./example -layer -input '/data/new/*.txt' -remove '/data/gone/*.txt' -output /data/blocklist
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

	// Runners that -runner can select. Import beamx instead for Dataflow. For gs:// and s3://, import
	// io/filesystem/gcs and io/filesystem/s3.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	setio "github.com/sievetable/sievetable/table/beam"
)

var (
	input   = flag.String("input", "", "`pattern` of the input files, such as '/data/urls/*.txt'")
	output  = flag.String("output", "", "`directory` of the set, shared by all workers")
	layer   = flag.Bool("layer", false, "add the lines to an existing set, as a layer")
	remove  = flag.String("remove", "", "`pattern` of files whose lines the layer removes")
	entries = flag.Int("entries-per-table", 0, "approximate number of keys per table (default 1000000)")
	writer  = flag.String("writer", "", `table options: "" for block filters, or "whole" to add table filters`)
)

// Workers run this program too, and find options and functions by name.
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

// run builds the set and logs its counters.
func run(ctx context.Context) error {
	if *input == "" || *output == "" {
		return errors.New("missing -input or -output, such as -input '/data/urls/*.txt' -output /data/blocklist")
	}
	p, s := beam.NewPipelineWithRoot()
	if err := write(s); err != nil {
		return err
	}
	result, err := beam.Run(ctx, cmp.Or(*runners.Runner, "prism"), p)
	if err != nil || result == nil || *jobopts.Async { // no counters without a result
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

// makeAbsolute makes a path absolute, since workers may run in other directories.
func makeAbsolute(path *string) (err error) {
	if *path != "" && !strings.Contains(*path, "://") {
		*path, err = filepath.Abs(*path)
	}
	return err
}
