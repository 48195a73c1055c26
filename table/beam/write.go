package setio

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/sievetable/sievetable/table/set"
)

func init() {
	// This DoFn runs for each element, for which generated code is faster than reflection.
	register.DoFn6x1[context.Context, []byte, []byte, func([]byte), func([]byte), func(string, int64), error](
		(*sortPairs)(nil))
	register.Emitter1[[]byte]()
	register.Emitter2[string, int64]()
	register.Function1x2(countFile)
	for _, doFn := range []any{(*sortLines)(nil), (*split)(nil), (*cut)(nil), (*writeTable)(nil), (*finish)(nil)} {
		beam.RegisterDoFn(reflect.TypeOf(doFn))
	}
}

// Write adds steps to the pipeline that build a set in the directory dir from pairs, a bounded PCollection of KV<K,V>
// in any order. K and V are []byte or string: up to 256 KiB for a key, 16 MiB for a value. The returned PCollection
// contains the manifest's path once the set is complete.
//
// Duplicate pairs are written once. Two different values for a key are an error that names the key: combine the
// values before, for example with [beam.CombinePerKey].
//
// dir is an absolute path that all workers share, or a directory in a file system of Beam, such as gs://bucket/urls:
// see the package comment. It is created if it does not exist.
//
// If dir contains a set, its manifest is replaced, or with Layer of [Options], a layer is added. Without elements, a
// non-empty set is not replaced, and the pipeline fails: most often, the input is missing. The previous tables stay,
// so that services can use them until they load the new manifest: [Sweep] removes them. If two builds run at once,
// both succeed and the later manifest stays.
func Write(s beam.Scope, dir string, pairs beam.PCollection, o Options) (beam.PCollection, error) {
	err := checkElements(s, "pairs", pairs, true,
		"KV<K,V> with K and V []byte or string: use WriteKeys for keys without values, WriteLines for file names")
	return writeSet(s, "setio.Write", dir, pairs, false, o, err)
}

// WriteKeys is like [Write], but takes keys without values: a PCollection of []byte or string.
func WriteKeys(s beam.Scope, dir string, keys beam.PCollection, o Options) (beam.PCollection, error) {
	err := checkElements(s, "keys", keys, false, "[]byte or string: use Write for keys with values")
	return writeSet(s, "setio.WriteKeys", dir, keys, false, o, err)
}

// WriteLines is like [Write], but takes the names of files, a PCollection of string, and writes each of their lines
// as a key without a value. It is faster than WriteKeys of the same lines. Names are paths in any of Beam's file
// systems, the same for all workers. To list files by a pattern, use [fileio.MatchFiles].
//
// Lines end with a newline, which is not part of the key. Carriage returns are, and an empty line is a key. Without
// any file, the pipeline fails. One worker reads each file: use more files than there are workers.
//
// [fileio.MatchFiles]: https://pkg.go.dev/github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio#MatchFiles
func WriteLines(s beam.Scope, dir string, files beam.PCollection, o Options) (beam.PCollection, error) {
	const what, expected = "file names", "string: use WriteKeys for keys"
	err := checkElements(s, what, files, false, expected)
	if err == nil && typesOf(files)[0] != stringType {
		err = wrongType(what, files, expected)
	}
	return writeSet(s, "setio.WriteLines", dir, files, true, o, err)
}

// sorted contains the outputs of the sorting steps.
type sorted struct{ pieces, samples, ledgers []beam.PCollection }

// add adds a step's outputs.
func (a *sorted) add(pieces, samples, ledger beam.PCollection) {
	a.pieces, a.samples = append(a.pieces, pieces), append(a.samples, samples)
	a.ledgers = append(a.ledgers, ledger)
}

// writeSet adds all steps, or returns an error for a wrong argument, since Beam would panic. err is the error for the
// collection's type. If lines is set, its elements are file names.
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
		col = unwindowed(s, col)
		// Without Reshuffle, one worker would read all files that came from one element.
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

// build adds the steps after sorting.
func build(s beam.Scope, dir string, in sorted, lines bool, o Options) beam.PCollection {
	t := target{Dir: dir, Lease: set.NewLease(), Writer: o.Writer, Layer: o.Layer, Removals: o.Removals.IsValid()}
	once := beam.Impulse(s)
	splits := beam.ParDo(s, &split{t, o.EntriesPerTable}, once,
		beam.SideInput{Input: beam.Flatten(s, in.samples...)})
	// Reshuffle distributes the pieces evenly, and ensures that they are not sorted again.
	pieces := beam.Reshuffle(s, beam.Flatten(s, in.pieces...))
	parts, ledger := beam.ParDo2(s, &cut{RunSize: o.RunSize}, pieces, beam.SideInput{Input: splits})
	tables, done := beam.ParDo2(s, &writeTable{t}, beam.GroupByKey(s, parts))
	return beam.ParDo(s, &finish{t, lines}, once, beam.SideInput{Input: splits},
		beam.SideInput{Input: beam.Flatten(s, append(in.ledgers, ledger, done)...)}, beam.SideInput{Input: tables})
}
