// Package measure has engines do the same work, in turns, and takes the time.
package measure

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"time"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// Options say what is measured.
type Options struct {
	Rounds  int
	Time    time.Duration // for one measurement
	Entries int           // of W1
	URLs    int           // the most of W3; 0: leave it out
	Members int           // keys of the largest set of Membership; < 10: leave it out
	Run     *regexp.Regexp

	// Progress is called before each measurement.
	Progress func(done, total int, what string)
}

// Preparing is the end of Progress's what while the tables or sets of works are made.
const Preparing = ": preparing"

// A run is what is under way.
type run struct {
	Options
	columns     []Column
	done, total int
	again       again
}

// Run measures the columns' engines at every work.
func Run(o Options, columns []Column) ([]Row, error) {
	r := &run{Options: o, columns: columns, again: newAgain(o)}
	var groups []group
	for _, g := range plan(o) {
		g = g.wanted(o)
		groups = append(groups, g)
		r.total += len(g.works)
	}
	var rows []Row
	for _, g := range groups {
		if len(g.works) == 0 {
			continue
		}
		more, err := r.group(&g)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.id, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// group builds the group's tables and does its works.
func (r *run) group(g *group) (rows []Row, err error) {
	r.Progress(r.done, r.total, g.id+Preparing)
	stands := make([]*stand, len(r.columns))
	defer func() { err = errors.Join(err, closeTables(stands)) }()
	if err := r.build(g, stands); err != nil {
		return nil, err
	}
	for _, w := range g.works {
		r.Progress(r.done, r.total, g.rowID(w))
		row, err := r.row(g, w, stands)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.id, err)
		}
		rows = append(rows, row)
		r.done++
	}
	return rows, nil
}

// build makes the stands of the engines that take part, with their tables.
func (r *run) build(g *group, stands []*stand) error {
	d := g.data()
	runtime.GC() // what they were made from, before as much is made again
	for i, c := range r.columns {
		if c.Err != nil || !g.has(c) {
			continue
		}
		stands[i] = &stand{engine: c.Engine, options: g.options, data: d}
		if !g.tables {
			continue
		}
		var err error
		if stands[i].table, err = c.Engine.Build(d.pairs, g.options); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// closeTables frees what build made.
func closeTables(stands []*stand) (err error) {
	for _, s := range stands {
		if s != nil && s.table != nil {
			err = errors.Join(err, s.table.Close())
		}
	}
	return err
}

// row does one work: it starts all engines, and then measures them in turns, until their ratios are steady.
func (r *run) row(g *group, w work, stands []*stand) (row Row, err error) {
	row = Row{ID: g.rowID(w), Section: g.section, Title: w.title, X: w.x, Unit: w.unit, Allocs: w.allocs, Cells: make([]Cell, len(stands))}
	tasks := make([]task, len(stands))
	defer func() { err = errors.Join(err, closeOpened(stands)) }()
	for i, s := range stands {
		if tasks[i], err = r.start(w, s, &row.Cells[i], r.columns[i]); err != nil {
			return row, fmt.Errorf("%s: %w", r.columns[i].Name, err)
		}
	}
	err = r.again.measure(r.Rounds, &row, tasks, func(i int, c *Cell) error {
		if err := r.measure(tasks[i], c, r.columns[i]); err != nil {
			return fmt.Errorf("%s: %w", r.columns[i].Name, err)
		}
		return nil
	})
	return row, err
}

// inTurns measures each task once a round. A task can be nil.
func inTurns(rounds int, tasks []task, measure func(i int) error) error {
	for range rounds {
		for i, t := range tasks {
			if t == nil {
				continue
			}
			if err := measure(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeOpened closes what a work had opened.
func closeOpened(stands []*stand) (err error) {
	for _, s := range stands {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}
	return err
}

// start returns the engine's task, warmed up. It is nil if there is none, with
// the reason in the cell, or if once was enough, with the figure there.
func (r *run) start(w work, s *stand, cell *Cell, c Column) (task, error) {
	if s == nil {
		cell.Missing = "—"
		if c.Err != nil {
			cell.Missing = c.Err.Error()
		}
		return nil, nil
	}
	t, err := w.start(s)
	var first sample
	if err == nil {
		first, err = t(r.Time / 4)
	}
	if errors.Is(err, engine.ErrNone) {
		cell.Missing = "—"
		return nil, nil
	}
	if err == nil && w.once {
		cell.add(first)
		return nil, nil
	}
	return t, err
}

// measure takes one sample.
func (r *run) measure(t task, cell *Cell, c Column) error {
	runtime.GC()
	s, err := t(r.Time)
	if err != nil {
		return err
	}
	if !c.Engine.Info().Go {
		s.allocs = math.NaN()
	}
	cell.add(s)
	return nil
}
