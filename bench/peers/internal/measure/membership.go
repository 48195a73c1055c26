package measure

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/membership"
)

// Forms are the columns of Membership.
func Forms() []Column {
	var columns []Column
	for _, f := range membership.Forms {
		columns = append(columns, Column{Name: f.Name})
	}
	return columns
}

// Membership asks sets of each size, in each form, for keys that they do not have.
func Membership(o Options) ([]Row, error) {
	sizes := slices.DeleteFunc(membership.Sizes(o.Members), func(n int) bool {
		return !o.Run.MatchString(membershipID(n, AskAbsent))
	})
	if len(sizes) == 0 {
		return nil, nil
	}
	o.Progress(0, len(sizes), "membership"+Preparing)
	pool := membership.NewPool(slices.Max(sizes), membership.Questions)
	var times, probes []Row
	again := newAgain(o)
	for i, n := range sizes {
		o.Progress(i, len(sizes), membershipID(n, AskAbsent))
		took, looked, err := askSets(o, &again, pool, n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", membershipID(n, AskAbsent), err)
		}
		times, probes = append(times, took), append(probes, looked)
	}
	return append(times, probes...), nil
}

func membershipID(keys int, work string) string { return fmt.Sprintf("membership-%d/%s", keys, work) }

// askSets measures sets of n keys, in turns, and counts their probes.
func askSets(o Options, again *again, pool *membership.Pool, n int) (times, probes Row, err error) {
	forms := membership.Forms
	name := figures.Grouped(n) + " keys"
	times = Row{ID: membershipID(n, AskAbsent), Section: SectionMembership, Title: name, X: float64(n), Cells: make([]Cell, len(forms))}
	probes = Row{ID: membershipID(n, probesAbsent), Section: SectionMembership, Title: "Probes, " + name, Unit: PerLookup, Cells: make([]Cell, len(forms))}
	keys, tasks := pool.Keys(n), make([]task, len(forms))
	for i, form := range forms {
		times.Cells[i].Missing, probes.Cells[i].Missing = "—", "—"
		if n > form.Most {
			continue
		}
		set := form.New(keys)
		tasks[i] = timing(askingSet(set, pool.Absent()))
		if p := membership.MeanProbes(set, pool.Absent()); p > 0 {
			probes.Cells[i].add(counted(p))
		}
	}
	runtime.GC() // not while lookups are timed
	err = again.measure(o.Rounds, &times, tasks, func(i int, c *Cell) error {
		s, err := tasks[i](o.Time)
		c.add(counted(s.value)) // nothing is allocated
		return err
	})
	return times, probes, err
}

// askingSet asks a chunk of keys that the set does not have, going on where it left off.
func askingSet(set membership.Set, absent [][]byte) step {
	from := 0
	return func() (int, error) {
		part := absent[from:min(from+chunk, len(absent))]
		if from += len(part); from == len(absent) {
			from = 0
		}
		positives := 0
		for _, k := range part {
			if set.Contains(k) {
				positives++
			}
		}
		if positives > chunk/10 {
			return 0, fmt.Errorf("a set has %d of %d absent keys", positives, len(part))
		}
		return len(part), nil
	}
}
