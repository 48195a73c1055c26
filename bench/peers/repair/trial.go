package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/dbdamage"
)

// numDatabases is how many databases are damaged.
const numDatabases = 8

// A result is what the repairs made of one damaged database.
type result struct {
	number   int
	database *database
	kind     string
	damages  []dbdamage.Damage
	repaired []repaired // by each of repairNames
	counts   []counts   // of these
}

func (r *result) String() string {
	return fmt.Sprintf("damage %d, %v: %v", r.number, r.database, r.damages)
}

// A stand damages databases and has them repaired.
type stand struct {
	repairers
	tmp       string
	databases []*database
}

// newStand builds the programs and makes the databases in tmp.
func newStand(tmp string) (*stand, error) {
	r, err := newRepairers(tmp)
	if err != nil {
		return nil, err
	}
	s := &stand{repairers: r, tmp: tmp}
	for i := range numDatabases {
		d, err := newDatabase(r.cxx, tmp, i)
		if err != nil {
			return nil, err
		}
		s.databases = append(s.databases, d)
	}
	return s, nil
}

// try damages a database in the way number i, and has each repair a copy.
func (s *stand) try(i int) (*result, error) {
	r := &result{number: i, database: s.databases[(i+i/numDatabases)%numDatabases]}
	dir := filepath.Join(s.tmp, fmt.Sprint("damaged", i))
	defer os.RemoveAll(dir)
	err := os.CopyFS(dir, os.DirFS(r.database.dir))
	if err == nil {
		r.kind, r.damages, err = damage(rand.New(rand.NewPCG(uint64(i), 43)), i, dir)
	}
	for _, name := range repairNames {
		var made repaired
		if err == nil {
			made, err = s.repairCopy(name, dir)
		}
		r.repaired = append(r.repaired, made)
	}
	if err != nil {
		return r, fmt.Errorf("%v: %w", r, err)
	}
	r.count()
	return r, nil
}

// count counts the pairs of the repaired databases.
func (r *result) count() {
	m, left := &r.database.model, r.database.stored.after(r.damages)
	for i, made := range r.repaired {
		names := made.said.Covers
		if i == bySSTCertain {
			names = func(string, uint64) bool { return false } // none is old, whatever messages say
		} else if !isSound(r.damages) { // what sst then says of all keys names none
			names = made.said.Names
		}
		r.counts = append(r.counts, m.count(made, left, names))
	}
	for i, made := range r.repaired[firstPeer:] {
		c := &r.counts[firstPeer+i]
		c.ahead = m.countAhead(made, r.repaired[bySST], left)
		c.aheadOfAll = m.countAhead(made, r.repaired[bySSTOfAll], left)
	}
}

// check returns how sst's repair breaks the law. It has all right pairs that a peer has, except for those of
// bytes that no checksum vouches for, and of files that the MANIFEST calls obsolete, which --all-tables
// has it read. Where the MANIFEST is sound, it names all old and deleted pairs. Where it is not, it has at
// most as many unnamed ones as the worse peer has old and deleted ones. With --certain, none.
func (r *result) check() (err error) {
	broken := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(format, args...)) }
	sst, most := r.counts[bySST], 0
	for _, peer := range r.counts[firstPeer:] {
		if !isSound(r.damages) {
			most = max(most, peer.old+peer.deleted)
		}
		if peer.ahead.live > 0 {
			broken("a peer has %d right pairs that it lacks", peer.ahead.live)
		}
		if n := peer.aheadOfAll.live + peer.aheadOfAll.obsolete; n > 0 {
			broken("a peer has %d right pairs that it lacks with --all-tables", n)
		}
	}
	if sst.foreign > 0 {
		broken("it has %d pairs that never were", sst.foreign)
	}
	if n := r.counts[bySSTCertain].unnamed; n > 0 {
		broken("with --certain, it has %d old and deleted pairs: %s", n, r.repaired[bySSTCertain].text)
	}
	if sst.unnamed > most {
		broken("it has %d old and deleted pairs that it does not name, want at most %d", sst.unnamed, most)
	}
	if err != nil {
		return fmt.Errorf("%v: sst repair: %w: %s", r, err, r.repaired[bySST].text)
	}
	return nil
}

func (s *stand) repairCopy(name, dir string) (repaired, error) {
	copied := dir + ".copy"
	defer os.RemoveAll(copied)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		return repaired{}, err
	}
	return s.repair(name, copied)
}
