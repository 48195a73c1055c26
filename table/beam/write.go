package setio

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sievetable/sievetable/table/set"
)

func init() {
	// For each element, generated code is faster than reflection.
	register.DoFn6x1[context.Context, []byte, []byte, func([]byte), func([]byte), func(string, int64), error](
		(*sortPairs)(nil))
	register.Emitter1[[]byte]()
	register.Emitter2[string, int64]()
	register.Function1x2(countFile)
	for _, doFn := range []any{(*sortLines)(nil), (*split)(nil), (*cut)(nil), (*writeTable)(nil), (*finish)(nil)} {
		beam.RegisterDoFn(reflect.TypeOf(doFn))
	}
}

// Write adds steps to the pipeline that build a set in the directory dir from pairs, a PCollection of
// KV<K,V>. K and V are []byte or string. The returned PCollection has one string, the path of the
// manifest, when all is written.
//
// Pairs can be in any order. A pair that is there several times is written once. Two values for a key are
// an error of the pipeline that names the key: a PCollection has no order, so that there is no first or
// last one. Combine the values of each key before, as by [beam.CombinePerKey]. A key has up to 256 KiB,
// and a value up to 16 MiB.
//
// dir is the absolute path of a directory that all workers share, or one of a file system that Beam has
// and the program imports, such as gs://bucket/urls: see the documentation of this package. It is created
// if it does not exist. pairs must be bounded. Their windows do not matter. Without pairs the set has no
// tables.
//
// The new manifest replaces that of an earlier build in dir, or adds a layer to it: see Layer of
// [Options]. The tables of the earlier build stay, so that they can be served until the new set is. No
// build removes a table, since another one may have written the same. Of two builds in one dir at a time,
// both have all their tables, and the manifest is that of the last one. [Sweep] removes tables that are
// not needed any more.
func Write(s beam.Scope, dir string, pairs beam.PCollection, o Options) (beam.PCollection, error) {
	const want = "KV<K,V> of []byte or string each: WriteKeys takes keys without values, and WriteLines names of files"
	err := checkElements(s, "pairs", pairs, true, want)
	return writeSet(s, "setio.Write", dir, pairs, false, o, err)
}

// WriteKeys does what [Write] does, of keys without values: a PCollection of []byte or string. A key that
// is there several times is written once.
func WriteKeys(s beam.Scope, dir string, keys beam.PCollection, o Options) (beam.PCollection, error) {
	err := checkElements(s, "keys", keys, false, "[]byte or string: Write takes keys with values")
	return writeSet(s, "setio.WriteKeys", dir, keys, false, o, err)
}

// WriteLines does what [Write] does, of the lines of files: each line is a key without a value. It takes
// less time than WriteKeys of the lines, since no line is an element of the pipeline. files is a
// PCollection of the names of files (string), as Beam's file systems have them: all workers must see the
// same files by them. To find files by a pattern, use fileio.MatchFiles or a list.
//
// A line's bytes are taken as they are, without the newline. A carriage return is part of the key, and an
// empty line is a key too. There must be at least one file. Files without lines make a set without
// tables.
//
// One worker reads a file: give more files than there are workers.
func WriteLines(s beam.Scope, dir string, files beam.PCollection, o Options) (beam.PCollection, error) {
	const what, want = "names of files", "string: WriteKeys takes keys"
	err := checkElements(s, what, files, false, want)
	if err == nil && typesOf(files)[0] != stringType {
		err = fmt.Errorf("setio: the PCollection of %s is of %v, want %s", what, files.Type(), want)
	}
	return writeSet(s, "setio.WriteLines", dir, files, true, o, err)
}

// A sorted is what the steps emit that sort.
type sorted struct{ pieces, samples, ledgers []beam.PCollection }

// add adds what a step emits.
func (a *sorted) add(pieces, samples, ledger beam.PCollection) {
	a.pieces, a.samples = append(a.pieces, pieces), append(a.samples, samples)
	a.ledgers = append(a.ledgers, ledger)
}

// writeSet adds all steps, unless an argument is wrong, for which Beam would panic. err is the error of the collection's
// type. If lines is set, its elements are names of files of lines.
func writeSet(
	s beam.Scope, name, dir string, col beam.PCollection, lines bool, o Options, err error,
) (beam.PCollection, error) {
	if err == nil {
		o, err = o.check(s, dir)
	}
	if err != nil {
		return beam.PCollection{}, err
	}
	s = s.Scope(name)
	var in sorted
	if lines {
		// Without Reshuffle, one worker would take all files that one element made.
		in.add(beam.ParDo3(s, &sortLines{o.sorter()}, beam.Reshuffle(s, col)))
		in.ledgers = append(in.ledgers, beam.ParDo(s, countFile, col))
	} else {
		in.add(beam.ParDo3(s, &sortPairs{o.sorter()}, asPairs(s, col)))
	}
	if o.Removals.IsValid() {
		remove := o.sorter()
		remove.Removals = true
		in.add(beam.ParDo3(s, &sortPairs{remove}, asPairs(s, o.Removals)))
	}
	return build(s, dir, in, lines, o), nil
}

// build adds the steps behind those that sort.
func build(s beam.Scope, dir string, in sorted, lines bool, o Options) beam.PCollection {
	t := target{Dir: dir, Lease: set.NewLease(), Writer: o.Writer, Layer: o.Layer, Removals: o.Removals.IsValid()}
	once := beam.Impulse(s)
	splits := beam.ParDo(s, &split{t, o.EntriesPerTable}, once,
		beam.SideInput{Input: beam.Flatten(s, in.samples...)})
	// Reshuffle gives all workers about as many pieces, and keeps them from being sorted again.
	pieces := beam.Reshuffle(s, beam.Flatten(s, in.pieces...))
	parts, ledger := beam.ParDo2(s, &cut{RunSize: o.RunSize}, pieces, beam.SideInput{Input: splits})
	tables, done := beam.ParDo2(s, &writeTable{t}, beam.GroupByKey(s, parts))
	return beam.ParDo(s, &finish{t, lines}, once, beam.SideInput{Input: splits},
		beam.SideInput{Input: beam.Flatten(s, append(in.ledgers, ledger, done)...)}, beam.SideInput{Input: tables})
}
