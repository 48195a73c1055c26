// Command example builds a set of the lines of files, on the runner of the flag -runner.
//
//	cd table/beam && GOWORK=off go run ./example -input '/data/urls/*.txt' -output /data/blacklist
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// The names that -runner knows. Import beamx instead to have Dataflow too.
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
	entries = flag.Int("entries-per-table", 0, "about how many keys a table has (default 1000000)")
	writer  = flag.String("writer", "", `options of tables: "", or "whole" for one filter of all keys beside those of blocks`)
)

// Workers run this program too: they find the options by this name.
func init() {
	setio.RegisterWriter("whole", func() *table.WriterOptions {
		return &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}
	})
}

func main() {
	flag.Parse()
	beam.Init() // on a worker, this does not return
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// run builds the set.
func run(ctx context.Context) error {
	if *input == "" || *output == "" {
		return errors.New("want -input and -output")
	}
	pattern, err := filepath.Abs(*input)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no files match %s", pattern)
	}
	dir, err := filepath.Abs(*output)
	if err != nil {
		return err
	}
	o := setio.Options{EntriesPerTable: *entries, Writer: *writer}
	p, s := beam.NewPipelineWithRoot()
	if _, err := setio.WriteLines(s, dir, beam.CreateList(s, names), o); err != nil {
		return err
	}
	runner := *runners.Runner
	if runner == "" {
		runner = "prism"
	}
	_, err = beam.Run(ctx, runner, p)
	return err
}
