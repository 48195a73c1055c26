package dbdamage

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// checkRepair checks sst repair for a damaged copy of the database by the rules of check: the pairs of the new
// database count like those from sst scan. With --certain, each pair must be the newest of its key.
func (s *Sound) checkRepair(dir string, d Damage) error {
	for _, certain := range []bool{false, true} {
		if err := s.checkOneRepair(dir, d, certain); err != nil {
			return fmt.Errorf("repair, certain %v: %w", certain, err)
		}
	}
	return nil
}

func (s *Sound) checkOneRepair(dir string, d Damage, certain bool) error {
	to := dir + ".repaired"
	defer os.RemoveAll(to)
	status, out, stderr := s.sst("repair", fmt.Sprintf("--certain=%v", certain), dir, "-o", to)
	c := checker{Sound: s, damage: d, said: Hear(stderr), until: math.MaxUint64}
	shown := map[string]string{}
	if !strings.Contains(out, "was not written") {
		verified, bad, _ := s.sst("verify", "--quiet", to)
		scanned, listed, said := s.sst("scan", "-f", "hex", to)
		if verified != 0 || scanned != 0 || said != "" {
			return fmt.Errorf("status %d: %s%s; the new database is damaged: %s%s", status, out, stderr, bad, said)
		}
		var err error
		if shown, err = pairs(listed); err != nil {
			return err
		}
	}
	checkKey := c.checkKey
	if certain {
		checkKey = c.checkCertain
	}
	if err := c.checkShown(status, shown, checkKey); err != nil {
		return fmt.Errorf("%w; status %d: %s%.2000s", err, status, out, stderr)
	}
	return nil
}

// checkCertain checks that a key has its newest value or is absent.
func (c *checker) checkCertain(key string, shown map[string]string) error {
	got, found := shown[key]
	want, there := c.current(key, c.until)
	if found && (!there || got != want) {
		return fmt.Errorf("key %q: %s is certain, want %s", key, got, want)
	}
	return nil
}
