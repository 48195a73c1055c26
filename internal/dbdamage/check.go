package dbdamage

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Exit statuses of sst.
const (
	statusAbsent  = 1
	statusDamaged = 3
)

// check returns an error if sst breaks one of these rules for a damaged copy of the database. Every pair outside of
// the damage is read. If a key has another value than the newest one, or none, a message covers the key, and the
// status is 3. If a log ends as after a crash, the pairs before the end are read, with status 0 and a note.
func (s *Sound) check(rng *rand.Rand, dir string, d Damage) error {
	status, out, stderr := s.sst("scan", "-f", "hex", dir)
	c := checker{Sound: s, damage: d, said: Hear(stderr), until: math.MaxUint64}
	shown, err := pairs(out)
	if err == nil {
		err = cmp.Or(c.checkShown(status, shown, c.checkKey), c.checkGets(rng, dir),
			c.checkOthers(dir, status), s.checkRepair(dir, d))
	}
	if err != nil {
		return fmt.Errorf("%v: %w; sst scan: status %d, %.2000s", d, err, status, stderr)
	}
	return nil
}

// A checker checks the output of sst for one Damage.
type checker struct {
	*Sound
	damage Damage
	said   Said
	until  uint64 // sequence number of the last write; lower if later writes were lost as in a crash
}

// pairs parses the output of sst scan -f hex. No key may appear twice.
func pairs(out string) (map[string]string, error) {
	all := map[string]string{}
	for line := range strings.Lines(out) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		key, err := hex.DecodeString(k)
		if _, twice := all[string(key)]; err != nil || twice {
			return nil, fmt.Errorf("line %q: not a key, or a repeated one", line)
		}
		all[string(key)] = v
	}
	return all, nil
}

func (s *Sound) sortedKeys() []string { return slices.Sorted(maps.Keys(s.keys)) }

// checkShown checks the status, and then each key by checkKey.
func (c *checker) checkShown(status int, shown map[string]string, checkKey func(key string, shown map[string]string) error) error {
	err := c.checkStatus(status, shown)
	for _, key := range c.sortedKeys() {
		if err == nil {
			err = checkKey(key, shown)
		}
	}
	return err
}

// checkStatus checks the status, and sets until.
func (c *checker) checkStatus(status int, shown map[string]string) error {
	c.said.all = c.said.all || status == statusDamaged && c.said.old
	switch {
	case c.said.missed != "":
		return fmt.Errorf("cannot understand %q", c.said.missed)
	case status == statusDamaged && !c.said.all && c.said.ranges == nil && c.said.sequences == nil && (c.damage.isLog() || c.damage.isTable()):
		return fmt.Errorf("status 3, but no message about a loss")
	case status != 0 && status != statusDamaged:
		return fmt.Errorf("status %d, want 0 or 3", status)
	case status == 0 && (c.said.all || c.said.ranges != nil || c.said.sequences != nil):
		return fmt.Errorf("status 0, but messages about losses: %v", &c.said)
	case status == 0 && c.damage.isLog() && (c.damage.Kind == Cut || c.damage.ZeroEnd || c.said.tail || c.isUnknown()):
		c.until = c.lastBefore()
	case status != 0 && c.isCrash() && c.said.sequences != nil: // of writes that the MANIFEST counts
		c.until = c.lastBefore()
	case status != 0 && c.isCrash():
		return fmt.Errorf("status %d for a log without its end, want 0", status)
	}
	for key := range shown { // a deleted key may have no version left in the sound database
		if c.keys[key] == nil && !c.said.Covers(key, 0) {
			return fmt.Errorf("key %q is not in the sound database, and no message covers it: %v", key, &c.said)
		}
	}
	return nil
}

// isCrash reports whether the damage looks like a crash: the end of a log is missing, and no later log has writes.
func (c *checker) isCrash() bool {
	logs := c.logs()
	const shortest = 32 // number of zeros that differ from the end of a value
	return len(logs) > 0 && logs[len(logs)-1] == c.damage.File && (c.damage.Kind == Cut || c.damage.ZeroEnd && c.damage.To-c.damage.From >= shortest)
}

// isUnknown reports whether sst cannot notice that a log is lost: the MANIFEST names the oldest live log, and the
// lost one is newer.
func (c *checker) isUnknown() bool {
	logs := c.logs()
	return c.damage.Kind == Lost && len(logs) > 1 && logs[len(logs)-1] == c.damage.File
}

// logs returns the logs that contain writes.
func (c *checker) logs() []string {
	names := map[string]bool{}
	for _, versions := range c.keys {
		for _, v := range versions {
			if strings.HasSuffix(v.file, ".log") {
				names[v.file] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// lastBefore returns the sequence number of the last write before the damage in the log. A partly damaged batch
// counts as damaged.
func (c *checker) lastBefore() uint64 {
	last := uint64(math.MaxUint64)
	for _, versions := range c.keys {
		for _, v := range versions {
			if v.file == c.damage.File && v.end > c.damage.From {
				last = min(last, v.sequence-1) // sequence numbers begin with 1
			}
		}
	}
	return last
}

// checkKey checks the value that sst scan printed for a key.
func (c *checker) checkKey(key string, shown map[string]string) error {
	newest := c.keys[key][0]
	want, there := c.current(key, c.until)
	got, found := shown[key]
	switch {
	case found == there && got == want:
		return nil
	case !c.said.Covers(key, newest.sequence):
		return fmt.Errorf("key %q: %q, %v, want %q, %v of %+v, and no message covers it: %v", key, got, found, want, there, c.keys[key][:min(3, len(c.keys[key]))], &c.said)
	case c.damage.isTable() || c.damage.isLog():
		if !c.isLost(newest, c.damage) {
			return fmt.Errorf("key %q: %q, %v, want %q, %v, although its newest version is outside of the damage: %v", key, got, found, want, there, newest)
		}
	}
	return nil
}

// checkGets looks up some keys.
func (c *checker) checkGets(rng *rand.Rand, dir string) error {
	keys := c.sortedKeys()
	for range 6 {
		key := keys[rng.IntN(len(keys))]
		status, out, stderr := c.sst("get", "--input-format", "hex", "-f", "hex", dir, hex.EncodeToString([]byte(key)))
		got, found := strings.CutSuffix(out, "\n")
		want, there := c.current(key, c.until)
		right := found == there && got == want
		switch {
		case status == 0 && right && there, status == statusAbsent && right && !there:
		case status == statusDamaged && strings.Contains(stderr, "sst: "):
		default:
			return fmt.Errorf("get %q: status %d, %q, want %q, %v: %s", key, status, out, want, there, stderr)
		}
	}
	return nil
}

// checkOthers compares the copy with the sound database by sst diff, and runs sst stats and sst verify.
func (c *checker) checkOthers(dir string, scanned int) error {
	status, out, stderr := c.sst("diff", "--summary", c.dir, dir)
	if scanned == statusDamaged && status != statusDamaged || status > statusAbsent && status != statusDamaged {
		return fmt.Errorf("diff: status %d: %s%s", status, out, stderr)
	}
	for _, args := range [][]string{{"stats", "--tables", dir}, {"verify", dir}} {
		if status, _, stderr := c.sst(args...); status != statusDamaged && (scanned == statusDamaged || status != 0) {
			return fmt.Errorf("%s: status %d: %s", args[0], status, stderr)
		}
	}
	return nil
}

// Try damages n copies of the database at random, each in a directory from newDir, and checks the output of sst.
func (s *Sound) Try(rng *rand.Rand, n int, newDir func() string) (failed []error) {
	for range n {
		dir := filepath.Join(newDir(), "db")
		if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
			return append(failed, err)
		}
		d, changed, err := Random(rng, dir)
		if err == nil && changed {
			err = s.check(rng, dir, d)
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}
