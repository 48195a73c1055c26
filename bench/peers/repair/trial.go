package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/dbdamage"
)

// numDatabases is the number of databases. Damaged copies of them are repaired.
const numDatabases = 8

// A result contains the results of all repairs of one damaged database.
type result struct {
	number   int
	database *database
	kind     string
	damages  []dbdamage.Damage
	repaired [len(repairNames)]repaired
	counts   [len(repairNames)]counts
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

// newStand builds the programs and creates the databases in tmp.
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

// try damages a copy of a database in the i-th way, and has each repair work on a copy of that.
func (s *stand) try(i int) (*result, error) {
	r := &result{number: i, database: s.databases[(i+i/numDatabases)%numDatabases]}
	dir := filepath.Join(s.tmp, fmt.Sprint("damaged", i))
	defer os.RemoveAll(dir)
	err := os.CopyFS(dir, os.DirFS(r.database.dir))
	if err == nil {
		r.kind, r.damages, err = damage(rand.New(rand.NewPCG(uint64(i), 43)), i, dir)
	}
	for i, name := range repairNames {
		if err == nil {
			r.repaired[i], err = s.repairCopy(name, dir)
		}
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
			names = func(string, uint64) bool { return false } // it must not contain outdated pairs, whatever the messages say
		} else if !isSound(r.damages) { // sst then warns about all keys, which does not count
			names = made.said.Names
		}
		r.counts[i] = m.count(made, left, names)
	}
	for i, made := range r.repaired[firstPeer:] {
		c := &r.counts[firstPeer+i]
		c.ahead = m.countAhead(made, r.repaired[bySST], left)
		c.aheadOfAll = m.countAhead(made, r.repaired[bySSTOfAll], left)
	}
}

// check returns an error if sst repair breaks one of these rules. It keeps each right pair that a peer keeps,
// except for pairs in bytes without a matching checksum, and pairs in files that are obsolete according to the
// MANIFEST, which it reads only with --all-tables. If the MANIFEST is sound, it names all old and deleted pairs. If
// not, at most as many are unnamed as the worse peer has in total. With --certain, there are no old and deleted
// pairs.
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
