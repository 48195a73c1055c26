package setio_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	setio "github.com/sievetable/sievetable/table/beam"
)

// childDir is the environment variable for the directory of the set. A process that has it only builds that set.
const childDir = "SETIO_TEST_DIR"

// Do not run these tests with the race detector: when a bundle fails, it finds a race in Beam's harness, where
// DataChannel.read and dataWriter.send receive from the same gRPC stream. It finds none in this package.
func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	if !testing.Verbose() { // Prism logs a lot
		slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
		log.SetLogger(quiet{})
	}
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(runTests(m))
}

// runTests runs the tests with a directory for Beam's leftovers: an empty file for each pipeline.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "setio")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
	return m.Run()
}

type quiet struct{}

func (quiet) Log(context.Context, log.Severity, int, string) {}

// child builds a set in dir, with the environment's files, tables and writer.
func child(dir string) error {
	files, err := filepath.Glob(os.Getenv("SETIO_TEST_FILES"))
	if err != nil {
		return err
	}
	entries, err := strconv.Atoi(os.Getenv("SETIO_TEST_ENTRIES"))
	if err != nil {
		return err
	}
	o := setio.Options{EntriesPerTable: entries}
	if os.Getenv("SETIO_TEST_KILL") != "" {
		o.Writer = "killing"
	}
	if os.Getenv("SETIO_TEST_FROM") == "keys" {
		return buildKeys(dir, os.Getenv("SETIO_TEST_FILES"), o)
	}
	return build(dir, files, o)
}

// buildKeys builds a set from the lines of files as elements of the pipeline.
func buildKeys(dir, pattern string, o setio.Options) error {
	p, s := beam.NewPipelineWithRoot()
	if _, err := setio.WriteKeys(s, dir, textio.Read(s, pattern), o); err != nil {
		return err
	}
	_, err := prism.Execute(context.Background(), p)
	return err
}

// childEnv returns the environment for child. files are all files of a directory.
func childEnv(dir string, files []string, entries int, more ...string) []string {
	pattern := filepath.Join(filepath.Dir(files[0]), "*")
	env := append(os.Environ(), childDir+"="+dir, "SETIO_TEST_FILES="+pattern, fmt.Sprint("SETIO_TEST_ENTRIES=", entries))
	return append(env, more...)
}

// build builds a set from the files in dir, on Prism in this process.
func build(dir string, files []string, o setio.Options) error {
	p, s := beam.NewPipelineWithRoot()
	if _, err := setio.WriteLines(s, dir, beam.CreateList(s, files), o); err != nil {
		return err
	}
	_, err := prism.Execute(context.Background(), p)
	return err
}

// writeFiles writes n files of lines to a new directory, and returns their names. Key i is in file i%n.
func writeFiles(t testing.TB, n int, keys [][]byte) []string {
	t.Helper()
	contents := make([][]byte, n)
	for i, key := range keys {
		contents[i%n] = append(append(contents[i%n], key...), '\n')
	}
	return writeContents(t, contents)
}
