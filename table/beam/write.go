package setio

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	for _, doFn := range []any{
		(*sample)(nil), (*split)(nil), (*sortFile)(nil), (*writeTable)(nil), (*finish)(nil),
	} {
		beam.RegisterDoFn(reflect.TypeOf(doFn))
	}
}

// Write adds steps to the pipeline that build a set in the directory dir from the lines of files.
// files is a PCollection of the names of files (string). The returned PCollection has one string,
// the path of the manifest, when all is written.
//
// Each line is a key without a value, also an empty line. Its bytes are taken as they are, without
// the newline. A carriage return is part of the key. A key has up to 256 KiB. Keys can be in any
// order and can be repeated.
//
// Every worker must see the same files and the same dir, by the same names: Write is for one
// machine, and for clusters with a shared file system. dir must be absolute. It is created if it
// does not exist. There must be at least one file. Files without lines make a set without tables.
// files must be in the global window, the default.
//
// One worker reads a file: give more files than there are workers. A file is read twice and must
// not change meanwhile.
//
// The new manifest replaces that of an earlier build in dir. The tables of the earlier build stay,
// so that they can be served until the new set is. No build removes a table, since another one may
// have written the same. Of two builds in one dir at a time, both have all their tables, and the
// manifest is that of the last one. [Sweep] removes tables that are not needed any more.
func Write(s beam.Scope, dir string, files beam.PCollection, o Options) (beam.PCollection, error) {
	o, err := o.withDefaults()
	if err != nil {
		return beam.PCollection{}, err
	}
	if !filepath.IsAbs(dir) {
		return beam.PCollection{}, fmt.Errorf(
			"setio: directory is %q, want an absolute path: workers have other working directories", dir)
	}
	if !s.IsValid() || !files.IsValid() {
		return beam.PCollection{}, errors.New(
			"setio: the Scope or the PCollection of files is the zero value, want those of a pipeline")
	}
	if t := files.Type().Type(); t != reflect.TypeFor[string]() {
		return beam.PCollection{}, fmt.Errorf("setio: the PCollection of files is of %v, want string", t)
	}
	return build(s.Scope("setio.Write"), dir, files, o), nil
}

// build adds the steps. The arguments are checked, so that beam does not panic.
func build(s beam.Scope, dir string, files beam.PCollection, o Options) beam.PCollection {
	// Without Reshuffle, one worker would take all files that one element made.
	files = beam.Reshuffle(s, files)
	once := beam.Impulse(s)
	rate := min(1, samplesPerTable/float64(o.EntriesPerTable))

	samples := beam.ParDo(s, &sample{Rate: rate}, files)
	splits := beam.ParDo(s, &split{Dir: dir, Rate: rate, EntriesPerTable: o.EntriesPerTable}, once,
		beam.SideInput{Input: samples}, beam.SideInput{Input: files})
	pieces, sent := beam.ParDo2(s, &sortFile{RunSize: o.RunSize}, files, beam.SideInput{Input: splits})
	tables := beam.ParDo(s, &writeTable{Dir: dir, Writer: o.Writer}, beam.GroupByKey(s, pieces))
	return beam.ParDo(s, &finish{Dir: dir}, once,
		beam.SideInput{Input: files}, beam.SideInput{Input: sent}, beam.SideInput{Input: tables})
}
