package setio

import (
	"context"
	"fmt"
	"math"

	"github.com/sievetable/sievetable/table/set"
)

// samplesPerTable is how many sampled keys a table has. The numbers of keys of the tables then
// have a standard deviation of 1/√1024, which is 3 %.
const samplesPerTable = 1024

// sample samples the keys of a file.
type sample struct {
	Rate float64

	lines lineReader
}

// ProcessElement emits a piece of the sampled keys of the file.
func (fn *sample) ProcessElement(ctx context.Context, file string, emit func([]byte)) error {
	s, err := set.NewSampler(fn.Rate)
	if err != nil {
		return err
	}
	err = fn.lines.each(ctx, file, func(line []byte) error {
		s.Add(line)
		return nil
	})
	if err != nil {
		return err
	}
	p, err := encodeKeys(s.Keys())
	if err != nil {
		return err
	}
	emit(p)
	return nil
}

// split finds the splits, and makes the directory.
type split struct {
	Dir             string
	Rate            float64
	EntriesPerTable int
}

// ProcessElement emits a piece of the splits. Samples are the pieces of all files.
func (fn *split) ProcessElement(
	_ []byte, samples func(*[]byte) bool, files func(*string) bool, emit func([]byte),
) error {
	if err := prepare(fn.Dir); err != nil {
		return err
	}
	s, err := set.NewSampler(fn.Rate)
	if err != nil {
		return err
	}
	var p piece
	sampled := 0
	for ; samples(&p); sampled++ {
		if err := eachKey([]piece{p}, func(key []byte) error { s.Add(key); return nil }); err != nil {
			return err
		}
	}
	if err := checkFiles("sampled", sampled, count(files)); err != nil {
		return err
	}
	splits, err := encodeKeys(s.Splits(fn.tables(s.Len())))
	if err != nil {
		return err
	}
	emit(splits)
	return nil
}

// tables returns how many tables there will be, if that many keys are sampled.
func (fn *split) tables(sampled int) int {
	perTable := int(math.Round(fn.Rate * float64(fn.EntriesPerTable))) // 1024, or all if there are fewer
	return (sampled + perTable - 1) / perTable
}

// checkFiles compares how many files a step has done with how many there are.
func checkFiles(done string, n, files int) error {
	switch {
	case files == 0:
		return fmt.Errorf("setio: no files of lines: want at least one")
	case n != files:
		return fmt.Errorf("setio: %d files are %s, want %d: a worker has failed and the runner went on; "+
			"see its log, and build again", n, done, files)
	}
	return nil
}

// count returns how many elements there are.
func count(elements func(*string) bool) int {
	n := 0
	for e := ""; elements(&e); {
		n++
	}
	return n
}
